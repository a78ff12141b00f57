/** The examples below `examples/automation`, as git and a runner of GitHub start them, with the installed program. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFile, chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { createModelWorkspace, textReply } from "../kit.ts";
import { cacheHome, installed } from "./kit.ts";

const examples = join(import.meta.dirname, "../../../../examples/automation");

/** A repository with one commit and a staged change, and a `tau` that answers with these texts. */
async function createRepository(...answers: string[]) {
  const workspace = await createModelWorkspace(answers.map(textReply));
  const { directory, agentDir } = workspace;
  const bin = join(directory, "bin");
  await mkdir(bin);
  const program = join(await installed(), "dist", "tau.cjs");
  await writeFile(join(bin, "tau"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
  const env = {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    HOME: directory,
    XDG_CACHE_HOME: cacheHome,
    TAU_DIR: agentDir,
    GIT_CONFIG_GLOBAL: "/dev/null",
    ...Object.fromEntries(["AUTHOR", "COMMITTER"].map((who) => [`GIT_${who}_NAME`, "a"])),
    ...Object.fromEntries(["AUTHOR", "COMMITTER"].map((who) => [`GIT_${who}_EMAIL`, "a@example.com"])),
  };
  const repository = join(directory, "repository");
  await mkdir(repository);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: repository, env, encoding: "utf8", stdio: "pipe" });
  git("init", "-q");
  await writeFile(join(repository, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "First");
  await appendFile(join(repository, "a.txt"), "the staged line\n");
  git("add", ".");
  return { ...workspace, env, repository, git };
}

/** Runs a program while the server of this process answers. */
async function run(program: string, args: string[], options: { cwd: string; env: Record<string, string> }) {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { status, stderr };
}

async function commitWithHook(answer: string) {
  const { git, env, repository, server } = await createRepository(answer);
  const hook = join(repository, ".git", "hooks", "pre-commit");
  await copyFile(join(examples, "pre-commit"), hook);
  await chmod(hook, 0o755);
  const { status, stderr } = await run("git", ["commit", "-qm", "Second"], { cwd: repository, env });
  return { status, stderr, commits: Number(git("rev-list", "--count", "HEAD")), requests: server.requests };
}

test("the hook stops a commit because of a finding, whose text cannot decide", async () => {
  const blocked = await commitWithHook('{"block":true,"findings":["a.txt:2: a bug"]}');
  expect(blocked).toMatchObject({ status: 1, commits: 1 });
  expect(blocked.stderr).toContain("a.txt:2: a bug");
  expect(JSON.stringify(blocked.requests[0]?.body)).toContain("the staged line");
  expect(blocked.requests[0]?.body).not.toHaveProperty("tools");
  const quoted = JSON.stringify({ block: false, findings: ['it says "block":true'] });
  expect(await commitWithHook(quoted)).toMatchObject({ status: 0, commits: 2, stderr: "" });
});

test("the hook lets a commit pass whose review failed, and says so", async () => {
  const { status, stderr, commits } = await commitWithHook("no JSON at all");
  expect({ status, commits }).toEqual({ status: 0, commits: 2 });
  expect(stderr).toContain("nothing was reviewed");
});

const hasJq = spawnSync("jq", ["--version"]).status === 0;

test.each([
  ["error", 1],
  ["warning", 0],
] as const)("the steps of the workflow report findings and the cost: an %s ends with %i", async (severity, code) => {
  const finding = { file: "a.txt", line: 2, severity, text: "Say why." };
  const { env, repository, git } = await createRepository(JSON.stringify({ findings: [finding] }));
  const base = git("rev-parse", "HEAD").trim();
  git("commit", "-qm", "Second");
  const workflow = parse(await readFile(join(examples, "review.yml"), "utf8")) as {
    on: string;
    jobs: { review: { steps: { name?: string; run?: string }[] } };
  };
  // The key must not be given to code of forks.
  expect(workflow.on).toBe("pull_request");
  const find = (name: string) => workflow.jobs.review.steps.find((step) => step.name === name)!.run!;
  const summary = join(repository, "..", "summary.md");
  const options = {
    cwd: repository,
    env: { ...env, BASE: base, RUNNER_TEMP: join(repository, ".."), GITHUB_STEP_SUMMARY: summary },
  };
  const runStep = (name: string) => run("bash", ["-eo", "pipefail", "-c", find(name)], options);
  expect(await runStep("Review")).toMatchObject({ status: 0, stderr: "" });
  const result = JSON.parse(await readFile(join(repository, "..", "result.json"), "utf8")) as unknown;
  expect(result).toMatchObject({ output: { findings: [finding] }, cost: expect.any(Number) as number });
  if (!hasJq) return console.log("jq is not installed: the step that shows the findings was not run.");
  expect(await runStep("Show the findings")).toMatchObject({ status: code, stderr: "" });
  expect(await readFile(summary, "utf8")).toContain(`- **${severity}** \`a.txt:2\`: Say why.`);
});

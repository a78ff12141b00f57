/** `tau review`: findings as JSON, and an exit code for scripts. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, createWorkspace, run, textReply } from "../kit.ts";

const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };

/** A repository with a commit on `main`, and a change that is not committed. */
async function openRepository(replies: readonly WireReply[]) {
  const workspace = await createModelWorkspace(replies);
  const { directory: cwd } = workspace;
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd, env: { PATH: process.env["PATH"], HOME: cwd, ...identity } });
  writeFileSync(join(cwd, ".gitignore"), ".agent\n");
  writeFileSync(join(cwd, "a.ts"), "one\n");
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "-m", "First");
  writeFileSync(join(cwd, "a.ts"), "two\n");
  return { workspace, git };
}

const findings = [
  { file: "a.ts", line: 1, severity: "low", text: "Rename it." },
  { file: "a.ts", line: 1, severity: "high", text: "It is wrong." },
];
const reply = () => textReply(JSON.stringify({ findings, summary: "Two things." }));

test.each([
  [[], exitCodes.done],
  [["--fail-on", "critical"], exitCodes.done],
  [["--fail-on", "high"], exitCodes.failed],
  [["--fail-on", "low"], exitCodes.failed],
])("with %j findings are one line of JSON, and the exit code is %i", async (flags, code) => {
  const { workspace } = await openRepository([reply()]);
  const result = await run(workspace, ["review", "--json", ...flags]);
  expect(result).toMatchObject({ code, err: "" });
  expect(JSON.parse(result.out)).toEqual({
    target: { kind: "uncommitted" },
    findings: findings.toReversed(),
    summary: "Two things.",
  });
  const body = workspace.server.requests[0]!.body as { tools: { function: { name: string } }[] };
  expect(body.tools.map(({ function: { name } }) => name)).toEqual(["read", "grep", "find", "ls"]);
  // The session is not stored.
  expect(await readdir(workspace.agentDir)).not.toContain("sessions");
});

test("without --json people read the findings, since a branch and with another model", async () => {
  const { workspace, git } = await openRepository([reply()]);
  git("switch", "--quiet", "-c", "topic");
  git("commit", "--quiet", "-am", "Second");
  const { out, code } = await run(workspace, ["review", "--base", "main", "--model", "acme/large"]);
  expect(code).toBe(exitCodes.done);
  expect(out).toContain(
    "Review of the changes since main: 2 findings\n\nTwo things.\n\n1. high: a.ts:1\n   It is wrong.",
  );
  expect(workspace.server.requests[0]!.body).toMatchObject({ model: "large" });
});

test("without changes no model is asked, and the list is empty", async () => {
  const { workspace, git } = await openRepository([]);
  git("checkout", "--quiet", ".");
  const { out, code } = await run(workspace, ["review", "--json", "--fail-on", "low"]);
  expect({ code, ...(JSON.parse(out) as object) }).toMatchObject({ code: exitCodes.done, findings: [] });
});

test.each([
  [["--base", "main", "--uncommitted"], exitCodes.usage, "Only one of --uncommitted, --base and --commit"],
  [["--commit", "nowhere"], exitCodes.failed, 'There is no branch or commit "nowhere" here.'],
  [["--fail-on", "huge"], exitCodes.usage, "huge"],
  [["the", "parser"], exitCodes.usage, "tau -p"],
])("%j is refused with the exit code %i, and nothing is printed", async (flags, code, problem) => {
  const { workspace } = await openRepository([]);
  const result = await run(workspace, ["review", ...flags]);
  expect(result).toMatchObject({ code, out: "" });
  expect(result.err).toContain(problem);
});

test("without a model it says how to connect one", async () => {
  const { code, out, err } = await run(await createWorkspace(), ["review"]);
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
  expect(err).toContain("there is no model to use yet");
});

/** Hooks of projects and the trust that they need. */
import { chmod, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import { openSettings, readTrust, writeTrust } from "@tau/config/trust";
import { expect, onTestFinished, test } from "vitest";
import { hooks } from "../../src/index.ts";
import { createTestSession } from "../kit.ts";
import { listResults, write } from "./kit.ts";

const deny = (command: string) =>
  JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } });

async function openProject(files: Readonly<Record<string, string>>, own: object = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-hooks-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [cwd, agentDir] = [join(root, "project"), join(root, "agent")];
  for (const [name, content] of Object.entries(files)) {
    await write(join(cwd, name), content);
    if (name.endsWith(".sh")) await chmod(join(cwd, name), 0o755);
  }
  await write(join(agentDir, "settings.json"), JSON.stringify(own));
  const options = { cwd, agentDir, ids: systemIds };
  /** Calls a command in a new session, and answers with its result. */
  const callBash = async () => {
    const settingsManager = await openSettings({ cwd, agentDir, features: [hooks()], watch: false });
    const turns = [[call("bash", { command: "echo hi" })], [text("Done.")]];
    const opened = await createTestSession(turns, { features: [hooks()], cwd, agentDir, settingsManager });
    await opened.prompt("go");
    const [result] = listResults(opened);
    await opened.dispose();
    return result!;
  };
  return { cwd, agentDir, options, callBash };
}

test.each([".claude/settings.json", ".claude/settings.local.json", ".tau/settings.json"])(
  "hooks in %s run after trust, until the file or a script that they name changes",
  async (file) => {
    const script = "#!/bin/sh\necho from the script >&2\nexit 2\n";
    const { cwd, options, callBash } = await openProject({
      [file]: deny('"$CLAUDE_PROJECT_DIR"/scripts/guard.sh'),
      "scripts/guard.sh": script,
    });
    expect((await readTrust(options)).files.toSorted()).toEqual([file, "scripts/guard.sh"].toSorted());
    expect((await callBash()).isError).toBe(false);
    await writeTrust(options, true);
    expect((await callBash()).text).toContain("from the script");
    await write(join(cwd, "scripts/guard.sh"), `${script}# changed\n`);
    expect((await readTrust(options)).difference?.changed).toEqual(["scripts/guard.sh"]);
    expect((await callBash()).isError).toBe(false);
  },
);

test("a hook of the user that runs a file of the project needs trust as well, outside the sandbox at each run", async () => {
  const hook = { type: "command", command: "./guard.sh", sandbox: false };
  const { cwd, options, callBash } = await openProject(
    { "guard.sh": "#!/bin/sh\necho no >&2\nexit 2\n" },
    { hooks: { PreToolUse: [{ hooks: [hook] }] } },
  );
  expect((await callBash()).isError).toBe(false);
  await writeTrust(options, true);
  expect((await callBash()).text).toContain("no");
  const settingsManager = await openSettings({ ...options, features: [hooks()], watch: false });
  const turns = [[call("bash", { command: "echo hi" })], [text("Done.")]];
  const opened = await createTestSession(turns, { features: [hooks()], ...options, settingsManager });
  onTestFinished(() => opened.dispose());
  await write(join(cwd, "guard.sh"), "#!/bin/sh\ntouch ran\n");
  await opened.prompt("go");
  expect(listResults(opened)[0]!.text).toContain("was changed since you trusted the project");
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow(/ENOENT/);
});

test("each run and each denial is in the audit", async () => {
  const { agentDir, options, callBash } = await openProject({ ".claude/settings.json": deny("echo no >&2; exit 2") });
  await writeTrust(options, true);
  await callBash();
  const lines = (await readFile(join(agentDir, "audit.jsonl"), "utf8")).trim().split("\n");
  const facts = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(facts.filter(({ rule }) => rule === "hook")).toMatchObject([
    { subject: "extension", capability: "exec", outcome: "allowed" },
    { capability: "tool", toolName: "bash", outcome: "denied", by: "hook" },
  ]);
});

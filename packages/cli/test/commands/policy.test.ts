import { mkdir, readFile, writeFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createModelWorkspace, createWorkspace, run, textReply, toolReply } from "../kit.ts";

interface Judged {
  cmd: string;
  decision: string;
  class: string | null;
  tier: string;
  reason: string;
  commands: string[][];
}

const parse = (out: string): Judged[] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Judged);

test("commands are judged one by one, and nothing is run", async () => {
  const workspace = await createWorkspace();
  const { code, out } = await run(workspace, ["policy", "check", "ls -l", "touch made", "rm -rf /", "kill -9 1"]);
  expect(code).toBe(0);
  expect(parse(out)).toMatchObject([
    { cmd: "ls -l", decision: "allow", class: null, tier: "low", commands: [["ls", "-l"]] },
    { cmd: "touch made", decision: "allow" },
    { cmd: "rm -rf /", decision: "deny", class: "recursive_delete", tier: "critical" },
    { cmd: "kill -9 1", class: "shutdown", dangerousCommandClass: "process_termination" },
  ]);
  await expect(readFile(join(workspace.directory, "made"))).rejects.toThrow(/ENOENT/);
});

test("on a terminal the decisions are a table, and with --json they are lines", async () => {
  const workspace = await createWorkspace();
  const terminal = { out: true };
  const { out } = await run(workspace, ["policy", "check", "ls -l", "rm -rf /"], { terminal, env: { COLUMNS: "200" } });
  expect(out).toMatch(
    /^DECISION +TIER +CLASS +COMMAND +REASON\nallow +low +ls -l *\ndeny +critical +recursive_delete +rm -rf \/ +\S/,
  );
  const json = await run(workspace, ["policy", "check", "--json", "ls -l"], { terminal });
  expect(parse(json.out)).toMatchObject([{ cmd: "ls -l", decision: "allow" }]);
});

test("commands come as lines too, and what a person would be asked is denied without one", async () => {
  const workspace = await createWorkspace();
  const input = () => Readable.from(['{"cmd":"sudo ls"}\n\n{"cmd":"rm -rf ~"}\n']);
  const attended = await run(workspace, ["policy", "check"], { input: input() });
  expect(parse(attended.out).map(({ decision }) => decision)).toEqual(["ask", "deny"]);
  const unattended = await run(workspace, ["policy", "check", "--unattended"], { input: input() });
  expect(parse(unattended.out).map(({ decision }) => decision)).toEqual(["deny", "deny"]);
  const wrong = await run(workspace, ["policy", "check"], { input: Readable.from(["ls\n"]) });
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("Line 1") });
});

test("paths are judged from the directories that are named", async () => {
  const workspace = await createWorkspace();
  const args = ["--cwd", "/src/app", "--home", "/home/me"];
  const { out } = await run(workspace, ["policy", "check", "rm -rf build", "rm -rf /home/me", ...args]);
  expect(parse(out).map(({ decision }) => decision)).toEqual(["allow", "deny"]);
});

test("commands are judged by where links of the directory lead", async () => {
  const workspace = await createWorkspace();
  await symlink("/etc", join(workspace.directory, "docs"));
  const { out } = await run(workspace, ["policy", "check", "echo x >> docs/passwd", "rm docs"]);
  expect(parse(out)).toMatchObject([
    { decision: "deny", class: "credential_change", dangerousCommandClass: "credential_file_modification" },
    { decision: "allow" },
  ]);
});

test("the policy is shown with where each part comes from, and a capability with the step that decides", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir, { recursive: true });
  await writeFile(join(workspace.agentDir, "settings.json"), '{ "policy": { "denyCaps": ["exec"] } }');
  const { out } = await run(workspace, ["policy", "explain", "--json"]);
  expect(JSON.parse(out)).toMatchObject({
    "policy.mode": { value: "prompt", from: "the profile balanced" },
    "policy.denyCaps": { value: ["exec"], from: "you" },
    "sandbox.mode": { value: "auto", from: "default" },
  });
  const exec = await run(workspace, ["policy", "explain", "--capability", "exec", "--extension", "clock"]);
  expect(exec.out).toContain("exec for clock: deny (deny_caps");
  const unknown = await run(workspace, ["policy", "explain", "--capability", "fly"]);
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("not a capability") });
});

test("what was allowed for longer is listed, and asked again after it was removed", async () => {
  const outside = (await createWorkspace()).directory;
  const file = join(outside, "notes.txt");
  await writeFile(file, "hello");
  const replies = Array.from({ length: 3 }, () => [toolReply("read", { path: file }), textReply("ok")]).flat();
  const workspace = await createModelWorkspace(replies);
  const rules = { version: 1, rules: [{ capability: "read", target: { kind: "path", path: file } }] };
  await writeFile(join(workspace.agentDir, "approvals.json"), JSON.stringify(rules));
  const list = await run(workspace, ["policy", "rules"]);
  expect(list.out).toMatch(new RegExp(`1 +read ${file} +everywhere`));
  expect((await run(workspace, ["policy", "rules", "remove", "2"])).code).toBe(2);
  const removed = await run(workspace, ["policy", "rules", "remove", "1"]);
  expect(removed).toMatchObject({ code: 0, out: `Removed: read ${file}\n` });
  expect((await run(workspace, ["policy", "rules", "list"])).out).toContain("Nothing is allowed");
});

/** `tau --worktree`: sessions in worktrees of real repositories. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import type { WireReply } from "@tau/ai/testing";
import { readTrust, writeTrust } from "@tau/config/trust";
import { openOwnWorktree } from "@tau/features/agents";
import { expect, test } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { parseSessionArgs } from "../src/start/args.ts";
import { createModelWorkspace, run, textReply, toolReply } from "./kit.ts";

async function createRepository(replies: readonly WireReply[], files: Readonly<Record<string, string>> = {}) {
  const { directory: root, agentDir, server } = await createModelWorkspace(replies);
  const top = join(root, "app");
  const workspace = { directory: top, agentDir };
  const env = { PATH: process.env["PATH"], HOME: root };
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: top, env, encoding: "utf8" });
  await mkdir(join(top, "src"), { recursive: true });
  for (const [name, content] of Object.entries({ "a.txt": "one\n", "src/b.txt": "two\n", ...files })) {
    await mkdir(join(top, name, ".."), { recursive: true });
    await writeFile(join(top, name), content);
  }
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "-m", "First");
  const listBranches = () => git("branch", "--format=%(refname:short)").trim().split("\n");
  /** The directory of a worktree. */
  const locate = (name: string) => {
    const [project = ""] = readdirSync(join(agentDir, "worktrees"));
    return join(agentDir, "worktrees", project, name);
  };
  const tau = (...args: string[]) => run(workspace, args);
  return { workspace, agentDir, top, git, listBranches, locate, tau, server };
}

const write = (path: string, content: string) => toolReply("write", { path, content });

test.each([
  [["--worktree", "fix", "it"], { worktree: true, message: "fix it" }],
  [["--worktree=fix", "it"], { worktree: "fix", message: "it" }],
  [["-p", "do", "--worktree"], { worktree: true, message: "do" }],
])("of %j only what follows = is the name", (args, expected) => {
  expect(parseSessionArgs(args)).toMatchObject({ kind: "session", options: expected });
});

test("an empty name is refused with how to write one", () => {
  const message = expect.stringContaining("--worktree needs a value: --worktree=NAME") as string;
  expect(parseSessionArgs(["--worktree=", "fix"])).toMatchObject({ kind: "invalid", message });
});

test.each([["--session", "x"], ["--resume"], ["--gateway"]])("%s does not go together with it", (...flags) => {
  expect(parseSessionArgs(["--worktree", ...flags])).toMatchObject({ kind: "invalid" });
});

test("a worktree with changes is kept, written to without a question, listed and removed", async () => {
  const { tau, top, locate, listBranches } = await createRepository([write("new.txt", "new\n"), textReply("Done.")]);
  const { code, out, err } = await tau("-p", "--worktree=feature/x", "change it");
  expect({ code, out }).toEqual({ code: exitCodes.done, out: "Done.\n" });
  const path = locate("feature-x");
  expect(err).toContain(`The worktree ${path} was kept: 1 file changed, on the branch feature/x.\n`);
  expect(readFileSync(join(path, "new.txt"), "utf8")).toBe("new\n");
  expect(existsSync(join(top, "new.txt"))).toBe(false);
  expect(listBranches()).toEqual(["feature/x", "main"]);
  expect((await tau("worktrees", "list")).out).toBe(`feature-x  ${top}  1 file changed, feature/x\n`);
  await writeFile(join(path, "a.txt"), "changed\n");
  expect((await tau("worktrees", "show", "feature-x")).out).toContain("-one\n+changed\n");
  expect((await tau("worktrees", "remove", path, "--yes")).out).toBe("Removed feature-x.\n");
  expect(listBranches()).toEqual(["main"]);
  expect(existsSync(path)).toBe(false);
});

test("a worktree without changes is removed with its branch, and so is its trust", async () => {
  const repository = await createRepository([textReply("Hello.")], { ".tau/prompts/a.md": "A" });
  const { tau, top, agentDir, listBranches } = repository;
  await writeTrust({ cwd: top, agentDir, ids: systemIds }, true);
  const { out, err } = await tau("-p", "--worktree", "say hello");
  expect(out).toBe("Hello.\n");
  expect(err).toMatch(/Nothing was changed in the worktree tau-[0-9a-f]{8}, so it was removed\.\n/);
  expect(listBranches()).toEqual(["main"]);
  expect(existsSync(join(agentDir, "worktrees"))).toBe(false);
  const { projects } = JSON.parse(await readFile(join(agentDir, "trusted-projects.json"), "utf8")) as {
    projects: object;
  };
  expect(Object.keys(projects)).toEqual([top]);
});

test("a commit, an untracked file and a staged file are changes, whatever the configuration hides", async () => {
  const { top, agentDir, git, listBranches } = await createRepository([]);
  git("config", "status.showUntrackedFiles", "no");
  const end = async (name: string, work: (path: string) => unknown) => {
    const worktree = await openOwnWorktree({ cwd: top, agentDir, name });
    await work(worktree.path);
    return await worktree.finish();
  };
  expect(await end("commit", (path) => git("-C", path, "commit", "--quiet", "--allow-empty", "-m", "x"))).toEqual({
    kind: "kept",
    name: "commit",
    files: [],
  });
  expect(await end("untracked", (path) => writeFile(join(path, "n"), ""))).toMatchObject({ files: ["n"] });
  const stage = async (path: string) => {
    await writeFile(join(path, "a.txt"), "staged");
    git("-C", path, "add", ".");
    await writeFile(join(path, "a.txt"), "one\n");
  };
  expect(await end("staged", stage)).toMatchObject({ kind: "kept" });
  // The commit is on the branch, which is not checked out any more.
  const leave = (path: string) => {
    git("-C", path, "commit", "--quiet", "--allow-empty", "-m", "x");
    git("-C", path, "checkout", "--quiet", "--detach", "main");
  };
  expect(await end("left", leave)).toMatchObject({ kind: "kept" });
  expect(await end("none", () => undefined)).toEqual({ kind: "removed" });
  expect(listBranches().toSorted()).toEqual(["commit", "left", "main", "staged", "untracked"]);
});

test("hooks and filters of the repository do not run", async () => {
  const { top, agentDir, git } = await createRepository([], { ".gitattributes": "*.txt filter=evil\n" });
  const mark = join(agentDir, "ran");
  git("config", "filter.evil.smudge", `touch ${mark}; cat`);
  await writeFile(join(top, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const worktree = await openOwnWorktree({ cwd: top, agentDir, name: "x" });
  expect(existsSync(join(worktree.path, "a.txt"))).toBe(true);
  expect(await worktree.finish()).toEqual({ kind: "removed" });
  expect(existsSync(mark)).toBe(false);
});

test("the session works in the same directory of the worktree, and -c in the repository continues it", async () => {
  const replies = [write("c.txt", "new\n"), textReply("Done."), textReply("Again."), textReply("Own.")];
  const { workspace, top, locate, server } = await createRepository(replies);
  const below = { ...workspace, directory: join(top, "src") };
  await run(below, ["-p", "--worktree=fix", "change it"]);
  expect(readFileSync(join(locate("fix"), "src/c.txt"), "utf8")).toBe("new\n");
  const again = await run(below, ["-p", "-c", "and again"]);
  expect(again.out).toBe("Again.\n");
  expect(again.err).toContain(join(locate("fix"), "src"));
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("change it");
  // Another directory of the repository has sessions of its own.
  await run(workspace, ["-p", "-c", "something else"]);
  expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain("change it");
});

test("a worktree is opened again by its name, and an existing branch is not touched", async () => {
  const { tau, top, agentDir, git, listBranches } = await createRepository([
    write("new.txt", "new\n"),
    textReply("One."),
    toolReply("read", { path: "new.txt" }),
    textReply("Two."),
  ]);
  git("branch", "mine");
  const refused = await tau("-p", "--worktree=mine", "x");
  expect(refused.code).not.toBe(exitCodes.done);
  expect(refused.err).toContain("There is already a branch mine.");
  expect(listBranches()).toEqual(["main", "mine"]);
  await tau("-p", "--worktree=fix", "change it");
  const held = await openOwnWorktree({ cwd: top, agentDir, name: "fix" });
  expect((await tau("-p", "--worktree=fix", "x")).err).toContain("in use by another process");
  expect((await tau("worktrees", "list")).out).toContain("in use");
  await held.finish();
  expect((await tau("-p", "--worktree=fix", "-c", "read it")).out).toBe("Two.\n");
  expect((await tau("-p", "--worktree=@{-1}", "x")).err).toContain("cannot be the name of a branch");
});

test("outside of a repository it is an error that says so", async () => {
  const { workspace, agentDir } = await createRepository([]);
  const { err, code } = await run({ ...workspace, directory: agentDir }, ["-p", "--worktree", "x"]);
  expect(code).not.toBe(exitCodes.done);
  expect(err).toContain("A worktree needs a git repository with a commit");
});

test.each([
  ["the same files", undefined, true],
  ["a file that is not committed", ".tau/prompts/b.md", false],
])("trust of the repository and %s", async (_case, added, isTrusted) => {
  const { tau, top, agentDir, locate } = await createRepository([write("new.txt", "new\n"), textReply("Done.")], {
    ".tau/prompts/a.md": "A",
  });
  if (added !== undefined) await writeFile(join(top, added), "B");
  await writeTrust({ cwd: top, agentDir, ids: systemIds }, true);
  await tau("-p", "--worktree=fix", "change it");
  expect(await readTrust({ cwd: locate("fix"), agentDir })).toMatchObject({ trusted: isTrusted });
});

test.each([
  ["apply", {}, true],
  ["do not apply with other settings", { ".tau/settings.json": "{}" }, false],
])("remembered permissions of the repository %s", async (_case, uncommitted, isAllowed) => {
  const outside = "/var/tau-not-there/x.txt";
  const { tau, top, agentDir, server } = await createRepository([
    write("new.txt", "new\n"),
    toolReply("read", { path: outside }),
    textReply("Done."),
  ]);
  for (const [name, content] of Object.entries(uncommitted)) {
    await mkdir(join(top, name, ".."), { recursive: true });
    await writeFile(join(top, name), content);
  }
  const rule = { project: top, capability: "read", target: { kind: "path", path: outside } };
  await writeFile(join(agentDir, "approvals.json"), JSON.stringify({ rules: [rule] }));
  await tau("-p", "--worktree=fix", "read it");
  const body = JSON.stringify(server.requests.at(-1)?.body);
  expect(/no such file|does not exist|There is no/i.test(body)).toBe(isAllowed);
});

test("tau's own directory and other worktrees stay protected", async () => {
  const { tau, agentDir, top, locate } = await createRepository([
    write("new.txt", "new\n"),
    write("../other/n.txt", "wrong\n"),
    write("../.tau-worktrees/fix.json", "wrong\n"),
    write("../../../skills/x.md", "wrong\n"),
    textReply("Done."),
  ]);
  const other = await openOwnWorktree({ cwd: top, agentDir, name: "other" });
  await tau("-p", "--worktree=fix", "change it");
  expect(readFileSync(join(locate("fix"), "new.txt"), "utf8")).toBe("new\n");
  expect(await other.finish()).toEqual({ kind: "removed" });
  expect(existsSync(join(agentDir, "skills"))).toBe(false);
  expect(readFileSync(join(locate(".tau-worktrees"), "fix.json"), "utf8")).not.toContain("wrong");
});

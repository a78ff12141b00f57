/** `tau worktrees`: the changes of tasks that worked in directories of their own. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openIsolated, openOwnWorktree } from "@tau/features/agents";
import { expect, onTestFinished, test, vi } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run } from "../kit.ts";

async function createTasks() {
  const workspace = await createWorkspace();
  const top = join(workspace.directory, "repository");
  await mkdir(top);
  vi.stubEnv("PI_FANOUT_DIR", join(workspace.directory, "fanout"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const env = { PATH: process.env["PATH"], HOME: workspace.directory };
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: top, env, encoding: "utf8" });
  git("init", "--quiet", "--initial-branch=main");
  await writeFile(join(top, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "First");
  const change = async (id: string, content: string) => {
    const isolated = await openIsolated({ cwd: top, id, description: `Work on\n${id}\u001b[2J` });
    await writeFile(join(isolated.cwd, "a.txt"), content);
    return isolated;
  };
  return { workspace, top, git, change };
}

test("results are listed, shown, applied and removed", async () => {
  const { workspace, top, git, change } = await createTasks();
  const tau = (...args: string[]) => run(workspace, ["worktrees", ...args]);
  expect((await tau("list")).out).toBe("There are no worktrees of tasks.\n");
  await (await change("fix", "fixed\n")).finish();
  await (await change("other", "other\n")).finish();
  const busy = await change("busy", "busy\n");
  const { out } = await tau();
  expect((await tau("list")).out).toBe(out);
  expect(out).toMatch(
    /^fix {2}\S+\/repository {2}1 file changed, pi-fanout-fix-\S+\n {4}Work on fix \[2J\nother {2}.*\n.*\nbusy {2}\S+ {2}in use\n/,
  );
  expect(JSON.parse((await tau("list", "--json")).out)).toMatchObject([{ name: "fix", files: ["a.txt"] }, {}, {}]);
  expect((await tau("show", "fix")).out).toContain("-one\n+fixed\n");
  expect(await tau("apply", "busy")).toMatchObject({ err: expect.stringContaining("is in use") as string });
  expect((await tau("apply", "fix")).out).toBe(`Applied to ${top}:\na.txt\n`);
  expect(readFileSync(join(top, "a.txt"), "utf8")).toBe("fixed\n");
  const conflict = await tau("apply", "other");
  expect(conflict.code).toBe(exitCodes.failed);
  expect(conflict.err).toMatch(/do not fit the files of .*\n.*a\.txt.*\n[^]*git merge pi-fanout-other-/);
  expect((await tau("remove", "other")).err).toContain("Add --yes");
  expect((await tau("remove", "other", "--yes")).out).toBe("Removed other.\n");
  await busy.discard();
  expect(git("branch", "--format=%(refname:short)")).toBe("main\n");
  expect(existsSync(join(workspace.directory, "fanout"))).toBe(false);
});

test("of a worktree of its own, new, changed and deleted files are shown, and its index stays as it is", async () => {
  const { workspace, top, git } = await createTasks();
  await writeFile(join(top, "old.txt"), "old\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "Second");
  const { cwd, path, finish } = await openOwnWorktree({ cwd: top, agentDir: workspace.agentDir, name: "mine" });
  await writeFile(join(cwd, "new.txt"), "new\n");
  await writeFile(join(cwd, "a.txt"), "two\n");
  await rm(join(cwd, "old.txt"));
  const status = git("-C", path, "status", "--porcelain");
  await finish();
  const { out } = await run(workspace, ["worktrees", "show", "mine"]);
  for (const part of ["+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n", "-one\n+two\n", "-old\n"]) expect(out).toContain(part);
  expect(git("-C", path, "status", "--porcelain")).toBe(status);
  expect((await run(workspace, ["worktrees", "apply", "mine"])).err).toMatch(
    /Commit its changes there, .*git merge mine/,
  );
});

test("a name that does not exist is an error that says where the names are", async () => {
  const { workspace } = await createTasks();
  const { err, code } = await run(workspace, ["worktrees", "show", "none"]);
  expect(err).toContain('There is no worktree "none". See tau worktrees list.');
  expect(code).not.toBe(0);
});

/** Ordinary worktrees for pieces of work. */
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WorktreeManager } from "../../src/agents/index.ts";
import { createRepository } from "./kit.ts";

test("a worktree has a branch of its own, and both are removed when it is disposed of", async () => {
  const repository = await createRepository();
  repository.git("branch", "base");
  await repository.write("later.txt", "later");
  repository.git("add", ".");
  repository.git("commit", "--quiet", "-m", "Later");
  const manager = new WorktreeManager({ repoPath: repository.top, baseBranch: "base" });
  const worktree = await manager.create("fix");
  expect(worktree.path).toBe(join(repository.fanout, "fix"));
  expect(worktree.branch).toMatch(/^pi-fanout-fix-[0-9a-f-]{36}$/);
  expect(repository.branches()).toContain(worktree.branch);
  expect(existsSync(join(worktree.path, "a.txt"))).toBe(true);
  expect(existsSync(join(worktree.path, "later.txt"))).toBe(false);
  await writeFile(join(worktree.path, "a.txt"), "changed");
  expect(await manager.list()).toEqual([{ id: "fix", path: worktree.path, branch: worktree.branch }]);
  await worktree[Symbol.asyncDispose]();
  await worktree.dispose();
  expect(await manager.list()).toEqual([]);
  expect(repository.branches()).toEqual(["base", "main"]);
  expect(repository.left()).toEqual([]);
  expect(readFileSync(join(repository.top, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
});

test("one that is kept stays, until it is removed by its id", async () => {
  const repository = await createRepository();
  const manager = new WorktreeManager({ repoPath: join(repository.top, "src") });
  const [kept, other] = await Promise.all([manager.create("same"), manager.create("same")]);
  expect(kept.path).not.toBe(other.path);
  kept.keep();
  await Promise.all([kept.dispose(), other.dispose()]);
  expect((await manager.list()).map(({ path }) => path)).toEqual([kept.path]);
  expect(await manager.remove("other")).toBe(false);
  expect(await manager.remove("same")).toBe(true);
  expect(await manager.list()).toEqual([]);
  expect(repository.branches()).toEqual(["main"]);
  expect(repository.left()).toEqual([]);
});

test("ids whose directories have like names are not taken for each other", async () => {
  const repository = await createRepository();
  const manager = new WorktreeManager({ repoPath: repository.top });
  const [dotted, dashed] = [await manager.create("a.b"), await manager.create("a-b")];
  expect((await manager.list()).map(({ id }) => id).toSorted()).toEqual(["a-b", "a.b"]);
  expect(await manager.remove("a.b")).toBe(true);
  expect(await manager.remove("a/b")).toBe(false);
  expect(existsSync(dotted.path)).toBe(false);
  expect(await manager.list()).toEqual([{ id: "a-b", path: dashed.path, branch: dashed.branch }]);
  await dashed.dispose();
});

test("several at once do not disturb each other", async () => {
  const repository = await createRepository();
  const manager = new WorktreeManager({ repoPath: repository.top, baseBranch: "main" });
  const all = await Promise.all(Array.from({ length: 6 }, (_, index) => manager.create(`w${index}`)));
  await Promise.all(all.map(({ path, id }) => writeFile(join(path, "a.txt"), id)));
  for (const { path, id } of all) {
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe(id);
    expect(repository.gitIn(path, "status", "--porcelain")).toBe(" M a.txt\n");
  }
  await Promise.all(all.map((worktree) => worktree.dispose()));
  expect(repository.branches()).toEqual(["main"]);
  expect(repository.left()).toEqual([]);
});

test("what is not a repository, or not a commit, is refused and leaves nothing", async () => {
  const repository = await createRepository();
  const outside = new WorktreeManager({ repoPath: repository.root, baseBranch: "main" });
  await expect(outside.create("x")).rejects.toThrow(/is not in a git repository/);
  const unknown = new WorktreeManager({ repoPath: repository.top, baseBranch: "--upload-pack=x" });
  await expect(unknown.create("x")).rejects.toThrow(/rev-parse failed/);
  expect(repository.left()).toEqual([]);
});

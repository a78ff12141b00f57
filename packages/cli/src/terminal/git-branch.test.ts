import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseHead, readGitBranch } from "./git-branch.ts";

function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tau-branch-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test.each([
  ["ref: refs/heads/main\n", "main"],
  ["ref: refs/heads/feature/größer-1.0\n", "feature/größer-1.0"],
  ["ref: refs/heads/main", "main"],
  // No branch is checked out.
  ["91e0d2c4ad1b5a8f6e3c3cf7f2bb0f9d3c1f5a77\n", undefined],
  ["ref: refs/remotes/origin/main\n", undefined],
  ["ref: refs/heads/.invalid\n", undefined],
  ["ref: refs/heads/\x1b]0;title\x07\n", undefined],
  ["ref: refs/heads/two words\n", undefined],
  ["", undefined],
])("the branch of %j is %j", (head, branch) => {
  expect(parseHead(head)).toBe(branch);
});

const hasGit = spawnSync("git", ["--version"]).status === 0;

test.runIf(hasGit)("the branch is the one that git names, in subdirectories and in worktrees too", async () => {
  const root = createDirectory();
  const main = join(root, "main");
  const env = { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: main, env, stdio: "pipe" });
  mkdirSync(join(main, "deep", "er"), { recursive: true });
  git("init");
  git("checkout", "-b", "first");
  expect(await readGitBranch(main)).toBe("first");
  git("commit", "--allow-empty", "-m", "one");
  git("worktree", "add", "-b", "other/branch", "../tree");
  expect(await readGitBranch(join(main, "deep", "er"))).toBe("first");
  expect(await readGitBranch(join(root, "tree"))).toBe("other/branch");
  git("checkout", "--detach");
  expect(await readGitBranch(main)).toBeUndefined();
});

test("a directory without a repository, or with one that cannot be read, has no branch", async () => {
  const directory = createDirectory();
  expect(await readGitBranch(directory)).toBeUndefined();
  writeFileSync(join(directory, ".git"), "gitdir: nowhere\n");
  expect(await readGitBranch(directory)).toBeUndefined();
  rmSync(join(directory, ".git"));
  mkdirSync(join(directory, ".git", "HEAD"), { recursive: true });
  expect(await readGitBranch(directory)).toBeUndefined();
});

test.runIf(process.platform !== "win32")("a pipe in the place of a file is not waited for", async () => {
  const directory = createDirectory();
  mkdirSync(join(directory, ".git"));
  execFileSync("mkfifo", [join(directory, ".git", "HEAD")]);
  expect(await readGitBranch(directory)).toBeUndefined();
});

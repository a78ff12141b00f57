import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findGitDirectories } from "./directories.ts";

/** A directory with a repository `main`, its worktree `tree`, and a workspace `ws`. */
function createPlaces() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-git-directories-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const path = (name: string) => join(root, name);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=b@c", ...args], {
      stdio: "ignore",
      env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
    });
  mkdirSync(path("ws"));
  git("init", "-q", path("main"));
  git("-C", path("main"), "commit", "-q", "--allow-empty", "-m", "one");
  git("-C", path("main"), "worktree", "add", "-q", path("tree"));
  return { path, write: (name: string, text: string) => writeFileSync(path(name), text), find: () => find(path) };
}

const find = (path: (name: string) => string) => findGitDirectories(path("ws"), path("home"));

test("a worktree has its own git directory and the one that it shares", () => {
  const { path } = createPlaces();
  const { directories, links } = findGitDirectories(path("tree"), path("home"));
  expect(directories).toEqual([path("main/.git"), path("main/.git/worktrees/tree")]);
  expect(links).toEqual([path("tree/.git")]);
});

test("a project cannot open the repository of another one by naming it", () => {
  const { path, write, find: findAll } = createPlaces();
  for (const target of ["main/.git", "main/.git/worktrees/tree", "main", "missing"]) {
    write("ws/.git", `gitdir: ${path(target)}\n`);
    expect([target, findAll().directories]).toEqual([target, []]);
    expect(findAll().links).toEqual([path("ws/.git")]);
  }
});

test("a link with several lines is not followed, since git takes all of them for the path", () => {
  const { path, write } = createPlaces();
  write("tree/.git", `gitdir: ${path("main/.git/worktrees/tree")}\nmore`);
  expect(findGitDirectories(path("tree"), path("home")).directories).toEqual([]);
});

test("a git directory that is the project's own cannot open another one as the one that it shares", () => {
  const { path, write, find: findAll } = createPlaces();
  mkdirSync(path("own"));
  write("ws/.git", `gitdir: ${path("own")}\n`);
  write("own/gitdir", `${path("ws/.git")}\n`);
  expect(findAll().directories).toEqual([path("own")]);
  write("own/commondir", `${path("main/.git")}\n`);
  expect(findAll().directories).toEqual([path("own")]);
});

test("a git directory elsewhere counts only if its configuration names the project", () => {
  const { path, write, find: findAll } = createPlaces();
  write("ws/.git", `gitdir: ${path("main/.git")}\n`);
  write("main/.git/config", `[core]\n\tworktree = ${path("tree")}\n`);
  expect(findAll().directories).toEqual([]);
  write("main/.git/config", `[core]\n\tworktree = ${path("ws")}\n`);
  expect(findAll().directories).toEqual([path("main/.git")]);
});

test("a repository has the git directories of its submodules, also of those inside others", () => {
  const { path, write } = createPlaces();
  const modules = ["main/.git/modules/a", "main/.git/modules/deep/b", "main/.git/modules/a/modules/c"];
  for (const name of modules) {
    mkdirSync(path(name), { recursive: true });
    write(`${name}/HEAD`, "ref: refs/heads/main\n");
  }
  const { directories } = findGitDirectories(path("main"), path("home"));
  expect(directories.toSorted()).toEqual([path("main/.git"), ...modules.map(path)].toSorted());
});

test("repositories that are very deep, or lead to very many mounts, are left out", () => {
  const { path, find: findAll } = createPlaces();
  mkdirSync(path("ws/near/.git"), { recursive: true });
  mkdirSync(path(`ws/${"d/".repeat(40)}.git`), { recursive: true });
  expect(findAll().directories).toEqual([path("ws/near/.git")]);
  for (let index = 0; index < 50; index++) mkdirSync(path(`ws/${index}/${"d/".repeat(24)}.git`), { recursive: true });
  const { directories } = findAll();
  expect(directories[0]).toBe(path("ws/near/.git"));
  expect(directories.length).toBeGreaterThan(10);
  expect(directories.length * 25).toBeLessThan(700);
});

test("very many worktrees are one directory, and that of the workspace is still its own", () => {
  const { path } = createPlaces();
  const own = path("main/.git/worktrees/tree");
  for (let index = 0; index < 101; index++) mkdirSync(path(`main/.git/worktrees/${index}`));
  expect(findGitDirectories(path("main"), path("home")).others).toEqual([path("main/.git/worktrees")]);
  const { directories, others } = findGitDirectories(path("tree"), path("home"));
  expect(directories).toContain(own);
  expect(others).toEqual([path("main/.git/worktrees")]);
});

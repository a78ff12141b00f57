import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RepositorySearch } from "./repository-search.ts";

test("directories that a command makes and removes again do not use up the search", () => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "tau-search-")));
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
  const search = new RepositorySearch(workspace, 10);
  for (let index = 0; index < 10; index++) mkdirSync(join(workspace, `many/${index}`), { recursive: true });
  expect(search.findNew()).toEqual([]);
  rmSync(join(workspace, "many"), { recursive: true });
  mkdirSync(join(workspace, "late/.git"), { recursive: true });
  // Those that are gone are known at the end of one look.
  expect([...search.findNew(), ...search.findNew()]).toEqual([join(workspace, "late/.git")]);
});

function createProject() {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-search-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  execFileSync("git", ["init", "-q"], { cwd: directory });
  const link = (path: string) =>
    execFileSync("git", ["update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},${path}`], {
      cwd: directory,
    });
  const make = (path: string) => mkdirSync(join(directory, path, ".git"), { recursive: true });
  return { directory, link, make };
}

test("a repository that the index names is found in any directory, also if it is made after the entry", async () => {
  const { directory, link, make } = createProject();
  const search = new RepositorySearch(directory);
  link("vendor/x");
  link("vendor/later");
  make("vendor/x");
  make("vendor/not-named");
  expect(search.findNew()).toEqual([join(directory, "vendor/x/.git")]);
  // An index that has changed only now is read again, so this waits until it is old enough to be remembered.
  await expect
    .poll(() => search.findNew() && Date.now() - statSync(join(directory, ".git/index")).ctimeMs)
    .toBeGreaterThan(100);
  make("vendor/later");
  expect(search.findNew()).toEqual([join(directory, "vendor/later/.git")]);
  expect(search.list()).toEqual(["x", "later"].map((name) => join(directory, `vendor/${name}/.git`)));
});

test("a repository that the index above the workspace names is found, and none behind a link", () => {
  const { directory, link, make } = createProject();
  link("app/vendor/x");
  link("app/link/x");
  link("other/x");
  for (const path of ["app/vendor/x", "other/x"]) make(path);
  symlinkSync("../other", join(directory, "app/link"));
  expect(new RepositorySearch(join(directory, "app")).list()).toEqual([join(directory, "app/vendor/x/.git")]);
});

test("an index that git reads and we do not is told, unless it was there before", () => {
  const { directory, link } = createProject();
  const index = join(directory, ".git/index");
  const search = new RepositorySearch(directory);
  link("vendor/x");
  renameSync(index, join(directory, "moved"));
  symlinkSync("../moved", index);
  search.findNew();
  expect(search.listUnread()).toEqual([index]);
  expect(new RepositorySearch(directory).listUnread()).toEqual([]);
  rmSync(index);
  search.findNew();
  expect(search.listUnread()).toEqual([]);
});

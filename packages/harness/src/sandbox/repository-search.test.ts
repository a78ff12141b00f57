import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
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

import { expect, test } from "vitest";
import { combineEntries } from "./combine-entries.ts";
import type { PackageEntry } from "./package-entry.ts";

function combine(user: PackageEntry[], project: PackageEntry[], toRealPath?: (path: string) => string) {
  const { packages, problems } = combineEntries({ user, project }, toRealPath);
  const rows = packages.map(({ source, scope, entry, filters }) => [
    `${source.id} ${scope} ${entry.source}`,
    filters.skills,
  ]);
  return { rows, problems: problems.map(({ message }) => message) };
}

test("a project's entry replaces the user's, whatever version or ref it names", () => {
  const user = ["npm:a@1", "git:example.org/x/y@v1", { source: "npm:b", skills: ["one"] }];
  const project = ["https://example.org/x/y.git", "npm:b@2"];
  expect(combine(user, project).rows).toEqual([
    ["npm:a user npm:a@1", []],
    ["git:example.org/x/y project https://example.org/x/y.git", []],
    ["npm:b project npm:b@2", []],
  ]);
});

test("a project's entry with autoload: false filters the user's", () => {
  const project = [{ source: "npm:a", autoload: false, skills: ["-one"] }];
  expect(combine([{ source: "npm:a@1", skills: ["s"] }], project).rows).toEqual([
    ["npm:a user npm:a@1", [["s"], ["-one"]]],
  ]);
});

test("with autoload: false and nothing to filter, only what the lists name counts", () => {
  expect(combine([], [{ source: "npm:a", autoload: false, skills: ["+one"] }]).rows[0]![1]).toEqual([[], ["+one"]]);
  expect(combine([], [{ source: "npm:a", autoload: false, skills: ["one"] }]).rows[0]![1]).toEqual([["one"]]);
  expect(combine([{ source: "npm:a", autoload: false }], []).rows[0]![1]).toEqual([[]]);
});

test("local packages are compared by their real paths, and the first of a scope counts", () => {
  const toRealPath = (path: string) => path.replace("/link", "/real");
  expect(combine(["/link", { source: "/real", skills: [] }], [], toRealPath).rows).toEqual([["/real user /link", []]]);
});

test("an entry that is no source is named", () => {
  expect(combine(["nope"], []).problems).toEqual([expect.stringContaining('"nope" is not the source of a package')]);
});

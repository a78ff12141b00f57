import { expect, test } from "vitest";
import { createPathFilter, resolvePathEntry } from "./path-filter.ts";

const files = ["/s/review/SKILL.md", "/s/old-review/SKILL.md", "/s/quick.md", "/t/quick.md"];

test.each([
  { entries: [], includes: files },
  { entries: ["!old-*"], includes: ["/s/review/SKILL.md", "/s/quick.md", "/t/quick.md"] },
  { entries: ["!quick.md"], includes: ["/s/review/SKILL.md", "/s/old-review/SKILL.md"] },
  { entries: ["!/s/*"], includes: ["/t/quick.md"] },
  { entries: ["!**/review"], includes: ["/s/quick.md", "/t/quick.md", "/s/old-review/SKILL.md"] },
  { entries: ["+/s/quick.md", "!*"], includes: ["/s/quick.md"] },
  { entries: ["+/s/review", "!*", "-/s/review/SKILL.md"], includes: [] },
  { entries: ["-/s"], includes: ["/t/quick.md"] },
])("the list $entries includes $includes", ({ entries, includes }) => {
  const filter = createPathFilter(entries);
  const kept = files.filter((file) => filter.includes(file));
  expect(kept.toSorted()).toEqual(includes.toSorted());
});

test("a path and a path with a plus add files, the other entries do not", () => {
  expect(createPathFilter(["/a", "+/b", "-/c", "!/d", "!e"]).roots).toEqual(["/a", "/b"]);
});

test("what is always included is not left out by any entry", () => {
  expect(createPathFilter(["!*", "-/s"], ["/s"]).includes("/s/quick.md")).toBe(true);
});

test("relative paths begin at the directory of the settings, after the sign", () => {
  const fromHome = (path: string) => path.replace(/^~/, "/home/me");
  const entries = ["more", "+./one", "-~/two", "!three/*", "!name-*", "!*/four", "!~/five/*"];
  expect(entries.map((entry) => resolvePathEntry(entry, "/conf", fromHome))).toEqual([
    "/conf/more",
    "+/conf/one",
    "-/home/me/two",
    "!/conf/three/*",
    "!name-*",
    "!*/four",
    "!/home/me/five/*",
  ]);
});

import { expect, test } from "vitest";
import { filterResources } from "./filter-resources.ts";

const names = ["extensions/a.ts", "extensions/b.ts", "extensions/old/c.ts", "skills/review"];

test.each<[string, (readonly string[])[], string[]]>([
  ["no list keeps everything", [], names],
  ["an empty list keeps nothing", [[]], []],
  ["a path keeps that path", [["extensions/a.ts"]], ["extensions/a.ts"]],
  ["a path may begin with a dot", [["./extensions/a.ts"]], ["extensions/a.ts"]],
  ["a directory keeps what is below it", [["extensions/old"]], ["extensions/old/c.ts"]],
  ["a glob keeps what matches", [["extensions/*.ts"]], names.slice(0, 3)],
  ["two stars are one", [["extensions/**/c.ts"]], ["extensions/old/c.ts"]],
  ["a glob without a slash is a name", [["[x]", "b.*"]], ["extensions/b.ts"]],
  ["an exclusion alone starts from everything", [["!*.ts"]], ["skills/review"]],
  ["an exclusion narrows what is named", [["extensions", "!extensions/old/*"]], ["extensions/a.ts", "extensions/b.ts"]],
  ["a forced path comes back", [["!*.ts", "+extensions/a.ts"]], ["extensions/a.ts", "skills/review"]],
  ["a refused path stays out", [["extensions", "-extensions/a.ts", "+extensions/a.ts"]], names.slice(1, 3)],
  ["a second list narrows the first", [["extensions"], ["-extensions/a.ts"]], names.slice(1, 3)],
  ["a second list can force what the first left out", [[], ["+skills/review"]], ["skills/review"]],
  ["a second list cannot name what the first left out", [["extensions/a.ts"], ["extensions/b.ts"]], []],
  ["a name that only begins alike is another", [["extensions/a"]], []],
])("%s", (_rule, lists, expected) => {
  expect(filterResources(names, lists)).toEqual(expected);
});

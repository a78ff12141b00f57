import { expect, test } from "vitest";
import { getCompletable, mergeItems } from "./completion.ts";

test.each([
  ["/mo|", "/mo"],
  ["/model gpt|", undefined],
  ["text\n/mo|", undefined],
  ["see @src/a| and more", "see @src/a"],
  ["first line\nsee @a|", "see @a"],
  ["a plain text|", undefined],
  [`@${"x".repeat(3_000)}|`, undefined],
])("of %j the line before the cursor is completed if a command begins it or a file is named", (text, before) => {
  const cursor = text.indexOf("|");
  expect(getCompletable(text.replace("|", ""), cursor)).toBe(before);
});

const getNames = (before: string, values: string[]) =>
  mergeItems(
    before,
    values.map((value) => ({ value })),
  ).map(({ value }) => value);

test.each([
  ["/comp", ["compare"], ["compact", "compare"]],
  ["/compare", ["compare"], ["compare"]],
  // The page's own command is the one that runs, unless it yields to an extension.
  ["/name", ["named", "name"], ["name", "named"]],
  ["/hel", ["help"], ["help"]],
  ["/re", [], ["resume", "reload"]],
  ["see @comp", ["@compact.ts"], ["@compact.ts"]],
])("%j is completed with %j of the session to %j", (before, values, expected) => {
  expect(getNames(before, values)).toEqual(expected);
});

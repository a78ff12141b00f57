import { expect, test } from "vitest";
import { applyCompletion, getCompletable, mergeItems } from "./completion.ts";

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

test.each([
  ["/co|", 1, "compact", "/compact |"],
  ["/co| for me", 1, "compact", "/compact |for me"],
  ["see @sr|", 4, "@src/", "see @src/|"],
  ["see @sr|, please", 4, "@src/a.ts", "see @src/a.ts |, please"],
  [`see @"my d|"`, 4, `@"my dir/"`, `see @"my dir/|"`],
  [`see @"my f|"`, 4, `@"my file"`, `see @"my file" |`],
])("taken into %j from %i, %j gives %j", (text, from, value, expected) => {
  const cursor = text.indexOf("|");
  const taken = applyCompletion(text.replace("|", ""), from, cursor, value);
  expect(`${taken.text.slice(0, taken.cursor)}|${taken.text.slice(taken.cursor)}`).toBe(expected);
});

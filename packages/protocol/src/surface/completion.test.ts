import { expect, test } from "vitest";
import { applyCompletion } from "./completion.ts";

test.each([
  ["/co|", 1, "compact", "/compact |"],
  ["/co| for me", 1, "compact", "/compact |for me"],
  ["see @sr|", 4, "@src/", "see @src/|"],
  ["see @do|", 5, "docs:", "see @docs:|"],
  ["see @sr|, please", 4, "@src/a.ts", "see @src/a.ts |, please"],
  [`see @hi|`, 5, `'say "hi"/'`, `see @'say "hi"/|'`],
  [`see "@m|"`, 6, "main.ts", `see "@main.ts |"`],
  [`see @"my d|"`, 4, `@"my dir/"`, `see @"my dir/|"`],
  [`see @"my f|"`, 4, `@"my file"`, `see @"my file" |`],
])("taken into %j from %i, %j gives %j", (text, from, value, expected) => {
  const cursor = text.indexOf("|");
  const taken = applyCompletion(text.replace("|", ""), from, cursor, value);
  expect(`${taken.text.slice(0, taken.cursor)}|${taken.text.slice(taken.cursor)}`).toBe(expected);
});

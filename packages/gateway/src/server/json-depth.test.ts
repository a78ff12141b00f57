import { expect, test } from "vitest";
import { isTooDeep } from "./json-depth.ts";

const nest = (depth: number, inner = "1") => `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;

test.each([
  [nest(64), false],
  [nest(65), true],
  ['{"a":'.repeat(65), true],
  [`[${Array.from({ length: 100 }, () => nest(10)).join()}]`, false],
  [JSON.stringify({ text: nest(100) }), false],
  [JSON.stringify({ text: `\\"${nest(100)}` }), false],
  [JSON.stringify(['"']) + nest(65), true],
  ["", false],
])("%.60s", (text, expected) => {
  expect(isTooDeep(text)).toBe(expected);
});

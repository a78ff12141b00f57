import { expect, test } from "vitest";
import { getFoldedLines } from "./folded-message.ts";

test.each([
  [undefined, undefined],
  ["x", undefined],
  [{ foldedTo: "x" }, undefined],
  [{ foldedTo: [] }, undefined],
  [{ foldedTo: ["a", 1] }, undefined],
  [{ foldedTo: ["a", "b"] }, ["a", "b"]],
])("the lines that %j is folded to are %j", (details, lines) => {
  expect(getFoldedLines(details)).toEqual(lines);
});

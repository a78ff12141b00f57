import { expect, test } from "vitest";
import { getCallSubject, getDiffs, getPartialSubject, listOutcomeNotes } from "./call-title.ts";

test.each([
  [{ timeout: 5, command: "ls\npwd" }, "ls …"],
  [{ pattern: "x", path: "src" }, "src"],
  [{ message: "hello" }, "hello"],
  [{ count: 5 }, ""],
  [{}, ""],
])("a call with %j is about %j", (input, subject) => {
  expect(getCallSubject(input)).toBe(subject);
});

test.each([
  ['{"path": "src/a', "src/a"],
  ['{"timeout": 5, "command": "say \\"hi\\"\\npw', 'say "hi" …'],
  ['{"count": 5', ""],
])("a call whose arguments are %s so far is about %j", (json, subject) => {
  expect(getPartialSubject(json)).toBe(subject);
});

test.each([
  [{ isNew: true }, false, ["new"]],
  [{ isNew: true }, true, []],
  [{ exitCode: 0 }, false, []],
  [{ exitCode: 2, signal: "SIGTERM" }, true, ["exit 2", "SIGTERM"]],
  ["text", false, []],
  [undefined, false, []],
])("a result with the details %j, failed %j, has the notes %j", (details, isError, notes) => {
  expect(listOutcomeNotes(details, isError)).toEqual(notes);
});

test("the diffs of one file and of several are listed, and anything else is not", () => {
  expect(getDiffs({ diff: "a", files: [{ diff: "b" }, { diff: "" }, null, 5] })).toEqual(["a", "b"]);
  expect(getDiffs([])).toEqual([]);
});

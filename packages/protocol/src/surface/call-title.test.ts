import { expect, test } from "vitest";
import { getCallSubject, getDiffs, getPartialSubject, getPartialText, listOutcomeNotes } from "./call-title.ts";

test.each([
  [{ timeout: 5, command: "ls\npwd" }, "ls …"],
  [{ pattern: "x", path: "src" }, "src"],
  [{ message: "hello" }, "hello"],
  [{ action: "write", id: "2", text: "ls\npwd" }, "write to job 2: ls …"],
  [{ action: "kill", id: "2" }, "kill"],
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
  ['{"language":"python","code":"x = 1\\nprint(\\"hi\\")', 'x = 1\nprint("hi")'],
  ['{"code":"a\\\\n\\tb", "language": "js"}', "a\\n\tb"],
  ['{"code":"caf\\u00e9 \\ud83d\\ude00', "café 😀"],
  // Cut in the middle of an escape.
  ['{"code":"caf\\u00', "caf"],
  ['{"code":"caf\\', "caf"],
  ['{"language":"\\"code\\":\\"no', ""],
  ['{"code":', ""],
  ["", ""],
])("the code in arguments that are %s so far is %j", (json, code) => {
  expect(getPartialText(json, "code")).toBe(code);
});

test("of megabytes of code the last lines are read, whole", () => {
  const code = 'print("\\u{1F600}")\n'.repeat(200_000);
  const read = getPartialText(JSON.stringify({ code }), "code");
  expect(read).toMatch(/^(?:print\("\\u\{1F600\}"\)\n)+$/);
  expect(read.length).toBeLessThan(32_000);
});

test.each([
  [{ places: [{ path: "a.ts", line: 1, severity: "error" }] }, false, ["1 error"]],
  [{ places: [{ path: "a.ts", line: 1, severity: "error" }] }, true, []],
  [{ places: ["a.ts"] }, false, []],
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

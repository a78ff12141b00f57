import { setKeybindings, stripTerminalSequences } from "@tau/tui";
import { beforeEach, expect, test } from "vitest";
import { createKeybindings } from "../keybindings.ts";
import { Themes } from "../themes.ts";
import { describeOutcome, drawOutput, type ToolOutput } from "./tool-result.ts";

const { theme } = new Themes({ mode: "none", files: [] });

beforeEach(() => setKeybindings(createKeybindings()));

const draw = (shows: Parameters<typeof drawOutput>[0], output: Partial<ToolOutput>, expanded = false): string[] =>
  drawOutput(shows, { text: "", details: undefined, isError: false, ...output }, { theme, expanded, width: 40 }).map(
    (line) => stripTerminalSequences(line),
  );

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String(first + index));

test("of a command that failed the end is shown, with its exit code", () => {
  const text = `${numbers(1, 30).join("\n")}\n\nCommand exited with code 3`;
  expect(draw("command", { text, isError: true })).toEqual([
    "… 12 more lines (ctrl+o)",
    ...numbers(13, 30),
    "",
    "Command exited with code 3",
  ]);
  expect(draw("text", { text, isError: true })[0]).toBe("1");
});

test.each([
  ["a whole file", "a\nb", { firstLine: 1, shownLines: 2, totalLines: 2 }, ["2 lines (ctrl+o)"], ["1 a", "2 b"]],
  ["one line", "a", { firstLine: 1, shownLines: 1, totalLines: 1 }, ["1 line (ctrl+o)"], ["1 a"]],
  [
    "a part with a remark",
    "a\n\nb\n\n[Showing lines 9-11. Continue with offset=12.]",
    { firstLine: 9, shownLines: 3 },
    ["lines 9 to 11 (ctrl+o)"],
    [" 9 a", "10 ", "11 b", "", "[Showing lines 9-11. Continue with offset=12.]"],
  ],
  ["one line of several", "a", { firstLine: 5, shownLines: 1 }, ["line 5 (ctrl+o)"], ["5 a"]],
  ["empty lines at the end", "a\n\n", { firstLine: 1, shownLines: 3 }, ["3 lines (ctrl+o)"], ["1 a"]],
  [
    "lines with anchors",
    "[a.ts#1f]\n7:a\n8:b",
    { firstLine: 7, shownLines: 2 },
    ["2 lines (ctrl+o)"],
    ["[a.ts#1f]", "7:a", "8:b"],
  ],
  [
    "no line of a file",
    "(the file is empty)",
    { firstLine: 1, shownLines: 0 },
    ["(the file is empty)"],
    ["(the file is empty)"],
  ],
  [
    "pages of a document",
    "[Page 3 of 9]\na\n\n[Page 4 of 9]\nb",
    { firstLine: 3, shownLines: 2, unit: "pages" },
    ["pages 3 to 4 (ctrl+o)"],
    ["[Page 3 of 9]", "a", "", "[Page 4 of 9]", "b"],
  ],
  [
    "a row of a table",
    "[a.db#t]\nx\n1",
    { firstLine: 1, shownLines: 1, unit: "rows" },
    ["1 row (ctrl+o)"],
    ["[a.db#t]", "x", "1"],
  ],
  ["a tool that says nothing of lines", "a\nb", undefined, ["2 lines (ctrl+o)"], ["a", "b"]],
])("an excerpt has the numbers of its lines when it is expanded: %s", (_what, text, details, folded, expanded) => {
  expect(draw("excerpt", { text, details })).toEqual(folded);
  expect(draw("excerpt", { text, details }, true)).toEqual(expanded);
});

const changed = "--- a.ts\n+++ a.ts\n@@ -9,3 +9,4 @@\n same\n-old\n+new\n+more\n end\n";

test("a diff has the numbers of its lines, and nothing of the format that it came in", () => {
  expect(draw("diff", { details: { diff: changed } })).toEqual([
    " 9   same",
    "10 - old",
    "10 + new",
    "11 + more",
    "12   end",
  ]);
});

test("a line of a diff that is too long continues beside the numbers", () => {
  const long = `+${"word ".repeat(12).trim()}`;
  expect(draw("diff", { details: { diff: `@@ -1 +1 @@\n${long}\n` } })).toEqual([
    "1 + word word word word word word word",
    "    word word word word word",
  ]);
});

test("diffs of several files name them, and diffs in another format stay as they are", () => {
  const other = changed.replaceAll("a.ts", "b.ts");
  const names = draw("diff", { details: { files: [{ diff: changed }, { diff: other }] } });
  expect([names[0], names[6]]).toEqual(["a.ts", "b.ts"]);
  expect(draw("diff", { details: { diff: "  11 same\n- 12 old\n+ 12 new" } })).toEqual([
    "  11 same",
    "- 12 old",
    "+ 12 new",
  ]);
});

test("of a written file its first ten lines are shown, and all of them if it is expanded", () => {
  const content = `${numbers(101, 130).join("\n")}\n`;
  const output = { text: "Created a.ts.", input: { path: "a.ts", content }, details: { isNew: true } };
  const lines = numbers(101, 130).map((line, index) => `${String(index + 1).padStart(2)} ${line}`);
  expect(draw("file", output)).toEqual([...lines.slice(0, 10), "… 20 more lines (ctrl+o)"]);
  expect(draw("file", output, true)).toEqual(lines);
  expect(describeOutcome({ ...output, isError: false }, 0)).toBe("new");
});

test("of a replaced file the diff is shown, and of one that could not be written the reason", () => {
  const output = {
    text: "Replaced it.",
    input: { path: "a.ts", content: "x" },
    details: { isNew: false, diff: changed },
  };
  expect(draw("file", output)).toContain("10 - old");
  expect(draw("file", { ...output, text: "No space left.", isError: true })).toEqual(["No space left."]);
  expect(draw("file", { text: "Created it.", input: { path: "a.ts", content: "" } })).toEqual(["Created it."]);
});

test("no control character of a file or a diff is drawn", () => {
  const hostile = "\x1b]52;c;aGk=\x07text\x1b[2J";
  const drawn = [
    ...draw("file", { input: { path: "a", content: hostile } }),
    ...draw("diff", { details: { diff: `@@ -1 +1 @@\n+${hostile}` } }),
  ].join("\n");
  expect(drawn).toContain("text");
  // oxlint-disable-next-line no-control-regex
  expect(drawn).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
});

test("below a diff stands what was added to the result, such as new problems of the file", () => {
  const details = { diff: "@@ -1 +1 @@\n-a\n+b" };
  const added = "New problems in a.ts (ts):\na.ts:1:1: error: b is not known";
  const lines = draw("diff", { text: `Edited a.ts.\n${added}`, added, details });
  expect(lines.slice(-2)).toEqual(added.split("\n"));
  expect(lines.join()).not.toContain("Edited a.ts.");
  expect(draw("diff", { text: "Edited a.ts.", added: "", details })).toHaveLength(lines.length - 2);
  const many = Array.from({ length: 30 }, (_, index) => `line ${index}`).join("\n");
  expect(draw("file", { added: many, input: { path: "a.ts", content: "b" } }).length).toBeLessThan(20);
});

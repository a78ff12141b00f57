import { stripTerminalSequences } from "@tau/tui";
import { expect, test } from "vitest";
import { Themes } from "../themes.ts";
import { drawOutput, type ToolOutput } from "./tool-result.ts";

const { theme } = new Themes({ mode: "none", files: [] });

const draw = (shows: Parameters<typeof drawOutput>[0], output: Partial<ToolOutput>, expanded = false): string[] =>
  drawOutput(shows, { text: "", details: undefined, isError: false, ...output }, { theme, expanded }).map((line) =>
    stripTerminalSequences(line),
  );

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String(first + index));

test("of a command that failed the end is shown, with its exit code", () => {
  const text = `${numbers(1, 30).join("\n")}\n\nCommand exited with code 3`;
  expect(draw("command", { text, isError: true })).toEqual([
    "… 22 more lines",
    ...numbers(23, 30),
    "",
    "Command exited with code 3",
  ]);
  expect(draw("text", { text, isError: true })[0]).toBe("1");
});

test.each([
  ["a whole file", "a\nb", { firstLine: 1, shownLines: 2, totalLines: 2 }, ["2 lines"], ["1 a", "2 b"]],
  ["one line", "a", { firstLine: 1, shownLines: 1, totalLines: 1 }, ["1 line"], ["1 a"]],
  [
    "a part with a remark",
    "a\n\nb\n\n[Showing lines 9-11. Go on with offset=12.]",
    { firstLine: 9, shownLines: 3 },
    ["lines 9 to 11"],
    [" 9 a", "10 ", "11 b", "", "[Showing lines 9-11. Go on with offset=12.]"],
  ],
  ["one line of several", "a", { firstLine: 5, shownLines: 1 }, ["line 5"], ["5 a"]],
  ["empty lines at the end", "a\n\n", { firstLine: 1, shownLines: 3 }, ["3 lines"], ["1 a"]],
  [
    "lines with anchors",
    "[a.ts#1f]\n7:a\n8:b",
    { firstLine: 7, shownLines: 2 },
    ["2 lines"],
    ["[a.ts#1f]", "7:a", "8:b"],
  ],
  [
    "no line of a file",
    "(the file is empty)",
    { firstLine: 1, shownLines: 0 },
    ["(the file is empty)"],
    ["(the file is empty)"],
  ],
  ["a tool that says nothing of lines", "a\nb", undefined, ["2 lines"], ["a", "b"]],
])("an excerpt has the numbers of its lines when it is expanded: %s", (_what, text, details, folded, expanded) => {
  expect(draw("excerpt", { text, details })).toEqual(folded);
  expect(draw("excerpt", { text, details }, true)).toEqual(expanded);
});

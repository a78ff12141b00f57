import { describe, expect, test } from "vitest";
import { getNumberWidth, parseDiff, parseDiffs, parseTextWithDiffs } from "./diff.ts";

const change = "@@ -9,3 +9,4 @@\n same\n-old\n+new\n+more\n end";

describe("a unified diff", () => {
  test("has the numbers of its lines, and none of the format's own lines", () => {
    expect(parseDiff(`--- a.ts\n+++ a.ts\n${change}\n`)).toEqual([
      { kind: "file", text: "a.ts" },
      { kind: "context", number: 9, text: "same" },
      { kind: "removed", number: 10, text: "old" },
      { kind: "added", number: 10, text: "new" },
      { kind: "added", number: 11, text: "more" },
      { kind: "context", number: 12, text: "end" },
    ]);
  });

  test("has a gap between two hunks, and not before the first", () => {
    const kinds = parseDiff("--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n@@ -8 +8 @@\n-c\n+d\n").map(({ kind }) => kind);
    expect(kinds).toEqual(["file", "removed", "added", "gap", "removed", "added"]);
  });

  test("takes lines of the text that look like the format as text", () => {
    expect(parseDiff("--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n").slice(1)).toEqual([
      { kind: "removed", number: 1, text: "-- x" },
      { kind: "added", number: 1, text: "++ y" },
    ]);
  });

  test("keeps remarks, which have no number and do not count as lines", () => {
    const rows = parseDiff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n[The diff continues for 7 lines.]");
    expect(rows).toEqual([
      { kind: "removed", number: 1, text: "a" },
      { kind: "note", text: "No newline at end of file" },
      { kind: "added", number: 1, text: "b" },
      { kind: "note", text: "[The diff continues for 7 lines.]" },
    ]);
  });

  test("counts an empty line whose blank was lost", () => {
    expect(parseDiff("@@ -1,2 +1,3 @@\n a\n\n+b")).toMatchObject([{ number: 1 }, { number: 2 }, { number: 3 }]);
  });

  test("of another program names the file and begins to count again for each", () => {
    const text = `diff --git a/x b/x\n--- a/x\n+++ b/x\t2026-01-01\n${change}\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2`;
    const rows = parseDiff(text);
    expect(rows.filter(({ kind }) => kind === "file")).toEqual([
      { kind: "file", text: "b/x" },
      { kind: "file", text: "b/y" },
    ]);
    expect(rows.slice(-3)).toEqual([
      { kind: "file", text: "b/y" },
      { kind: "removed", number: 1, text: "1" },
      { kind: "added", number: 1, text: "2" },
    ]);
    expect(rows.some(({ kind }) => kind === "gap")).toBe(false);
  });
});

test("a diff in another format keeps its lines as they are, with their signs", () => {
  expect(parseDiff("  11 same\n- 12 old\n+ 12 new")).toEqual([
    { kind: "context", number: undefined, text: "  11 same" },
    { kind: "removed", number: undefined, text: "- 12 old" },
    { kind: "added", number: undefined, text: "+ 12 new" },
  ]);
});

test("files are named only if there are several", () => {
  const diff = (name: string) => `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-1\n+2\n`;
  expect(parseDiffs([diff("a")]).map(({ kind }) => kind)).toEqual(["removed", "added"]);
  const kinds = parseDiffs([diff("a"), diff("b")]).map(({ kind }) => kind);
  expect(kinds).toEqual(["file", "removed", "added", "file", "removed", "added"]);
});

test("the numbers have as many columns as the longest", () => {
  expect(getNumberWidth(parseDiff("@@ -98,3 +98,3 @@\n a\n b\n c"))).toBe(3);
  expect(getNumberWidth(parseDiff("+a"))).toBe(0);
});

test("a text with diffs keeps what is written around them, and one without is no diff", () => {
  const diff = (name: string) => `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-1\n+2`;
  const rows = parseTextWithDiffs(`2 files:\n\nChange a\n${diff("a")}\n\nChange b\n${diff("b")}`)!;
  expect(rows.map(({ kind }) => kind)).toEqual(
    "context context context file removed added context note file removed added".split(" "),
  );
  expect(rows.filter(({ kind }) => kind === "note" || kind === "file")).toMatchObject([
    { text: "a" },
    { text: "Change b" },
    { text: "b" },
  ]);
  expect(parseTextWithDiffs("--- a line\n- a list")).toBeUndefined();
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clustersFrom } from "./clusters.ts";
import {
  createDocument,
  findLeft,
  findLineEnd,
  findLineStart,
  findRight,
  getText,
  insertText,
  moveTo,
} from "./document.ts";
import { findAtoms } from "./paste-markers.ts";
import { TextEditing } from "./text-editing.ts";

const pieces = [
  "a",
  "b c",
  " ",
  "\n",
  "é",
  "e\u0301",
  "\u0301",
  "你好",
  "👨‍👩‍👧",
  "\u200d👩",
  "🇩🇪",
  "🇩",
  "\x1b[31m",
  "-",
  "[paste #1 1001 chars]",
  "각",
];

type Step = (editing: TextEditing) => void;

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom(...pieces).map(
    (text): Step =>
      (editing) =>
        editing.type(text),
  ),
  fc.constantFrom(...pieces).map(
    (text): Step =>
      (editing) =>
        editing.change(insertText(editing.document, text)),
  ),
  fc.constantFrom(findLeft, findRight, findLineStart, findLineEnd).chain((find) =>
    fc.constantFrom<Step>(
      (editing) => editing.set(moveTo(editing.document, find(editing.document))),
      (editing) => editing.delete((document) => find(document)),
      (editing) => editing.kill((document) => find(document)),
    ),
  ),
  fc.nat(40).map(
    (col): Step =>
      (editing) =>
        editing.set(moveTo(editing.document, { line: col % 3, col })),
  ),
  fc.constant<Step>((editing) => editing.yank()),
  fc.constant<Step>((editing) => editing.yankPop()),
);

function start(): TextEditing {
  const editing = new TextEditing();
  editing.reset(createDocument("one [paste #1 1001 chars] two\n你好", new Map([[1, "x".repeat(1001)]])));
  return editing;
}

describe("a document that is edited", () => {
  test("any edits that are undone give the document of before, and redone the one of after", () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 30 }), (sequence) => {
        const editing = start();
        const before = getText(editing.document);
        for (const step of sequence) step(editing);
        const { lines, pastes } = editing.document;
        for (let index = 0; index <= sequence.length; index++) editing.undo();
        expect(getText(editing.document)).toBe(before);
        for (let index = 0; index <= sequence.length; index++) editing.redo();
        expect(editing.document.lines).toEqual(lines);
        expect(editing.document.pastes).toEqual(pastes);
      }),
    );
  });

  test("the cursor is always between two clusters, and never within a marker", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            steps,
            fc.constant<Step>((editing) => editing.undo()),
          ),
          { maxLength: 30 },
        ),
        (sequence) => {
          const editing = start();
          for (const step of sequence) {
            step(editing);
            const { lines, cursor, pastes } = editing.document;
            const line = lines[cursor.line] as string;
            const boundaries = [...clustersFrom(line, 0, findAtoms(line, pastes))].map(({ index }) => index);
            expect([...boundaries, line.length]).toContain(cursor.col);
          }
        },
      ),
    );
  });

  test("an edit of a text of many lines shares the others with the text of before", () => {
    const document = createDocument("line\n".repeat(20_000));
    const edited = insertText(moveTo(document, { line: 10_000, col: 2 }), "x");
    expect(edited.lines[10_000]).toBe("lixne");
    expect(edited.lines.filter((line, index) => line !== document.lines[index])).toEqual(["lixne"]);
  });
});

describe("undo", () => {
  const type = (editing: TextEditing, text: string) => {
    for (const character of text) editing.type(character);
  };
  const undoAll = (editing: TextEditing) => {
    const texts: string[] = [];
    for (let last = getText(editing.document); ;) {
      editing.undo();
      const text = getText(editing.document);
      if (text === last) return texts;
      texts.push(text);
      last = text;
    }
  };

  test.each<[string, Step, string[]]>([
    ["goes word by word", (editing) => type(editing, "hello big world"), ["hello big", "hello", ""]],
    ["takes each blank of several alone", (editing) => type(editing, "ab  cd"), ["ab ", "ab", ""]],
    [
      "begins anew with a piece that has a blank in it",
      (editing) => {
        editing.type("ab");
        editing.type("x = 1;");
      },
      ["ab", ""],
    ],
    [
      "begins anew after the cursor moved",
      (editing) => {
        type(editing, "abc");
        editing.set(moveTo(editing.document, findLeft(editing.document)));
        type(editing, "d");
      },
      ["abc", ""],
    ],
    [
      "takes each deletion alone",
      (editing) => {
        type(editing, "abc");
        editing.delete(findLeft);
        editing.delete(findLeft);
      },
      ["ab", "abc", ""],
    ],
    [
      "leaves out what changed nothing",
      (editing) => {
        editing.delete(findLeft);
        type(editing, "a");
        editing.delete(findRight);
      },
      [""],
    ],
  ])("%s", (_, act, texts) => {
    const editing = new TextEditing();
    act(editing);
    expect(undoAll(editing)).toEqual(texts);
  });

  test("an edit after an undo forgets what could be redone", () => {
    const editing = new TextEditing();
    type(editing, "one two");
    editing.undo();
    type(editing, "!");
    editing.redo();
    expect(getText(editing.document)).toBe("one!");
  });
});

describe("the kill ring", () => {
  test.each<[string, Step, string]>([
    [
      "joins kills in a row, backward before and forward after",
      (editing) => {
        editing.set(moveTo(createDocument("one two three"), { line: 0, col: 7 }));
        editing.kill(findLineStart);
        editing.kill(findLineEnd);
        editing.yank();
      },
      "one two three",
    ],
    [
      "keeps kills apart when the cursor moved between them",
      (editing) => {
        editing.set(createDocument("ab"));
        editing.kill(findLeft);
        editing.set(moveTo(editing.document, { line: 0, col: 1 }));
        editing.kill(findLeft);
        editing.yank();
      },
      "a",
    ],
    [
      "gives the kill before with yankPop, and goes round",
      (editing) => {
        for (const text of ["a", "b", "c"]) {
          editing.change(createDocument(text));
          editing.kill(findLeft);
          editing.set(editing.document);
        }
        editing.yank();
        editing.yankPop();
        editing.yankPop();
        editing.yankPop();
        editing.yankPop();
      },
      "b",
    ],
    [
      "does nothing with yankPop after anything but a yank",
      (editing) => {
        editing.change(createDocument("ab"));
        editing.kill(findLeft);
        editing.set(editing.document);
        editing.kill(findLeft);
        editing.yank();
        editing.type("x");
        editing.yankPop();
      },
      "ax",
    ],
  ])("%s", (_, act, text) => {
    const editing = new TextEditing();
    act(editing);
    expect(getText(editing.document)).toBe(text);
  });
});

import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unifiedDiff } from "../src/files/diff.ts";
import { applyHunks, changedBlocks, type Hunk, refuseOverlaps, sortHunks } from "../src/hashline/apply.ts";
import { newLines, parseAnchor, renderHeader, renderRow, stripTag } from "../src/hashline/format.ts";
import { parseEdit } from "../src/hashline/hashline-edit.ts";
import { parsePatch } from "../src/hashline/patch-text.ts";
import { createSnapshots } from "../src/hashline/snapshots.ts";
import { getFileTag, lineTag } from "../src/hashline/tags.ts";
import { parseTextFile } from "../src/hashline/text.ts";
import { xxHash32 } from "../src/hashline/xxhash32.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");
const getFile = (text: string) => parseTextFile(bytes(text), "f");

describe("xxHash32", () => {
  /** The buffer of the specification's own sanity check: each byte is the top of a product that grows by squaring. */
  function sanityBuffer(length: number): Uint8Array {
    const buffer = new Uint8Array(length);
    let value = 2654435761n;
    for (let at = 0; at < length; at++) {
      buffer[at] = Number((value >> 56n) & 0xffn);
      value = (value * 11400714785074694797n) & 0xffffffffffffffffn;
    }
    return buffer;
  }

  test.each([
    [0, 0, 0x02cc5d05],
    [0, 2654435761, 0x36b78ae7],
    [1, 0, 0xcf65b03e],
    [1, 2654435761, 0xb4545aa4],
    [14, 0, 0x1208e7e2],
    [14, 2654435761, 0x6af1d1fe],
    [222, 0, 0x5bd11dbd],
    [222, 2654435761, 0x58803c5f],
  ])("of %i bytes of the sanity buffer with seed %i", (length, seed, expected) => {
    expect(xxHash32(sanityBuffer(length), seed)).toBe(expected);
  });

  test.each([
    ["a", 0x550d7456],
    ["abc", 0x32d153ff],
    ["Nobody inspects the spammish repetition", 0xe2293b2f],
  ])("of %j", (text, expected) => {
    expect(xxHash32(bytes(text))).toBe(expected);
  });
});

describe("tags", () => {
  test("blanks at the end of a line do not count, those at its beginning do", () => {
    expect(lineTag("  x")).toBe(lineTag("  x \t\r"));
    expect(lineTag("  x")).not.toBe(lineTag(" x"));
    expect(lineTag("anything")).toMatch(/^[ZPMQVRWSNKTXJBYH]{2}$/);
  });

  test("the letters are the high and the low half of the last byte", () => {
    // 0x550d7456: 5 is R, 6 is W.
    expect(lineTag("a")).toBe("RW");
    expect(getFileTag(getFile("a").hash)).toBe("7456");
  });

  test("line ends and the byte order mark do not change the tag of a file", () => {
    const tag = (text: string) => getFileTag(getFile(text).hash);
    expect(tag("a\r\nb\r\n")).toBe(tag("a\nb\n"));
    expect(tag("\ufeffa\nb\n")).toBe(tag("a\nb\n"));
    expect(tag("a\nb")).not.toBe(tag("a\nb\n"));
  });
});

describe("spellings", () => {
  test("rows carry their numbers and tags", () => {
    expect(renderHeader("src/a.ts", "1a2b")).toBe("¶src/a.ts#1a2b");
    expect(renderRow(7, "a")).toBe("7#RW:a");
    expect(renderRow(8, "")).toBe(`8#${lineTag("")}:`);
  });

  test("an anchor may be copied with the rest of its row", () => {
    expect(parseAnchor("12#ZP")).toEqual({ line: 12, tag: "ZP" });
    expect(parseAnchor(" 12#zp:some: text")).toEqual({ line: 12, tag: "ZP" });
    for (const wrong of ["12", "#ZP", "12#AB", "12#ZPM", "0#ZP", "", "x12#ZP"]) {
      expect(() => parseAnchor(wrong)).toThrow(/is not an anchor/);
    }
  });

  test("a tag pasted into new text is stripped where it is of what follows or of what was shown, line by line", () => {
    const [first, empty, blank] = [renderRow(12, "a"), renderRow(13, ""), renderRow(14, "  x  ")];
    const unseen = () => false;
    const strip = (lines: string[], wasShown: (number: number, tag: string) => boolean = unseen) =>
      lines.map((line) => stripTag(line, wasShown));
    expect(strip([first, "plain", "", empty, blank])).toEqual(["a", "plain", "", "", "  x  "]);
    const tag = lineTag("hello") === "ZP" ? "PZ" : "ZP";
    expect(strip([`1#${tag}:hello`, "#1:x"])).toEqual([`1#${tag}:hello`, "#1:x"]);
    // A line that was changed behind the tag it was shown with.
    const wasShown = (number: number, shown: string) => number === 1 && shown === tag;
    expect(strip([`1#${tag}:hello`, `2#${tag}:hello`], wasShown)).toEqual(["hello", `2#${tag}:hello`]);
  });

  test("new text is a string or lines, and nothing is no line", () => {
    expect(newLines("a\r\nb\n")).toEqual(["a", "b"]);
    expect(newLines("")).toEqual([""]);
    expect(newLines(["a\nb", "c"])).toEqual(["a", "b", "c"]);
    expect(newLines(null)).toEqual([]);
    expect(newLines([])).toEqual([]);
  });

  test.each([
    [{ op: "remove", lines: null }, /no operation "remove"/],
    [{ op: "replace", lines: "x" }, /needs pos/],
    [{ op: "replace", pos: "5#ZP", end: "4#ZP", lines: "x" }, /before pos/],
    [{ op: "append", lines: [] }, /needs lines/],
    [{ op: "prepend", pos: "1#ZP", end: "2#ZP", lines: "x" }, /takes no end/],
  ])("%j is refused", (edit, why) => {
    expect(() => parseEdit(edit, "edit 1")).toThrow(why);
  });
});

describe("patches", () => {
  test("hold sections with the four operations", () => {
    const patch =
      "¶a b/c#d.ts#1A2b\n3↑first\n+second\n4↓\n+\n5-6:\n+x\n7..8!\n9#ZP-10#KT:y\n\n¶other#0000\nBOF↑\n+top\nEOF↓end\n";
    expect(
      parsePatch(patch).map(({ path, tag, edits }) => [path, tag, edits.map(({ name: _name, ...edit }) => edit)]),
    ).toEqual([
      [
        "a b/c#d.ts",
        "1a2b",
        [
          { op: "before", first: at(3), last: at(3), lines: ["first", "second"] },
          { op: "after", first: at(4), last: at(4), lines: [""] },
          { op: "replace", first: at(5), last: at(6), lines: ["x"] },
          { op: "replace", first: at(7), last: at(8), lines: [] },
          { op: "replace", first: at(9, "ZP"), last: at(10, "KT"), lines: ["y"] },
        ],
      ],
      [
        "other",
        "0000",
        [
          { op: "start", lines: ["top"] },
          { op: "end", lines: ["end"] },
        ],
      ],
    ]);
  });
  const at = (line: number, tag?: string) => ({ line, tag });

  test.each([
    ["", /empty/],
    ["5!", /must begin with/],
    ["¶a.ts\n5!", /begins with ¶path#tag/],
    ["¶a.ts#1234", /no operation/],
    ["¶a.ts#1234\n5?x", /unknown operation/],
    ["¶a.ts#1234\n+stray", /unknown operation/],
    ["¶a.ts#1234\n5-9:\n+x\nraw text", /Line 4 .*unknown operation/],
    ["¶a.ts#1234\n5!\n+x", /takes no text/],
    ["¶a.ts#1234\n5:", /new text is missing/],
    ["¶a.ts#1234\n9-5!", /ends before it begins/],
    ["¶a.ts#1234\n0!", /counted from 1/],
    ["¶a.ts#1234\nBOF!", /only take/],
  ])("%j is refused", (patch, why) => {
    expect(() => parsePatch(patch)).toThrow(why);
  });
});

describe("applying hunks", () => {
  const apply = (text: string, hunks: Hunk[]) => {
    const sorted = sortHunks(hunks);
    refuseOverlaps(sorted, "f");
    return applyHunks(getFile(text), sorted).bytes.toString("utf8");
  };

  test("numbers are of the text before, and two insertions at one place keep their order", () => {
    const hunks: Hunk[] = [
      { start: 2, end: 2, lines: ["before c 1"] },
      { start: 2, end: 2, lines: ["before c 2"] },
      { start: 2, end: 2, lines: ["after b"], follows: true },
      { start: 0, end: 1, lines: [] },
      { start: 3, end: 4, lines: ["D", "D2"] },
    ];
    expect(apply("a\nb\nc\nd\n", hunks)).toBe("b\nafter b\nbefore c 1\nbefore c 2\nc\nD\nD2\n");
  });

  test("overlaps are refused, and both ranges are named", () => {
    const overlap =
      (...hunks: Hunk[]) =>
      () =>
        apply("a\nb\nc\nd\n", hunks);
    expect(overlap({ start: 0, end: 2, lines: [] }, { start: 1, end: 3, lines: [] })).toThrow(
      /lines 1-2 and lines 2-3/,
    );
    expect(overlap({ start: 1, end: 1, lines: ["x"] }, { start: 0, end: 2, lines: [] })).toThrow(
      /lines 1-2 and an insertion after line 1/,
    );
    expect(
      overlap({ start: 0, end: 4, lines: [] }, { start: 1, end: 2, lines: [] }, { start: 3, end: 4, lines: [] }),
    ).toThrow(/lines 1-4 and line 2/);
  });

  test.each([
    ["a\r\nb", [{ start: 2, end: 2, lines: ["c"], follows: true }], "a\r\nb\r\nc"],
    ["a\r\nb", [{ start: 1, end: 2, lines: [] }], "a"],
    ["a\r\nb", [{ start: 1, end: 2, lines: ["x", "y"] }], "a\r\nx\r\ny"],
    ["a\nb\r\n", [{ start: 0, end: 2, lines: ["x", "y"] }], "x\ny\r\n"],
    ["", [{ start: 0, end: 0, lines: ["x"] }], "x\n"],
    ["a\n", [{ start: 0, end: 1, lines: [] }], ""],
    ["\ufeffa\n", [{ start: 0, end: 0, lines: ["x"] }], "\ufeffx\na\n"],
    ["a\nb", [{ start: 1, end: 2, lines: [""] }], "a\n\n"],
    ["a\r", [{ start: 0, end: 0, lines: ["x"] }], "x\na\r"],
  ])("%j with %j is %j", (before, hunks, after) => {
    expect(apply(before, hunks)).toBe(after);
  });

  const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "é", "\t", "😀"), minLength: 1, maxLength: 4 });
  const files = fc.record({
    lines: fc.array(line, { minLength: 2, maxLength: 8 }),
    ends: fc.array(fc.constantFrom("\n", "\r\n"), { minLength: 8, maxLength: 8 }),
    hasMark: fc.boolean(),
    endsInNewline: fc.boolean(),
  });
  const getText = ({ lines, ends, hasMark, endsInNewline }: typeof files extends fc.Arbitrary<infer T> ? T : never) =>
    (hasMark ? "\ufeff" : "") +
    lines.map((one, at) => one + (at < lines.length - 1 || endsInNewline ? ends[at] : "")).join("");

  test("the lines are known after hunks as if the text had been read again", () => {
    fc.assert(
      fc.property(files, fc.nat(), fc.nat(2), fc.array(line, { maxLength: 3 }), (file, a, size, lines) => {
        const start = a % (file.lines.length + 1);
        const hunk = { start, end: Math.min(file.lines.length, start + size), lines };
        const after = applyHunks(getFile(getText(file)), [hunk]);
        const again = parseTextFile(Buffer.from(after.bytes), "f");
        expect([...after.starts]).toEqual([...again.starts]);
        expect(again.lines).toEqual([...again.starts.keys()].map((at) => after.line(at)));
      }),
      { numRuns: 500 },
    );
  });

  test("an edit and its inverse give the same bytes, whatever the line ends, mark and final line break", () => {
    fc.assert(
      fc.property(
        files,
        fc.nat(),
        fc.nat(),
        fc.array(line, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("insert", "append", "replace", "any"),
        (file, a, b, lines, kind) => {
          // How many lines there were and how each ended is only known of lines that are still there.
          const given = kind === "any" ? { ...file, ends: file.ends.map(() => file.ends[0]!) } : file;
          const text = getText(given);
          const count = given.lines.length;
          const start = a % (kind === "insert" ? count + 1 : count);
          const end = kind === "insert" || kind === "append" ? start : Math.min(count, start + 1 + (b % 3));
          const old = given.lines.slice(start, end);
          const fresh = kind === "replace" ? old.map((_unused, at) => lines[at % lines.length]!) : lines;
          const hunk: Hunk =
            kind === "append"
              ? { start: start + 1, end: start + 1, lines: fresh, follows: true }
              : { start, end, lines: fresh };
          const inverse: Hunk = { start: hunk.start, end: hunk.start + fresh.length, lines: old };
          // A file of one line without a break says nothing about breaks.
          fc.pre(!(kind === "any" && end - start === count && !given.endsInNewline));
          expect(apply(apply(text, [hunk]), [inverse])).toBe(text);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("lines outside the hunks keep every byte", () => {
    fc.assert(
      fc.property(files, fc.nat(), fc.array(line, { maxLength: 3 }), (file, a, lines) => {
        const given = { ...file, endsInNewline: true };
        const start = a % given.lines.length;
        const rows = getText(given).split(/(?<=\n)/);
        const out = apply(getText(given), [{ start, end: start + 1, lines }]).split(/(?<=\n)/);
        const head = rows.slice(0, start);
        const tail = rows.slice(start + 1);
        expect(out.slice(0, start).map(unmarked)).toEqual(head.map(unmarked));
        expect(tail.length === 0 ? [] : out.slice(-tail.length).map(unmarked)).toEqual(tail.map(unmarked));
      }),
    );
  });
  const unmarked = (text: string) => text.replace("\ufeff", "");

  test("UTF-16, zero bytes and invalid UTF-8 are refused with a reason", () => {
    expect(() => parseTextFile(Buffer.from("\ufeffa", "utf16le"), "f")).toThrow(/f is UTF-16 text\. Convert it/);
    expect(() => parseTextFile(Buffer.from([65, 0]), "f")).toThrow(/binary/);
    expect(() => parseTextFile(Buffer.from([65, 0xff, 10]), "f")).toThrow(/not valid UTF-8/);
  });

  test("the diff says what changed, with three lines around it, and is a patch from the one text to the other", () => {
    const lines = "abcdefghijklmnop".split("");
    const hunks = [
      { start: 0, end: 0, lines: ["X"] },
      { start: 10, end: 12, lines: ["Y"] },
    ];
    const before = getFile(lines.join("\n"));
    expect(unifiedDiff("f", changedBlocks(before, applyHunks(before, hunks), hunks))).toEqual({
      diff: "--- f\n+++ f\n@@ -1,3 +1,4 @@\n+X\n a\n b\n c\n@@ -8,8 +9,7 @@\n h\n i\n j\n-k\n-l\n+Y\n m\n n\n o\n",
      firstChangedLine: 1,
    });
    const places = fc.uniqueArray(fc.nat(7), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(files, places, fc.array(line, { maxLength: 2 }), (file, at, fresh) => {
        const old = parseTextFile(bytes(getText(file)), "f");
        const wanted = sortHunks(
          at.filter((start) => start < old.count).map((start) => ({ start, end: start + 1, lines: fresh })),
        );
        const after = applyHunks(old, wanted);
        fc.pre(!old.bytes.equals(after.bytes));
        const { diff } = unifiedDiff("f", changedBlocks(old, after, wanted));
        const from = getText({ ...file, hasMark: false });
        const to = after.bytes.toString("utf8");
        expect(applyPatch(from, diff, { autoConvertLineEndings: false })).toBe(file.hasMark ? to.slice(1) : to);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a place with too many differences to compare", () => {
  test.each(["", "\n"])(
    "is shown whole, a valid patch all the same, and names the line where it begins (end %j)",
    (end) => {
      const lines = Array.from({ length: 800 }, (_unused, at) => `line ${at}`);
      const before = getFile(lines.join("\n") + end);
      const hunks = [
        { start: 10, end: 11, lines: ["one"] },
        { start: 100, end: 790, lines: lines.map((_line, at) => `other ${at}`) },
        { start: 799, end: 800, lines: ["last"] },
      ];
      for (const wanted of [hunks, hunks.slice(1)]) {
        const after = applyHunks(before, wanted);
        const { diff, firstChangedLine } = unifiedDiff("f", changedBlocks(before, after, wanted));
        expect(applyPatch(before.bytes.toString(), diff)).toBe(after.bytes.toString());
        expect(firstChangedLine).toBe(wanted[0]!.start + 1);
        expect(diff).toContain("\n line 99\n-line 100\n-line 101\n");
        expect(diff).toContain("\n-line 799\n");
      }
    },
  );
});

describe("snapshots", () => {
  const show = (store: ReturnType<typeof createSnapshots>, path: string, text: string) =>
    store.show({ path, file: getFile(text), numbers: [0] });

  test("four versions of a path are kept, the newest first", () => {
    const store = createSnapshots();
    for (const text of ["1\n", "2\n", "3\n", "4\n", "5\n", "3\n"]) show(store, "p", text);
    expect(store.versions("p").map(({ text }) => text?.toString())).toEqual(["3\n", "5\n", "4\n", "2\n"]);
  });

  test("thirty paths are kept, those used last", () => {
    const store = createSnapshots();
    for (let at = 0; at < 31; at++) {
      show(store, `p${at}`, "x");
      show(store, "p0", "x");
    }
    expect(store.versions("p0")).toHaveLength(1);
    expect(store.versions("p1")).toHaveLength(0);
    expect(store.versions("p2")).toHaveLength(1);
  });

  test("texts are bounded together, and the one in use stays", () => {
    const store = createSnapshots({ maxLength: 100 });
    show(store, "p", "a".repeat(60));
    show(store, "q", "b".repeat(60));
    expect(store.versions("p")).toHaveLength(0);
    show(store, "q", "c".repeat(60));
    expect(store.versions("q").map(({ text }) => text?.toString()[0])).toEqual(["c"]);
    show(store, "q", "d".repeat(600));
    expect(store.versions("q")).toHaveLength(1);
  });

  test("of a text that is too long only the lines that were shown are kept", () => {
    const store = createSnapshots({ maxTextLength: 10 });
    const version = store.show({ path: "p", file: getFile("aaaa\nbbbb\ncccc\n"), numbers: [1] });
    expect(version.text).toBeUndefined();
    expect([...version.shown]).toEqual([undefined, "bbbb"]);
  });

  test("after an own edit, lines that did not move still count as shown", () => {
    const store = createSnapshots();
    const [first, second, third] = ["a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nB\nX\nc\nd\n"].map(getFile);
    store.show({ path: "p", file: first!, numbers: [0, 1, 2, 3] });
    const same = store.edited("p", first!, second!, [{ start: 1, end: 2, lines: ["B"] }]);
    expect([...same.shown]).toEqual(["a", undefined, "c", "d"]);
    const moved = store.edited("p", second!, third!, [{ start: 2, end: 2, lines: ["X"] }]);
    expect([...moved.shown]).toEqual(["a", undefined, undefined, undefined]);
  });
});

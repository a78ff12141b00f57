/** Tests laws that every edit keeps, with random texts and edits. */
import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { summariseChanges } from "../src/files/diff.ts";
import { applyChanges, planEdits, type TextEdit } from "../src/files/match.ts";
import { decodeText, encodeText } from "../src/files/text-file.ts";
import { one, edited } from "./edit-kit.ts";

const planned = (source: string, edits: TextEdit[]) =>
  applyChanges(
    source,
    planEdits(source, edits, "file").map(({ change }) => change),
  );

// Every line holds a token of its own, so that every line is unique and stays findable.
const words = fc.string({
  unit: fc.constantFrom("a", "b", " ", "\t", "“", "-", "–", "\u00a0", "é", "😀", "{"),
  maxLength: 8,
});
const toLines = (mark: string, min: number, max: number) =>
  fc
    .array(words, { minLength: min, maxLength: max })
    .map((all) => all.map((text, at) => `${text}<${mark}${at}>${text}|`));
const range = fc.tuple(fc.nat(), fc.nat());

const toSpan = (count: number, [first, size]: readonly [number, number]) => {
  const from = first % count;
  return { from, to: from + 1 + (size % (count - from)) };
};

const joined = (lines: readonly string[], breaks: readonly string[]) =>
  lines.map((line, at) => (at === lines.length - 1 ? line : `${line}${breaks[at % breaks.length]!}`)).join("");

describe("laws", () => {
  const rawByte = fc.constantFrom<Buffer>(Buffer.alloc(0), Buffer.from([0xe9]), Buffer.from([0xf0, 0x9f, 0x98]));

  test("an edit and its inverse give the same bytes again: any line break, with or without mark and final break", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.constantFrom("", "\ufeff"),
        fc.boolean(),
        rawByte,
        toLines("o", 1, 8),
        toLines("n", 1, 8),
        range,
        async (lineBreak, mark, isClosed, raw, lines, fresh, at) => {
          const { from, to } = toSpan(lines.length, at);
          const whole = Buffer.concat([
            Buffer.from(`${mark}${lines.join(lineBreak)}`),
            Buffer.from(`${lineBreak}end`),
            raw,
            Buffer.from(isClosed ? lineBreak : ""),
          ]);
          const [oldText, newText] = [lines.slice(from, to).join("\n"), fresh.join("\n")];
          const there = await edited(whole, one(oldText, newText));
          expect(there.bytes.equals(whole)).toBe(false);
          const back = await edited(there.bytes, one(newText, oldText));
          expect(back.bytes.equals(whole)).toBe(true);
        },
      ),
      { numRuns: process.env["TAU_LONG"] ? 50 : 20 },
    );
  });

  test("mixed line breaks come back too when as many lines go in as came out", async () => {
    const breaks = fc.array(fc.constantFrom("\n", "\r\n", "\r"), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(breaks, toLines("o", 1, 10), range, async (all, lines, at) => {
        const { from, to } = toSpan(lines.length, at);
        const whole = Buffer.from(joined([...lines, "end"], all));
        const oldText = lines.slice(from, to).join("\n");
        const newText = oldText.replaceAll("<o", "<new");
        const there = await edited(whole, one(oldText, newText));
        const back = await edited(there.bytes, one(newText, oldText));
        expect(back.bytes.equals(whole)).toBe(true);
      }),
      { numRuns: process.env["TAU_LONG"] ? 50 : 20 },
    );
  });

  test("whatever is replaced, the bytes before and after it stay, and the rest is the new text", () => {
    const breaks = fc.array(fc.constantFrom("\n", "\r\n", "\r"), { minLength: 1, maxLength: 6 });
    const plain = (text: string) => text.replace(/\r\n?/g, "\n");
    fc.assert(
      fc.property(breaks, toLines("o", 1, 10), toLines("n", 0, 6), range, (all, lines, fresh, at) => {
        const { from, to } = toSpan(lines.length, at);
        const source = joined(lines, all);
        const start = joined([...lines.slice(0, from), ""], all).length;
        const end = joined(lines.slice(0, to), all).length;
        const [before, after] = [source.slice(0, start), source.slice(end)];
        const newText = fresh.join("\n");
        // Nothing at all between a CR and an LF is refused.
        fc.pre(newText !== "" || !before.endsWith("\r") || !after.startsWith("\n"));
        const result = planned(source, one(lines.slice(from, to).join("\n"), newText));
        expect(result.startsWith(before)).toBe(true);
        expect(result.endsWith(after)).toBe(true);
        expect(plain(result.slice(start, result.length - after.length))).toBe(newText);
      }),
      { numRuns: 2_000 },
    );
  });

  test("no break is lost, made or changed outside the match, however CR and LF stand beside each other", () => {
    const piece = fc.constantFrom("\r", "\n", "\r\n", "a", "b");
    const text = (max: number) => fc.array(piece, { maxLength: max }).map((pieces) => pieces.join(""));
    const fresh = fc.array(fc.constantFrom("\n", "c", "<", ">"), { maxLength: 4 }).map((pieces) => pieces.join(""));
    const plain = (given: string) => given.replace(/\r\n?/g, "\n");
    let refused = 0;
    fc.assert(
      fc.property(text(4), text(3), text(4), fresh, (before, middle, after, newText) => {
        const oldText = `<${middle}>`;
        const source = `${before}${oldText}${after}`;
        fc.pre(plain(oldText) !== newText);
        let result: string;
        try {
          result = planned(source, one(plain(oldText), newText));
        } catch (error) {
          expect(error).toMatchObject({
            code: "invalid_input",
            message: expect.stringMatching(/join the CR/) as string,
          });
          expect([newText, before.at(-1), after[0]]).toEqual(["", "\r", "\n"]);
          refused++;
          return;
        }
        expect(result.startsWith(before)).toBe(true);
        expect(result.endsWith(after)).toBe(true);
        expect(plain(result)).toBe(`${plain(before)}${newText}${plain(after)}`);
      }),
      { numRuns: 5_000 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  test("an edit inside lines, over empty ones, and its inverse give the same bytes again", () => {
    const lineBreak = fc.constantFrom("\n", "\r\n", "\r");
    const text = (max: number) => fc.array(fc.constantFrom("\n", "\n", "a", "b"), { maxLength: max });
    fc.assert(
      fc.property(
        lineBreak,
        fc.constantFrom("", "\ufeff"),
        text(5),
        text(3),
        text(5),
        text(3),
        (ending, mark, ...parts) => {
          const [before, middle, after, fresh] = parts.map((pieces) => pieces.join(""));
          const source = `${mark}${before}<${middle}>${after}\nz`.replaceAll("\n", ending);
          const [oldText, newText] = [`<${middle}>`, `{${fresh}}`];
          const there = planned(source, one(oldText, newText));
          expect(there).toBe(`${mark}${before}${newText}${after}\nz`.replaceAll("\n", ending));
          expect(planned(there, one(newText, oldText))).toBe(source);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test("a match that is only normalised changes what an exact one would, and nothing else", () => {
    const spelled = (text: string) =>
      text
        .replaceAll("“", '"')
        .replaceAll("–", "-")
        .replaceAll("\u00a0", " ")
        .replace(/[ \t]+$/gm, "");
    fc.assert(
      fc.property(toLines("o", 3, 10), range, (lines, at) => {
        const { from, to } = toSpan(lines.length, at);
        const blanks = lines.map((line, index) => (index % 2 === 0 ? `${line}\t ` : line));
        const oldText = spelled(lines.slice(from, to).join("\n"));
        const newText = oldText.replace(`<o${from}>`, "<changed>");
        // An exact match changes nothing else; a normalised one leaves no blanks at the end of the line it changes.
        const isExact = blanks.join("\n").includes(oldText);
        const change = (line: string) => (isExact || !line.includes(`<o${from}>`) ? line : line.replace(/[\t ]+$/, ""));
        const changed = blanks.map((line) => change(line).replace(`<o${from}>`, "<changed>"));
        expect(planned(blanks.join("\n"), one(oldText, newText))).toBe(changed.join("\n"));
      }),
      { numRuns: 2_000 },
    );
  });

  test("any bytes, read as text and written again, are the same bytes", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.array(fc.constantFrom(0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0xff), {
        maxLength: 20,
      }),
    );
    fc.assert(
      fc.property(bytes, (all) => {
        const buffer = Buffer.from(all);
        expect(encodeText(decodeText(buffer)).equals(buffer)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test("the diff is a patch that leads from the old text to the new, and names the first line that differs", () => {
    const breaks = fc.array(fc.constantFrom("\n", "\n", "\r\n"), { minLength: 1, maxLength: 4 });
    const spots = fc.uniqueArray(fc.nat({ max: 39 }), { minLength: 1, maxLength: 5 });
    const fresh = fc.constantFrom("", "new", "new\nlines", "\nnew\n", "1\n2\n3\n4\n5\n6");
    fc.assert(
      fc.property(
        breaks,
        spots,
        fc.array(fresh, { minLength: 5, maxLength: 5 }),
        fc.boolean(),
        (all, at, texts, isClosed) => {
          const lines = Array.from({ length: 40 }, (_unused, index) => `<${index}>`);
          const source = joined(isClosed ? [...lines, ""] : lines, all);
          const edits = at.map((index, n) => ({ oldText: `<${index}>`, newText: texts[n]! }));
          const changes = planEdits(source, edits, "f").map(({ change }) => change);
          const result = applyChanges(source, changes);
          const { diff, firstChangedLine } = summariseChanges(source, changes, "f");
          expect(applyPatch(source, diff, { autoConvertLineEndings: false })).toBe(result);
          const [was, is] = [source.split("\n"), result.split("\n")];
          expect(firstChangedLine).toBe(is.findIndex((line, n) => line !== was[n]) + 1 || is.length + 1);
        },
      ),
      { numRuns: 500 },
    );
  });
});

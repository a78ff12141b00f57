import fc from "fast-check";
import { expect, test } from "vitest";
import { splitText } from "./split-text.ts";

test("a short text is one message, and an empty one none", () => {
  expect(splitText("Hello.\n", 100)).toEqual(["Hello."]);
  expect(splitText(" \n ", 100)).toEqual([]);
});

test("a long text is cut between paragraphs", () => {
  const paragraphs = ["a", "b", "c"].map((letter) => letter.repeat(45));
  expect(splitText(paragraphs.join("\n\n"), 100)).toEqual([`${paragraphs[0]}\n\n${paragraphs[1]}`, paragraphs[2]]);
});

test("without paragraphs it is cut between lines, and without lines between words", () => {
  const lines = ["a", "b", "c"].map((letter) => letter.repeat(45));
  expect(splitText(lines.join("\n"), 100)).toEqual([`${lines[0]}\n${lines[1]}`, lines[2]]);
  expect(splitText(lines.join(" "), 100)).toEqual([`${lines[0]} ${lines[1]}`, lines[2]]);
});

test("a code block that is cut is closed, and opened again with its language", () => {
  const code = Array.from({ length: 8 }, (_, index) => `const value${index} = ${index};`);
  const parts = splitText(["Look:", "```ts", ...code, "```", "Done."].join("\n"), 120);
  expect(parts.length).toBeGreaterThan(1);
  expect(parts[0]).toMatch(/^Look:\n```ts\n[^`]*\n```$/);
  expect(parts[1]).toMatch(/^```ts\n/);
  expect(parts.at(-1)).toMatch(/```\nDone\.$/);
  const shown = parts.join("\n").split("\n");
  expect(shown.filter((line) => line.startsWith("const"))).toEqual(code);
});

test("a block of tildes that has backticks inside stays one block", () => {
  const text = ["~~~", "```", "x ".repeat(60).trim(), "```", "~~~"].join("\n");
  for (const part of splitText(text, 90)) expect(part.match(/^~~~/gm)?.length).toBe(2);
});

/** Counts fences as Markdown does, line by line. */
function isClosed(text: string): boolean {
  let open: string | undefined;
  for (const line of text.split("\n")) {
    const [, marker, info = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (marker === undefined) continue;
    if (open === undefined) open = marker[0] === "`" && info.includes("`") ? undefined : marker;
    else if (info.trim() === "" && marker[0] === open[0] && marker.length >= open.length) open = undefined;
  }
  return open === undefined;
}

const plainWords = ["alpha ", "beta ", "\n", "\n\n", "😀", "x".repeat(70), "`a` "];
const toTexts = (words: readonly string[]) =>
  fc.array(fc.constantFrom(...words), { maxLength: 80 }).map((pieces) => pieces.join(""));
const lengths = fc.integer({ min: 60, max: 400 });

test("no message is too long, none is empty, and none splits a character", () => {
  const texts = toTexts([...plainWords, "```ts\n", "```\n", "~~~~\n"]);
  fc.assert(
    fc.property(texts, lengths, (text, maxLength) => {
      for (const part of splitText(text, maxLength)) {
        expect(part.length).toBeLessThanOrEqual(maxLength);
        expect(part.trim()).not.toBe("");
        expect(part.isWellFormed()).toBe(true);
      }
    }),
  );
});

test("nothing but white space is lost", () => {
  const squeeze = (text: string) => text.replaceAll(/\s/g, "");
  fc.assert(
    fc.property(toTexts(plainWords), lengths, (text, maxLength) => {
      expect(squeeze(splitText(text, maxLength).join(""))).toBe(squeeze(text));
    }),
  );
});

test("a block of code that was complete is complete in every message", () => {
  const lines = fc.array(fc.constantFrom("alpha", "x".repeat(50), "", "beta gamma"), { maxLength: 60 });
  fc.assert(
    fc.property(lines, fc.integer({ min: 80, max: 300 }), (code, maxLength) => {
      const text = ["Before.", "```js", ...code, "```", "After."].join("\n");
      for (const part of splitText(text, maxLength)) expect(isClosed(part), part).toBe(true);
    }),
  );
});

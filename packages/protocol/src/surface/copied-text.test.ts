import { expect, test } from "vitest";
import { chooseCopiedText, describeCodeBlock } from "./copied-text.ts";

const blocks = [
  { language: "sh", text: "npm test" },
  { language: "", text: "second" },
];

test.each([
  ["", "whole", "Copied."],
  ["1", "npm test", "Copied block 1 of 2."],
  ["2", "second", "Copied block 2 of 2."],
])("/copy %s copies %j", (argument, text, message) => {
  expect(chooseCopiedText("whole", blocks, argument)).toEqual({ kind: "copied", text, message });
});

test.each(["0", "3", "-1", "1.5", "x", "1 2"])("/copy %s says which blocks there are", (argument) => {
  const message = "The last answer has 2 blocks of code: /copy 1 to /copy 2.";
  expect(chooseCopiedText("whole", blocks, argument)).toEqual({ kind: "refused", message });
});

test("without a block, and with one, that is said", () => {
  expect(chooseCopiedText("a", [], "1").message).toBe("The last answer has no block of code.");
  expect(chooseCopiedText("a", blocks.slice(1), "2").message).toBe("The last answer has 1 block of code: /copy 1.");
});

test("a block is described by its language and its first line", () => {
  expect(describeCodeBlock({ language: "ts", text: "\nconst a = 1;\nb" })).toBe("ts: const a = 1;");
  expect(describeCodeBlock({ language: "", text: "x".repeat(100) })).toBe(`${"x".repeat(59)}…`);
});

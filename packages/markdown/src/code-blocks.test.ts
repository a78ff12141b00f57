import fc from "fast-check";
import { expect, test } from "vitest";
import { listCodeBlocks } from "./code-blocks.ts";

test("blocks are listed in their order, also those in lists and quotes, without their fences", () => {
  const text = [
    "Run `this`:",
    "```sh\nnpm test\nnpm run build\n```",
    "- then\n  ~~~ts title=x\n  const a = 1;\n    a++;\n  ~~~",
    "> ```\n> quoted\n> ```",
    "Text.\n\n    indented",
  ].join("\n\n");
  expect(listCodeBlocks(text)).toEqual([
    { language: "sh", text: "npm test\nnpm run build" },
    { language: "ts", text: "const a = 1;\n  a++;" },
    { language: "", text: "quoted" },
    { language: "", text: "indented" },
  ]);
});

test("an answer that was cut inside of a block has that block", () => {
  expect(listCodeBlocks("```js\nlet a")).toEqual([{ language: "js", text: "let a" }]);
});

test("a text that is too long to be parsed has no blocks, and no text makes it fail", () => {
  expect(listCodeBlocks("word ".repeat(5_000))).toEqual([]);
  const pieces = fc.array(fc.constantFrom("```", "\n", "> ", "- ", "    ", "a", "`", "~~~"), { maxLength: 40 });
  fc.assert(
    fc.property(pieces, (parts) => {
      for (const { text } of listCodeBlocks(parts.join(""))) expect(typeof text).toBe("string");
    }),
  );
});

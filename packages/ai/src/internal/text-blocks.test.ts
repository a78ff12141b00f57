import { expect, test } from "vitest";
import { joinTextBlocks } from "./text-blocks.ts";

test("only text counts, and blocks that are not valid are left out", () => {
  expect(joinTextBlocks("as it is\n")).toBe("as it is\n");
  expect(joinTextBlocks([])).toBe("");
  const blocks = [
    { type: "text", text: "one" },
    { type: "image", data: "" },
    null,
    { type: "text" },
    { type: "thinking", text: "no" },
    { type: "text", text: "" },
    { type: "text", text: "two" },
  ];
  expect(joinTextBlocks(blocks)).toBe("one\n\ntwo");
});

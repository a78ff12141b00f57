import { expect, test } from "vitest";
import { formatSize, truncateHead, truncateLine, truncateTail } from "./truncate.ts";

test("a text within both limits is not cut; what follows the last break counts as a line", () => {
  expect(truncateHead("a\nb\n")).toMatchObject({
    content: "a\nb\n",
    truncated: false,
    truncatedBy: null,
    totalLines: 3,
  });
  expect(truncateTail("")).toMatchObject({ content: "", truncated: false, totalLines: 1, outputLines: 1 });
});

test("whole lines are kept, from the beginning or from the end", () => {
  expect(truncateHead("a\nb\nc", { maxLines: 2 })).toMatchObject({
    content: "a\nb",
    truncatedBy: "lines",
    outputLines: 2,
    totalLines: 3,
  });
  expect(truncateTail("aaaa\nbbbb\ncccc", { maxBytes: 9 })).toMatchObject({
    content: "bbbb\ncccc",
    truncatedBy: "bytes",
    outputBytes: 9,
  });
});

test("a line that is too long alone is left out at the beginning and cut at the end", () => {
  expect(truncateHead("ä".repeat(10), { maxBytes: 5 })).toMatchObject({ content: "", firstLineExceedsLimit: true });
  expect(truncateTail("ä".repeat(10), { maxBytes: 5 })).toMatchObject({ content: "ää", lastLinePartial: true });
});

test("sizes and lines are short", () => {
  expect([100, 2048, 3 * 1024 ** 2].map(formatSize)).toEqual(["100B", "2.0KB", "3.0MB"]);
  expect(truncateLine("abcdef", 3)).toEqual({ text: "abc... [truncated]", wasTruncated: true });
});

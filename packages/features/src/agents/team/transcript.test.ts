import type { AgentMessage } from "@tau/agent";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatPage, toTranscript } from "./transcript.ts";

test("a conversation is lines with marks, and long results are shortened", () => {
  const messages = [
    { role: "user", content: "Look.\nNow.", timestamp: 0 },
    { role: "assistant", content: [{ type: "toolCall", id: "a", name: "ls", arguments: { path: "." } }] },
    { role: "toolResult", content: [{ type: "text", text: Array.from({ length: 12 }, () => "x").join("\n") }] },
    { role: "assistant", content: [{ type: "text", text: "y".repeat(500) }] },
  ] as unknown as AgentMessage[];
  const lines = toTranscript(messages);
  expect(lines.slice(0, 4)).toEqual(["> Look.", "> Now.", '* ls {"path":"."}', "  x"]);
  expect(lines.at(-2)).toBe("  (2 more lines)");
  expect(lines.at(-1)).toBe(`${"y".repeat(400)}…`);
});

test("pages from the first line on are the whole transcript, and the last page has its end", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ maxLength: 500 }).map((line) => line.replaceAll("\n", " ")),
        { minLength: 1, maxLength: 600 },
      ),
      (lines) => {
        const read: string[] = [];
        for (let from = 1; from <= lines.length;) {
          const page = formatPage(lines, from);
          const [, last] = /^\[Lines \d+ to (\d+) of /.exec(page)!;
          read.push(...page.split("\n").slice(1));
          from = Number(last) + 1;
        }
        expect(read).toEqual(lines);
        expect(formatPage(lines, undefined).endsWith(lines.at(-1)!)).toBe(true);
        expect(formatPage(lines, undefined).length).toBeLessThan(9_000);
      },
    ),
  );
});

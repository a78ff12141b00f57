/** Widths are those of a terminal emulator with grapheme clusters. */
import { describe, expect, test } from "vitest";
import { visibleWidth } from "../src/index.ts";
import { VirtualTerminal } from "../src/testing/index.ts";

const rows = 200;
const terminal = await VirtualTerminal.create(80, rows);

async function measure(text: string): Promise<number> {
  terminal.write(`\x1bc${text}`);
  return (await terminal.getCursor()).x;
}

describe("the width of", () => {
  test.each([
    "plain",
    "naïve",
    "e\u0301a\u0300\u0301",
    "日本語、テキスト。",
    "한국어",
    "각",
    "नमस्ते",
    "สวัสดี",
    "مرحبا",
    "שלום",
    "👨‍👩‍👧‍👦",
    "👍🏽",
    "🇩🇪🇫🇷",
    "❤️",
    "☺",
    "1️⃣",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "Ａｱ",
    "—…·",
    "⌚",
    "𝔸",
    "\u3000",
  ])("%s", async (text) => {
    expect(visibleWidth(text)).toBe(await measure(text));
  });

  test("every letter of the scripts that people write in", async () => {
    const ranges = [
      [0x20, 0x7e],
      [0xa0, 0xac],
      [0xae, 0x5ff],
      [0x606, 0x61b],
      [0x620, 0x6dc],
      [0x6de, 0x70e],
      [0x710, 0x74a],
      [0x1e00, 0x1fff],
      [0x2010, 0x2027],
      [0x2030, 0x205e],
      [0x20a0, 0x262f],
      [0x2800, 0x28ff],
      [0x3000, 0x3029],
      [0x3031, 0x3096],
      [0x30a0, 0x3163],
      [0x4e00, 0x4fff],
      [0xac00, 0xadff],
      [0xff01, 0xff9d],
      [0x1f300, 0x1f3fa],
      [0x1f400, 0x1f64f],
      [0x1f900, 0x1f978],
    ] as const;
    const differences: string[] = [];
    const codes = ranges.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_unused, at) => first + at),
    );
    for (let start = 0; start < codes.length; start += rows) {
      const batch = codes.slice(start, start + rows).map((code) => `x${String.fromCodePoint(code)}`);
      terminal.write(`\x1bc${batch.map((text) => `${text}|`).join("\r\n")}`);
      await terminal.flush();
      const wrong = batch.filter((text, row) => terminal.getCell(visibleWidth(text), row)?.getChars() !== "|");
      differences.push(...wrong);
    }
    expect(differences).toEqual([]);
  });
});

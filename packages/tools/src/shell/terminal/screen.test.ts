/** Tests screens against xterm's own. */
import xterm from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Screen } from "./screen.ts";

const size = { columns: 12, rows: 6 };

async function showInXterm(parts: readonly string[]): Promise<{ text: string; row: number; column: number }> {
  const terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, scrollback: 0, allowProposedApi: true });
  for (const part of parts) await new Promise<void>((resolve) => terminal.write(part, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: size.rows }, (_unused, row) =>
    (active.getLine(active.baseY + row)?.translateToString() ?? "").trimEnd(),
  );
  const column = Math.min(active.cursorX, size.columns - 1);
  const shown = { text: lines.join("\n").trimEnd(), row: active.cursorY, column };
  terminal.dispose();
  return shown;
}

function show(parts: readonly string[]) {
  const screen = new Screen(size);
  for (const part of parts) screen.push(Buffer.from(part));
  return { text: screen.toText(), ...screen.cursor };
}

const small = fc.integer({ min: 0, max: 14 });
const sequence = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-zA-Z ~]{1,15}$/) },
  { weight: 2, arbitrary: fc.constantFrom("漢", "字", "é", "e\u0301", "ü", "│") },
  { weight: 3, arbitrary: fc.constantFrom("\r\n", "\n", "\r", "\b", "\t", "\x0b", "\x07") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1bM", "\x1b(0", "\x1b(B", "\x0e", "\x0f"),
  },
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.constantFrom(..."ABCDEFGHJKLMPSTXZ@`bdefr"), small, small)
      .map(([final, a, b]) => ("Hfr".includes(final) ? `\x1b[${a};${b}${final}` : `\x1b[${a || ""}${final}`)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("?1049", "?47", "?6", "?7", "4", "?25"), fc.constantFrom("h", "l"))
      .map(([mode, end]) => `\x1b[${mode}${end}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "\x1b[1;31m",
      "\x1b]0;title\x07",
      "\x1bPabc\x1b\\",
      "\x1b[38;5;1m",
      "\x1b[>c",
      "\x1b[?2004h",
    ),
  },
);

test("a screen shows what xterm shows, whatever is written", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sequence, { maxLength: 30 }), async (parts) => {
      expect(show(parts)).toEqual(await showInXterm(parts));
    }),
    { numRuns: process.env["TAU_LONG"] ? 20_000 : 500 },
  );
});

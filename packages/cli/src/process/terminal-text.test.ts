import fc from "fast-check";
import { expect, test } from "vitest";
import { clearLine, paint, toTerminalText } from "./terminal-text.ts";

test("no text controls a terminal, and what is shown of it stays", () => {
  expect(toTerminalText("a\u001b]52;c;aGk=\u0007b\u009b2Jc\u007f\td\r\ne\rf\n")).toBe(
    "a␛]52;c;aGk=␇b\ufffd2Jc␡\td\ne␍f\n",
  );
});

test("no text changes the direction of what is shown", () => {
  const marks = [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x206a];
  for (const mark of marks) expect(toTerminalText(`a${String.fromCodePoint(mark)}b`)).toBe("a\ufffdb");
  expect(toTerminalText("שלום, 👩‍👩‍👧 and e\u0301\n")).toBe("שלום, 👩‍👩‍👧 and e\u0301\n");
});

test("a terminal that can only print lines gets no sequence", () => {
  expect(clearLine({ TERM: "dumb" })).toBe("");
});

test("tau's own sequences reach the terminal, and those in the text between them do not", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xff)), (codes) => {
      const text = String.fromCharCode(...codes);
      const shown = toTerminalText(`${clearLine({})}${paint(text, "bold")}`);
      expect(shown.startsWith("\u001b[G\u001b[2K\u001b[1m")).toBe(true);
      expect(shown.endsWith("\u001b[22m")).toBe(true);
      // oxlint-disable-next-line no-control-regex -- they are looked for
      expect(shown.slice(11, -5)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});

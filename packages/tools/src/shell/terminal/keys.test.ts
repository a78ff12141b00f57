import { expect, test } from "vitest";
import { parseWritten, toApplicationKey } from "./keys.ts";

const toBytes = (written: string) =>
  parseWritten(written)
    .parts.map((part) => (part.kind === "text" ? part.text : part.bytes))
    .join("");

test.each([
  ["ls -l<enter>", "ls -l\r"],
  ["one\ntwo\r\n", "one\rtwo\r"],
  ["a\tb<tab>", "a\tb\t"],
  ["<ctrl-c><CTRL-D><ctrl-\\><esc>", "\x03\x04\x1c\x1b"],
  ["<up><pagedown><f5><alt-x>", "\x1b[A\x1b[6~\x1b[15~\x1bx"],
  ["a<b> <lt>enter> <-> <>", "a<b> <enter> <-> <>"],
  ["", ""],
])("%j is written as %j", (written, bytes) => {
  expect(toBytes(written)).toBe(bytes);
});

test.each([
  ["\x1b[A", "control characters by their keys"],
  ["\x03", "<ctrl-c>"],
  ["<201x50>", "20x5 to 200x50"],
  ["<80x51>", "not 80x51"],
  ["<19x10>", "20x5"],
])("%j is refused: %s", (written, reason) => {
  expect(() => parseWritten(written)).toThrow(reason);
});

test("a size is no text, and the last one counts", () => {
  expect(parseWritten("<80x24>ls<100x50>")).toEqual({
    parts: [{ kind: "text", text: "ls" }],
    size: { columns: 100, rows: 50 },
  });
});

test("programs that ask for it get other arrows, and no other keys", () => {
  expect(["\x1b[A", "\x1b[H", "\x1b[5~", "x"].map(toApplicationKey)).toEqual(["\x1bOA", "\x1bOH", "\x1b[5~", "x"]);
});

test("a text that is too long to be judged is refused", () => {
  expect(() => parseWritten("x".repeat(8_193))).toThrow("at most 8192");
});

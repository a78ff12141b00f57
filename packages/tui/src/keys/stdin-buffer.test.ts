import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { StdinBuffer, type StdinBufferOptions } from "./stdin-buffer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(options: StdinBufferOptions = {}): { buffer: StdinBuffer; events: string[] } {
  const buffer = new StdinBuffer(options);
  const events: string[] = [];
  buffer.on("data", (data) => events.push(data));
  buffer.on("paste", (text) => events.push(`paste:${text}`));
  return { buffer, events };
}

/** The events of pieces that come one after the other, and then a long pause. */
function read(...pieces: (string | Buffer)[]): string[] {
  const { buffer, events } = open();
  for (const piece of pieces) buffer.process(piece);
  vi.advanceTimersByTime(5_000);
  return events;
}

const complete: Record<string, string[]> = {
  abc: ["a", "b", "c"],
  "日😀é": ["日", "😀", "é"],
  "\r\n\t\x7f\x03": ["\r", "\n", "\t", "\x7f", "\x03"],
  "\x1ba\x1b😀\x1bXa": ["\x1ba", "\x1b😀", "\x1bX", "a"],
  "\x1b[A\x1b[1;5Bq": ["\x1b[A", "\x1b[1;5B", "q"],
  "\x1bOA\x1bOBq": ["\x1bOA", "\x1bOB", "q"],
  "\x1b[<35;20;5mabc": ["\x1b[<35;20;5m", "a", "b", "c"],
  "\x1b[M !!x": ["\x1b[M !!", "x"],
  "\x1b[3$x": ["\x1b[3$", "x"],
  "\x1b[?2026;2$y": ["\x1b[?2026;2$y"],
  "\x1b[[Ax\x1b[[5~": ["\x1b[[A", "x", "\x1b[[5~"],
  "\x1b]11;rgb:0/0/0\x07a": ["\x1b]11;rgb:0/0/0\x07", "a"],
  "\x1b]11;rgb:0/0/0\x1b\\a": ["\x1b]11;rgb:0/0/0\x1b\\", "a"],
  "\x1bP>|term\x1b\\a": ["\x1bP>|term\x1b\\", "a"],
  "\x1b_Gi=1;OK\x1b\\a": ["\x1b_Gi=1;OK\x1b\\", "a"],
  "\x1b\x1b[27;1:3u": ["\x1b", "\x1b[27;1:3u"],
  "\x1b\x1bx": ["\x1b\x1b", "x"],
  "\x1b[1;\x1b[A": ["\x1b[1;", "\x1b[A"],
  "\x1b[1\x03": ["\x1b[1", "\x03"],
  "\x1b]0;x\x1b[A": ["\x1b]0;x", "\x1b[A"],
  "\x1b[200~a\x1b[31m\r\x1b[201~x": ["paste:a\x1b[31m\r", "x"],
  "\x1b[200~\x1b[201~\x1b[200~b\x1b[201~": ["paste:", "paste:b"],
  "\x1b[200~a\x1b[200~b\x1b[201~c\x1b[201~": ["paste:a\x1b[200~b", "c", "\x1b[201~"],
};

test("input is cut into characters, keys, answers and pastes", () => {
  for (const [input, events] of Object.entries(complete)) expect([input, read(input)]).toEqual([input, events]);
});

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });

function cut(bytes: Buffer, sizes: number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let index = 0, turn = 0; index < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(bytes.subarray(index, index + size));
    index += size;
  }
  return pieces;
}

const fragments = fc.oneof(
  fc.constantFrom(
    ...Object.keys(complete),
    "\x1b",
    "\x1b[",
    "\x1b]",
    "\x1bO",
    "\x1b[200~",
    "\x1b[201~",
    "[",
    "~",
    "\\",
  ),
  fc.string({ unit: "grapheme", maxLength: 5 }),
  fc.string({
    unit: fc.constantFrom("\x1b", "[", "]", "O", "M", "$", "1", ";", "?", "\x07", "\\", "é", "😀"),
    maxLength: 8,
  }),
);
const inputs = fc.array(fragments, { minLength: 1, maxLength: 12 }).map((parts) => Buffer.from(parts.join("")));

test("the same bytes give the same events wherever they are cut", () => {
  fc.assert(
    fc.property(inputs, cuts, (bytes, sizes) => {
      fc.pre(bytes.length > 0);
      expect(read(...cut(bytes, sizes))).toEqual(read(bytes));
    }),
    { numRuns: 2_000 },
  );
});

test("a character that is cut in the middle of a string comes whole", () => {
  expect(read("a\ud83d", "\ude00b")).toEqual(["a", "😀", "b"]);
});

test("no character is lost and none changes its place", () => {
  fc.assert(
    fc.property(inputs, cuts, (bytes, sizes) => {
      const input = `${bytes}\x1b[201~`;
      const { buffer } = open();
      let output = "";
      buffer.on("data", (data) => (output += data));
      buffer.on("paste", (text) => (output += `\x1b[200~${text}\x1b[201~`));
      for (const piece of cut(Buffer.from(input), sizes)) buffer.process(piece);
      vi.advanceTimersByTime(5_000);
      expect(output).toBe(input);
    }),
    { numRuns: 2_000 },
  );
});

describe("what is not complete", () => {
  test("waits: Escape for its own time, a sequence longer, and an answer of the terminal longest", () => {
    const table: [string, number][] = [
      ["\x1b", 10],
      ["\x1b\x1b", 10],
      ["\x1b[", 50],
      ["\x1b]", 50],
      ["\x1b[1;5", 50],
      ["\x1b[<35", 50],
      ["\x1b]11;rgb:ff", 1_000],
      ["\x1b[?6", 1_000],
      ["\x1bP>|te", 1_000],
    ];
    for (const [data, waitMs] of table) {
      const { buffer, events } = open();
      buffer.process(data);
      vi.advanceTimersByTime(waitMs - 1);
      expect([data, events, buffer.getBuffer()]).toEqual([data, [], data]);
      vi.advanceTimersByTime(1);
      expect([data, events, buffer.getBuffer()]).toEqual([data, [data], ""]);
    }
  });

  test("waits as long as the options say", () => {
    const { buffer, events } = open({ timeout: 7, escapeTimeout: 100 });
    buffer.process("\x1b");
    vi.advanceTimersByTime(99);
    expect(events).toEqual([]);
    buffer.process("x");
    expect(events).toEqual(["\x1bx"]);
    buffer.process("\x1b[1;");
    vi.advanceTimersByTime(7);
    expect(events).toEqual(["\x1bx", "\x1b[1;"]);
  });

  test("is taken out by flush, dropped by clear, and not emitted after destroy", () => {
    const { buffer, events } = open();
    buffer.process("\x1b[1;");
    expect([buffer.flush(), buffer.flush()]).toEqual([["\x1b[1;"], []]);
    buffer.process("\x1b[2;");
    buffer.clear();
    buffer.process("\x1b");
    buffer.destroy();
    vi.advanceTimersByTime(5_000);
    expect(events).toEqual([]);
  });
});

test("a character that a terminal reports and then sends as text comes once", () => {
  expect(read("\x1b[224u", "àà")).toEqual(["\x1b[224u", "à"]);
  expect(read("\x1b[97ub")).toEqual(["\x1b[97u", "b"]);
  expect(read("\x1b[97;5ua")).toEqual(["\x1b[97;5u", "a"]);
  expect(read("\x1b[97;1:3ua")).toEqual(["\x1b[97;1:3u", "a"]);
});

test("a byte that no character of UTF-8 begins with is Alt", () => {
  expect(read(Buffer.from([0x8d]))).toEqual(["\x1b\r"]);
  expect(read(Buffer.from([0xe1]))).toEqual(["\x1ba"]);
});

test("a paste of many megabytes costs the same for each byte, in pieces of any size", () => {
  const text = "0123456789abcde\n".repeat(2 ** 17);
  const { buffer, events } = open();
  buffer.process("\x1b[200~");
  for (let index = 0; index < text.length; index += 3) buffer.process(text.slice(index, index + 3));
  buffer.process("\x1b[20");
  buffer.process("1~");
  expect(events[0] === `paste:${text}`).toBe(true);
});

test("a listener may clear the buffer, and may feed it", () => {
  const { buffer, events } = open();
  buffer.once("data", () => buffer.clear());
  buffer.process("abc");
  buffer.once("data", () => buffer.process("z"));
  buffer.process("xy");
  expect(events).toEqual(["a", "x", "y", "z"]);
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isKittyProtocolActive } from "../keys/match.ts";
import { StdinBuffer } from "../keys/stdin-buffer.ts";
import { KeyboardProtocol } from "./keyboard-protocol.ts";
import { resolveEscapeTimeoutMs } from "./process-terminal.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const writes: string[] = [];
  const inputs: string[] = [];
  const keyboard = new KeyboardProtocol((data) => writes.push(data));
  const buffer = new StdinBuffer({ isAnswerExpected: () => keyboard.isWaiting });
  buffer.on("data", (data) => {
    if (!keyboard.takeAnswer(data)) inputs.push(data);
  });
  keyboard.ask();
  return { keyboard, buffer, writes, inputs };
}

test("answers that come a byte at a time, with pauses, are no keys", () => {
  const { keyboard, buffer, inputs } = open();
  for (const byte of "\x1b[?7u\x1b[?62;4c") {
    buffer.process(byte);
    vi.advanceTimersByTime(900);
  }
  buffer.process("x");
  expect(inputs).toEqual(["x"]);
  expect([keyboard.isKitty, isKittyProtocolActive(), keyboard.isWaiting]).toEqual([true, true, false]);
  keyboard.restore();
  expect(isKittyProtocolActive()).toBe(false);
});

test("an answer that never comes whole is no key, and what follows it is", () => {
  for (const part of ["\x1b[?7", "\x1b]11;rgb:ff/", "\x1bP>|ter"]) {
    const { buffer, inputs } = open();
    buffer.process(part);
    vi.advanceTimersByTime(2_000);
    buffer.process(`x${part}\x1b[A`);
    expect([part, inputs]).toEqual([part, ["x", "\x1b[A"]]);
  }
});

test("Escape and Alt with a bracket are keys if no answer begins with them", () => {
  const { buffer, inputs } = open();
  for (const key of ["\x1b", "\x1b["]) {
    buffer.process(key);
    vi.advanceTimersByTime(1_000);
  }
  expect(inputs).toEqual(["\x1b", "\x1b["]);
});

test("answers that come after the keyboard is as it was are no keys and change nothing", () => {
  const { keyboard, buffer, writes, inputs } = open();
  keyboard.restore();
  keyboard.restore();
  buffer.process("\x1b[?7u\x1b[?62c\x1b[?62c");
  expect(inputs).toEqual([]);
  expect(writes).toEqual(["\x1b[>7u\x1b[?u\x1b[c", "\x1b[<u"]);
  expect(isKittyProtocolActive()).toBe(false);
});

test("Escape waits as long as the user says, else longer on a network", () => {
  const table: [Record<string, string>, number][] = [
    [{}, 10],
    [{ SSH_CONNECTION: "x" }, 100],
    [{ SSH_TTY: "x" }, 100],
    [{ SSH_TTY: "x", PI_TUI_ESC_TIMEOUT: "250" }, 250],
    [{ SSH_TTY: "x", PI_TUI_ESC_TIMEOUT: "" }, 100],
    [{ PI_TUI_ESC_TIMEOUT: "0" }, 10],
    [{ PI_TUI_ESC_TIMEOUT: "-1" }, 10],
    [{ PI_TUI_ESC_TIMEOUT: "soon" }, 10],
  ];
  for (const [env, timeoutMs] of table) expect([env, resolveEscapeTimeoutMs(env)]).toEqual([env, timeoutMs]);
});

test("other questions are asked before the last one, whose answer says that all are answered", () => {
  const { keyboard, buffer, writes, inputs } = open();
  const answered = vi.fn();
  keyboard.onAnswered = answered;
  keyboard.ask("\x1b]11;?\x07");
  expect(writes.at(-1)).toMatch(/\?u\x1b\]11;\?\x07\x1b\[c$/);
  buffer.process("\x1b[?7u\x1b]11;rgb:0000/0000/0000\x07");
  expect([inputs, answered.mock.calls.length]).toEqual([["\x1b]11;rgb:0000/0000/0000\x07"], 0]);
  buffer.process("\x1b[?62;4c");
  expect(answered.mock.calls.length).toBe(1);
  keyboard.restore();
});

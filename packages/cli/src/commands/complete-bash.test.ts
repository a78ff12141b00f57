import { expect, test } from "vitest";
import { formatForBash, splitLine } from "./complete-bash.ts";

const breaks = " \t\n\"'@><=;|&(:";

test.each([
  ["tau --mo", ["tau"], "--mo"],
  ["tau --model ", ["tau", "--model"], ""],
  ["tau -p \"a b\" 'c d' e\\ f", ["tau", "-p", "a b", "c d"], "e f"],
  ['tau @"my fi', ["tau"], "@my fi"],
  ['tau "say \\"hi', ["tau"], 'say "hi'],
  ['tau "" x', ["tau", ""], "x"],
])("%s is split into words and the current word", (line, words, current) => {
  expect(splitLine(line, breaks)).toMatchObject({ words, current });
});

test.each([
  ["tau @my", "@my file.txt", "@my\\ file.txt"],
  ["tau @mail@", "@mail@host", "@host"],
  ["tau @a\\:", "@a:b", "@a:b"],
  ["tau @", "@🙂 ü.txt", "@\\🙂\\ ü.txt"],
  ['tau @"my f', "@my file.txt", "my file.txt"],
  ['tau "@my f', "@my file.txt", "@my file.txt"],
  ["tau --model anthropic/claude:hi", "anthropic/claude:high", "high"],
  ["tau --model 'anthropic/claude:hi", "anthropic/claude:high", "anthropic/claude:high"],
  ["tau --mode=j", "--mode=json", "json"],
  ["tau ses", "sessions", "sessions"],
])("after %s, %s is inserted as %s", (line, value, inserted) => {
  expect(formatForBash(value, splitLine(line, breaks))).toBe(inserted);
});

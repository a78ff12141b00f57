import { expect, test } from "vitest";
import { refuseText } from "./refuse-text.ts";

const repeated = (text: string, count: number) => text.repeat(count);

/** Each pair is at a limit, and above it. */
test.each([
  ["bytes", repeated("a", 65_536), repeated("a", 65_537)],
  ["bytes of other scripts", repeated("é", 32_768), repeated("é", 32_769)],
  ["nested substitutions", repeated("$(", 32), repeated("$(", 33)],
  ["brackets", repeated("[", 128), repeated("[", 129)],
  ["operators", repeated("a;", 2_000), repeated("a;", 2_001)],
  ["here-documents", repeated("cat <<a\n", 32), repeated("cat <<a\n", 33)],
  ["braces", repeated("{}", 512), repeated("{}", 513)],
  ["backticks", repeated("`", 64), repeated("`", 65)],
  ["quotes", repeated('"$a" ', 750), repeated('"$a" ', 751)],
  ["globs", repeated("* ", 500), repeated("* ", 501)],
])("a command may have so many %s and no more", (_name, fine, large) => {
  expect(refuseText(fine)).toBeUndefined();
  expect(refuseText(large)).toMatchObject({ kind: "too_large" });
});

test.each([
  ["a carriage return that hides what is before it", "rm -rf /\recho fine"],
  ["an escape sequence", "echo \u001b[2Jfine"],
  ["a null byte", "echo a\0b"],
  ["a control character above ASCII", "echo a\u009bb"],
  ["text that runs backwards", "echo \u202efdp.exe"],
  ["a character without width", "r\u200bm -rf a"],
  ["a soft hyphen", "echo a\u00adb"],
  ["a mark of byte order", "\ufeffecho a"],
  ["tags", "echo \u{e0041}"],
  ["a blank that is none to a shell", "echo\u00a0a"],
  ["a line separator", "echo a\u2028rm -rf b"],
  ["a long run of blanks", `echo a${repeated(" ", 65)}; rm -rf b`],
])("%s is not readable", (_name, text) => {
  expect(refuseText(text)).toMatchObject({ kind: "unreadable" });
});

test.each([
  "echo a\r\necho b",
  "echo\ta",
  "echo 👩‍💻",
  `echo a${repeated(" ", 64)}; b`,
  `echo 'a${repeated(" ", 200)}b'`,
  `cat <<'END'\n${repeated("a;", 3_000)}\nEND`,
])("ordinary text may be parsed: %j", (text) => {
  expect(refuseText(text)).toBeUndefined();
});

test("the text without the trick has the same commands", () => {
  expect(refuseText("r\u200bm\u00a0-rf  /\recho")).toMatchObject({ cleaned: "rm -rf /\necho" });
});

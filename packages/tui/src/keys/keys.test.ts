import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isKeyId, Key, type KeyId } from "./key.ts";
import {
  decodeKittyPrintable,
  decodePrintableKey,
  isKeyRelease,
  isKeyRepeat,
  isKittyProtocolActive,
  matchesKey,
  parseKey,
  setKittyProtocolActive,
} from "./match.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";
const symbols = "`-=[]\\;',./!@#$%^&*()_+|~{}:<>?";
const specials =
  "escape enter tab space backspace delete insert clear home end pageUp pageDown up down left right f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12";
const baseKeys = [...letters, ..."0123456789", ...symbols, ...specials.split(" ")];
const prefixes = [..."0123456789abcdef"].map((digit) => {
  const bits = Number.parseInt(digit, 16);
  return (bits & 1 ? "shift+" : "") + (bits & 4 ? "ctrl+" : "") + (bits & 2 ? "alt+" : "") + (bits & 8 ? "super+" : "");
});
const allKeys = prefixes.flatMap((prefix) => baseKeys.map((key) => prefix + key)) as KeyId[];
const getMatches = (data: string): string[] => allKeys.filter((key) => matchesKey(data, key));

beforeEach(() => {
  setKittyProtocolActive(false);
  vi.stubEnv("WT_SESSION", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  setKittyProtocolActive(false);
});

/** The first key is the one that `parseKey` gives; these and no others match. */
function expectKeys(table: Record<string, string[]>): void {
  for (const [data, keys] of Object.entries(table)) {
    expect([data, parseKey(data)]).toEqual([data, keys[0]]);
    expect([data, getMatches(data).sort()]).toEqual([data, [...keys].sort()]);
  }
}

describe("without the protocol of Kitty", () => {
  test("a character is its own key, and a capital letter is the key with Shift", () => {
    for (const character of `${letters}0123456789${symbols}`) expectKeys({ [character]: [character] });
    for (const letter of letters) {
      expect(getMatches(letter.toUpperCase())).toEqual([`shift+${letter}`]);
      expect(parseKey(letter.toUpperCase())).toBe(letter.toUpperCase());
    }
    expect(parseKey("é")).toBeUndefined();
    expectKeys({ " ": ["space"] });
  });

  test("control characters are letters with Ctrl, and those with a key of their own are also that key", () => {
    const own: Record<string, string> = { h: "backspace", i: "tab", j: "enter", m: "enter" };
    for (const [index, letter] of [...letters].entries()) {
      const key = own[letter];
      expectKeys({ [String.fromCharCode(index + 1)]: key ? [key, `ctrl+${letter}`] : [`ctrl+${letter}`] });
    }
    expectKeys({
      "\0": ["ctrl+space"],
      "\x1b": ["escape", "ctrl+["],
      "\x1c": ["ctrl+\\"],
      "\x1d": ["ctrl+]"],
      "\x1f": ["ctrl+-", "ctrl+_"],
      "\x7f": ["backspace"],
    });
  });

  test("Escape before a character is Alt, and also what shells take it for", () => {
    const arrows: Record<string, string> = { b: "alt+left", f: "alt+right", n: "alt+down", p: "alt+up" };
    for (const character of `${letters}0123456789${symbols}`) {
      const arrow = arrows[character];
      expectKeys({ [`\x1b${character}`]: arrow ? [arrow, `alt+${character}`] : [`alt+${character}`] });
    }
    expectKeys({
      "\x1bB": ["alt+left"],
      "\x1bF": ["alt+right"],
      "\x1b ": ["alt+space"],
      "\x1b\x7f": ["alt+backspace"],
      "\x1b\b": ["alt+backspace", "ctrl+alt+h"],
      "\x1b\r": ["alt+enter", "ctrl+alt+m"],
      "\x1b\x01": ["ctrl+alt+a"],
      "\x1b\x1b": ["ctrl+alt+["],
      "\x1b\x1d": ["ctrl+alt+]"],
      "\x1b\x1f": ["ctrl+alt+-", "ctrl+alt+_"],
    });
  });

  test("keys without a character send what xterm, rxvt, the VT220 or the console of Linux made of them", () => {
    expectKeys({
      "\x1b[A": ["up"],
      "\x1bOA": ["up"],
      "\x1b[a": ["shift+up"],
      "\x1bOa": ["ctrl+up"],
      "\x1b[E": ["clear"],
      "\x1bOe": ["ctrl+clear"],
      "\x1b[H": ["home"],
      "\x1bOH": ["home"],
      "\x1b[1~": ["home"],
      "\x1b[7~": ["home"],
      "\x1b[F": ["end"],
      "\x1b[4~": ["end"],
      "\x1b[8~": ["end"],
      "\x1b[3~": ["delete"],
      "\x1b[3$": ["shift+delete"],
      "\x1b[3^": ["ctrl+delete"],
      "\x1b[3@": ["shift+ctrl+delete"],
      "\x1b[5~": ["pageUp"],
      "\x1b[[5~": ["pageUp"],
      "\x1b[6^": ["ctrl+pageDown"],
      "\x1b[Z": ["shift+tab"],
      "\x1bOM": ["enter"],
      "\x1bOP": ["f1"],
      "\x1b[11~": ["f1"],
      "\x1b[[A": ["f1"],
      "\x1b[[E": ["f5"],
      "\x1b[15~": ["f5"],
      "\x1b[17~": ["f6"],
      "\x1b[21~": ["f10"],
      "\x1b[23~": ["f11"],
      "\x1b[24~": ["f12"],
      "\x1b[24^": ["ctrl+f12"],
    });
  });

  test("what is no key matches none", () => {
    for (const data of [
      "",
      "ab",
      "\x1b[200~",
      "\x1b[<0;1;1M",
      "\x1b[1;5",
      "\x1b[97;17u",
      "\x1b[99~",
      "\x1b[?1u",
      "😀",
    ]) {
      expect([data, parseKey(data), getMatches(data)]).toEqual([data, undefined, []]);
    }
  });

  test("Windows Terminal sends BS for Ctrl and Backspace, unless another machine runs the program", () => {
    vi.stubEnv("SSH_CONNECTION", undefined);
    vi.stubEnv("SSH_CLIENT", undefined);
    vi.stubEnv("SSH_TTY", undefined);
    vi.stubEnv("WT_SESSION", "1");
    expectKeys({ "\b": ["ctrl+backspace", "ctrl+h"], "\x7f": ["backspace"] });
    for (const name of ["SSH_CONNECTION", "SSH_TTY"]) {
      vi.stubEnv(name, "1");
      expectKeys({ "\b": ["backspace", "ctrl+h"] });
      vi.stubEnv(name, undefined);
    }
  });
});

test("both encodings of modifyOtherKeys, function keys and Kitty name the modifiers by the same numbers", () => {
  for (const [bits, prefix] of prefixes.entries()) {
    expect(parseKey(`\x1b[120;${bits + 1}u`)).toBe(`${prefix}x`);
    expect(parseKey(`\x1b[27;${bits + 1};120~`)).toBe(`${prefix}x`);
    expect(parseKey(`\x1b[1;${bits + 1}A`)).toBe(`${prefix}up`);
    expect(parseKey(`\x1b[3;${bits + 1}~`)).toBe(`${prefix}delete`);
    expect(parseKey(`\x1b[15;${bits + 1}~`)).toBe(`${prefix}f5`);
    expect(parseKey(`\x1b[1;${bits + 1}P`)).toBe(`${prefix}f1`);
    for (const locks of [64, 128, 192]) expect(parseKey(`\x1b[120;${bits + locks + 1}u`)).toBe(`${prefix}x`);
  }
});

test("Enter, Tab, Escape, Space and Backspace are reported by their code", () => {
  expectKeys({
    "\x1b[13;2u": ["shift+enter"],
    "\x1b[27;2;13~": ["shift+enter"],
    "\x1b[9;5u": ["ctrl+tab"],
    "\x1b[27;5;9~": ["ctrl+tab"],
    "\x1b[27u": ["escape"],
    "\x1b[27;2u": ["shift+escape"],
    "\x1b[32;5u": ["ctrl+space"],
    "\x1b[127;3u": ["alt+backspace"],
    "\x1b[57414;5u": ["ctrl+enter"],
    "\x1b[57417;5u": ["ctrl+left"],
    "\x1b[57399u": ["0"],
    "\x1b[57413u": ["+"],
    "\x1b[57364;2u": ["shift+f1"],
    "\x1b[57427u": ["clear"],
  });
});

test("a key may be named by what it writes with Shift", () => {
  expectKeys({
    "\x1b[61:43;2u": ["shift+=", "+"],
    "\x1b[61:43;6u": ["shift+ctrl+=", "ctrl++"],
    "\x1b[27;6;43~": ["shift+ctrl++", "ctrl++"],
    "\x1b[49:33;2u": ["shift+1", "!"],
    "\x1b[38:49;6u": ["shift+ctrl+&", "ctrl+1"],
    "\x1b[97:65;2u": ["shift+a"],
    "\x1b[65;2u": ["shift+a"],
    "\x1b[27;6;65~": ["shift+ctrl+a"],
  });
});

test("a letter that is not Latin is the key at its place, and one that is Latin keeps its name", () => {
  expectKeys({
    "\x1b[1089::99;5u": ["ctrl+c"],
    "\x1b[1089:1057:99;6u": ["shift+ctrl+c"],
    "\x1b[233::50;5u": ["ctrl+2"],
    "\x1b[107::118;5u": ["ctrl+k"],
    "\x1b[47::91;5u": ["ctrl+/"],
    "\x1b[1089;5u": [],
  });
});

test("where Kitty's protocol is active, a newline and Escape with Return are Shift and Enter, and Alt is reported", () => {
  setKittyProtocolActive(true);
  expect(isKittyProtocolActive()).toBe(true);
  expectKeys({ "\n": ["shift+enter", "ctrl+j"], "\x1b\r": ["shift+enter"], "\r": ["enter", "ctrl+m"], "\x1bx": [] });
  expectKeys({ "\x1bb": ["alt+left"], "\x1b\x7f": ["alt+backspace"], "\x1b[120;3u": ["alt+x"] });
});

test("repeats and releases are the same key as the press", () => {
  const cases = ["\x1b[97;1:@u", "\x1b[97;5:@u", "\x1b[1;1:@A", "\x1b[3;1:@~", "\x1b[1089::99;5:@u", "\x1b[1;2:@P"];
  for (const data of [...cases, "\x1b[29;1:@~"]) {
    const [press, repeat, release] = ["1", "2", "3"].map((event) => data.replace("@", event)) as [
      string,
      string,
      string,
    ];
    expect([isKeyRelease(press), isKeyRelease(repeat), isKeyRelease(release)]).toEqual([false, false, true]);
    expect([isKeyRepeat(press), isKeyRepeat(repeat), isKeyRepeat(release)]).toEqual([false, true, false]);
    expect(parseKey(release)).toBe(parseKey(press));
  }
  for (const data of ["90:62:3F:A5", "x:3u", "\x1b[200~\x1b[97;1:3u\x1b[201~"]) expect(isKeyRelease(data)).toBe(false);
});

test("only printable characters with at most Shift are text", () => {
  const table: [string, string | undefined][] = [
    ["\x1b[97u", "a"],
    ["\x1b[97:65;2u", "A"],
    ["\x1b[97;65u", "a"],
    ["\x1b[1089:1057:99;2u", "С"],
    ["\x1b[128512u", "😀"],
    ["\x1b[57400u", "1"],
    ["\x1b[32;2u", " "],
    ["\x1b[97;5u", undefined],
    ["\x1b[97;3u", undefined],
    ["\x1b[97;1:3u", undefined],
    ["\x1b[13u", undefined],
    ["\x1b[127u", undefined],
    ["\x1b[57376u", undefined],
    ["\x1b[57414u", undefined],
    ["\x1b[55296u", undefined],
    ["\x1b[1114112u", undefined],
    ["a", undefined],
  ];
  for (const [data, text] of table) expect([data, decodeKittyPrintable(data)]).toEqual([data, text]);
  expect(decodeKittyPrintable("\x1b[27;2;65~")).toBeUndefined();
  expect(decodePrintableKey("\x1b[27;2;65~")).toBe("A");
  expect(decodePrintableKey("\x1b[27;5;97~")).toBeUndefined();
});

test("a key can be spelled with its modifiers in any order, in any case, and by its other name", () => {
  for (const id of ["ctrl+shift+p", "shift+ctrl+p", "Ctrl+Shift+P"]) {
    expect(matchesKey("\x1b[112;6u", id as KeyId)).toBe(true);
  }
  expect(matchesKey("\x1b", Key.esc)).toBe(true);
  expect(matchesKey("\r", Key.return)).toBe(true);
  expect(matchesKey("\x1b[5~", "pageup" as KeyId)).toBe(true);
  expect(matchesKey("\x1b[43;5u", Key.ctrl("+"))).toBe(true);
  expect([Key.ctrlShift("p"), Key.superAlt("k"), Key.plus, Key.backslash]).toEqual([
    "ctrl+shift+p",
    "super+alt+k",
    "+",
    "\\",
  ]);
});

test.each([
  ...[
    "a",
    "7",
    "ctrl+c",
    "Shift+Ctrl+P",
    "super+k",
    "ctrl+alt+]",
    "ctrl++",
    "+",
    "pageup",
    "esc",
    "f12",
    "alt+shift+left",
  ].map((id) => [id, true] as const),
  ...["", "ctrl", "ctrl+", "banana", "ctrl+banana", "f13", "cmd+x", "ctrl+ä", "a+b"].map((id) => [id, false] as const),
])("%j is the name of a key: %s", (id, isKey) => {
  expect(isKeyId(id)).toBe(isKey);
});

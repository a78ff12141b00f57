/** Keys that are reported with parameters: by the protocol of Kitty, by xterm's modifyOtherKeys, or as function keys. */
import { formatKey, type KeyEventType, modifierBits } from "./key.ts";
import {
  isKeyCharacter,
  isShiftedSymbol,
  keyNamesByCode,
  keyNamesByFinal,
  keyNamesByNumber,
  keypadCharacters,
} from "./tables.ts";

const { shift } = modifierBits;

/** Caps Lock and Num Lock, which change no key. */
const lockBits = 64 | 128;
const allModifiers = Object.values(modifierBits).reduce((bits, bit) => bits | bit, 0);

/** A key: either a code point, or the name of a key that has none, if we have a name for it. */
interface KeyReport {
  key: { code: number; shifted: number; base: number } | { name: string | undefined };
  modifiers: number;
  event: KeyEventType;
}

/** `CSI code : shifted : base ; modifiers : event u`. Both Kitty and modifyOtherKeys with `formatOtherKeys=1` send it. */
const unicodeReport = /^\x1b\[(\d+)(?::(\d*))?(?::(\d+))?(?:;(\d+)(?::([123]))?)?u$/;
/** `CSI 27 ; modifiers ; code ~`, the older encoding of modifyOtherKeys. */
const otherKeyReport = /^\x1b\[27;(\d+);(\d+)~$/;
/** `CSI number ; modifiers : event ~`, or with a letter. */
const functionReport = /^\x1b\[(\d*)(?:;(\d+)(?::([123]))?)?([~A-FHP-S])$/;

const events: Record<string, KeyEventType> = { 1: "press", 2: "repeat", 3: "release" };

/** No report is longer. What is longer is a paste, and not worth looking at. */
const maxReportLength = 64;

export function parseReport(data: string): KeyReport | undefined {
  if (data.length > maxReportLength || !data.startsWith("\x1b[")) return undefined;
  const unicode = unicodeReport.exec(data);
  if (unicode) {
    const [, code, shifted, base, modifiers, event] = unicode;
    return createReport(
      { code: Number(code), shifted: Number(shifted ?? 0), base: Number(base ?? 0) },
      modifiers,
      event,
    );
  }
  const other = otherKeyReport.exec(data);
  if (other) return createReport({ code: Number(other[2]), shifted: 0, base: 0 }, other[1], undefined);
  const named = functionReport.exec(data);
  if (!named) return undefined;
  return createReport({ name: getFunctionName(named[1] ?? "", named[4] ?? "") }, named[2], named[3]);
}

function createReport(
  key: KeyReport["key"],
  parameter: string | undefined,
  event: string | undefined,
): KeyReport | undefined {
  if (parameter === "0") return undefined;
  const modifiers = (Number(parameter ?? 1) - 1) & ~lockBits;
  return { key, modifiers, event: events[event ?? "1"] ?? "press" };
}

const getFunctionName = (number: string, final: string): string | undefined => {
  if (final === "~") return keyNamesByNumber.get(Number(number));
  return number === "" || number === "1" ? keyNamesByFinal.get(final) : undefined;
};

/** The keys that a report can stand for. The first is the key itself. */
export function getReportedKeys({ key, modifiers }: KeyReport): string[] {
  if (modifiers & ~allModifiers) return [];
  if ("name" in key) return key.name === undefined ? [] : [formatKey(key.name, modifiers)];
  // A letter that is not Latin has no name, but its place on the keyboard has one.
  const name = getCodeName(key.code, modifiers) ?? getCodeName(key.base, modifiers);
  if (name === undefined) return [];
  const keys = [formatKey(name, modifiers)];
  const symbol = modifiers & shift ? getShiftedSymbol(key.code, key.shifted) : undefined;
  if (symbol !== undefined) keys.push(formatKey(symbol, modifiers & ~shift));
  return keys;
}

function getCodeName(code: number, modifiers: number): string | undefined {
  const name = keyNamesByCode.get(code) ?? keypadCharacters.get(code);
  if (name !== undefined) return name;
  const character = toCharacter(code);
  const key = modifiers & shift && /^[A-Z]$/.test(character) ? character.toLowerCase() : character;
  return isKeyCharacter(key) ? key : undefined;
}

/** A key may also be named by what it writes with Shift: `ctrl++` is `ctrl+shift+=` on many keyboards. */
function getShiftedSymbol(code: number, shifted: number): string | undefined {
  const character = toCharacter(shifted || code);
  const isSymbol = shifted ? isKeyCharacter(character) && !/[a-z]/.test(character) : isShiftedSymbol(character);
  return isSymbol ? character : undefined;
}

/** Returns what a report writes as text: with Shift at most, and never when the key is released. */
export function getReportedText({ key, modifiers, event }: KeyReport): string | undefined {
  if ("name" in key || modifiers & ~shift || event === "release") return undefined;
  const keypad = keypadCharacters.get(key.code);
  if (keypad !== undefined) return keypad;
  const character = toCharacter(modifiers & shift && key.shifted ? key.shifted : key.code);
  return isPrintable(character) ? character : undefined;
}

const toCharacter = (code: number): string => (code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : "");

/** Neither a control character, nor half of one, nor one that Kitty uses for keys without a character. */
const isPrintable = (character: string): boolean => /^[^\p{Cc}\p{Cs}\p{Co}]$/u.test(character);

export const isOtherKeyReport = (data: string): boolean => otherKeyReport.test(data);

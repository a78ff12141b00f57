/** Sequences that terminals send for keys, by the protocols that are in use. */
import { formatKey, modifierBits } from "./key.ts";

const { shift, ctrl, alt } = modifierBits;

/** Code points that are keys without being characters. */
export const keyNamesByCode = new Map<number, string>([
  [9, "tab"],
  [13, "enter"],
  [27, "escape"],
  [32, "space"],
  [127, "backspace"],
  // Kitty's own numbers, in the private use area: F1 to F12, then the number pad.
  ...Array.from({ length: 12 }, (_unused, index): [number, string] => [57_364 + index, `f${index + 1}`]),
  ...["left", "right", "up", "down", "pageUp", "pageDown", "home", "end", "insert", "delete", "clear"].map(
    (name, index): [number, string] => [57_417 + index, name],
  ),
  [57_414, "enter"],
]);

/** The characters of the number pad, which Kitty reports with numbers of their own. */
export const keypadCharacters = new Map<number, string>([
  ...[..."0123456789./*-+"].map((character, index): [number, string] => [57_399 + index, character]),
  [57_415, "="],
  [57_416, ","],
]);

/** `CSI 1 ; modifiers X`, and without parameters for those that `legacyKeys` has. */
export const keyNamesByFinal = new Map<string, string>([
  ["A", "up"],
  ["B", "down"],
  ["C", "right"],
  ["D", "left"],
  ["E", "clear"],
  ["F", "end"],
  ["H", "home"],
  ["P", "f1"],
  ["Q", "f2"],
  ["R", "f3"],
  ["S", "f4"],
]);

/** `CSI number ~`, `CSI number ; modifiers ~`, and rxvt's `CSI number ^`, `$` and `@`. */
export const keyNamesByNumber = new Map<number, string>([
  [1, "home"],
  [2, "insert"],
  [3, "delete"],
  [4, "end"],
  [5, "pageUp"],
  [6, "pageDown"],
  [7, "home"],
  [8, "end"],
  ...[11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24].map((number, index): [number, string] => [
    number,
    `f${index + 1}`,
  ]),
]);

/** How rxvt ends a numbered sequence, and the modifiers that this stands for. */
const rxvtFinals = { "~": 0, "^": ctrl, $: shift, "@": ctrl | shift };

/** The keys that send a control character together with Ctrl. The first name is the one that `parseKey` gives. */
const controls: readonly (readonly [code: number, ...keys: string[]])[] = [
  [0x00, "ctrl+space"],
  ...Array.from({ length: 26 }, (_unused, index): [number, string] => [
    index + 1,
    `ctrl+${String.fromCharCode(97 + index)}`,
  ]),
  [0x1b, "ctrl+["],
  [0x1c, "ctrl+\\"],
  [0x1d, "ctrl+]"],
  [0x1f, "ctrl+-", "ctrl+_"],
];

/** Control characters that have a key of their own, and with Alt before them. */
const controlKeys: Record<string, readonly string[]> = {
  "\b": ["backspace"],
  "\t": ["tab"],
  "\n": ["enter"],
  "\r": ["enter"],
  "\x1b": ["escape"],
  "\x7f": ["backspace"],
  "\x1b\b": ["alt+backspace"],
  "\x1b\r": ["alt+enter"],
  "\x1b\x7f": ["alt+backspace"],
};

/** Sequences without parameters, and what many terminals send for Alt with an arrow. */
const fixed: Record<string, readonly string[]> = {
  "\x1bOM": ["enter"],
  "\x1b[Z": ["shift+tab"],
  "\x1b[[5~": ["pageUp"],
  "\x1b[[6~": ["pageDown"],
  "\x1bb": ["alt+left"],
  "\x1bf": ["alt+right"],
  "\x1bp": ["alt+up"],
  "\x1bn": ["alt+down"],
};

/** All that a terminal sends without parameters, and the keys that each sequence can stand for, the likeliest first. */
export const legacyKeys: ReadonlyMap<string, readonly string[]> = buildLegacyKeys();

function buildLegacyKeys(): Map<string, string[]> {
  const keys = new Map<string, string[]>();
  const add = (sequence: string, ...ids: string[]) => keys.set(sequence, [...(keys.get(sequence) ?? []), ...ids]);

  for (const [sequence, ids] of [...Object.entries(controlKeys), ...Object.entries(fixed)]) add(sequence, ...ids);
  for (const [code, ...ids] of controls) add(String.fromCharCode(code), ...ids);
  for (const [final, name] of keyNamesByFinal) {
    add(`\x1bO${final}`, name);
    if (name.startsWith("f")) continue;
    add(`\x1b[${final}`, name);
    if ("ABCDE".includes(final)) {
      add(`\x1b[${final.toLowerCase()}`, formatKey(name, shift));
      add(`\x1bO${final.toLowerCase()}`, formatKey(name, ctrl));
    }
  }
  for (const [index, final] of [..."ABCDE"].entries()) add(`\x1b[[${final}`, `f${index + 1}`);
  for (const [number, name] of keyNamesByNumber) {
    for (const [final, modifiers] of Object.entries(rxvtFinals)) {
      add(`\x1b[${number}${final}`, formatKey(name, modifiers));
    }
  }
  return keys;
}

/** Characters that are keys. A letter is its own key; upper case is the key with Shift. */
export const isKeyCharacter = (character: string): boolean => keyCharacters.has(character);
const keyCharacters = new Set("abcdefghijklmnopqrstuvwxyz0123456789`-=[]\\;',./!@#$%^&*()_+|~{}:<>?");

/** Symbols that need Shift on the usual keyboards, so that naming them names Shift too. */
export const isShiftedSymbol = (character: string): boolean => shiftedSymbols.has(character);
const shiftedSymbols = new Set("!@#$%^&*()_+|~{}:<>?");

/**
 * Escape before a character is Alt. Terminals with the protocol of Kitty never mean that, because they report Alt
 * otherwise: there it is what somebody configured.
 */
export const altKeys: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...controls.map(([code, ...ids]): [string, string[]] => [
    `\x1b${String.fromCharCode(code)}`,
    ids.map((id) => id.replace("ctrl+", "ctrl+alt+")),
  ]),
  ...[...keyCharacters].map((character): [string, string[]] => [`\x1b${character}`, [formatKey(character, alt)]]),
  ["\x1b ", ["alt+space"]],
  ["\x1bB", ["alt+left"]],
  ["\x1bF", ["alt+right"]],
]);

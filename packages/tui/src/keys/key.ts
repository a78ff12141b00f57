/** How keys are named: `ctrl+c`, `shift+tab`, `f5`. Modifiers come in any order before the key. */

type Letter =
  | ("a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m")
  | ("n" | "o" | "p" | "q" | "r" | "s" | "t" | "u" | "v" | "w" | "x" | "y" | "z");
type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";

const symbols = {
  backtick: "`",
  hyphen: "-",
  equals: "=",
  leftbracket: "[",
  rightbracket: "]",
  backslash: "\\",
  semicolon: ";",
  quote: "'",
  comma: ",",
  period: ".",
  slash: "/",
  exclamation: "!",
  at: "@",
  hash: "#",
  dollar: "$",
  percent: "%",
  caret: "^",
  ampersand: "&",
  asterisk: "*",
  leftparen: "(",
  rightparen: ")",
  underscore: "_",
  plus: "+",
  pipe: "|",
  tilde: "~",
  leftbrace: "{",
  rightbrace: "}",
  colon: ":",
  lessthan: "<",
  greaterthan: ">",
  question: "?",
} as const;

const specials = {
  escape: "escape",
  esc: "esc",
  enter: "enter",
  return: "return",
  tab: "tab",
  space: "space",
  backspace: "backspace",
  delete: "delete",
  insert: "insert",
  clear: "clear",
  home: "home",
  end: "end",
  pageUp: "pageUp",
  pageDown: "pageDown",
  up: "up",
  down: "down",
  left: "left",
  right: "right",
  f1: "f1",
  f2: "f2",
  f3: "f3",
  f4: "f4",
  f5: "f5",
  f6: "f6",
  f7: "f7",
  f8: "f8",
  f9: "f9",
  f10: "f10",
  f11: "f11",
  f12: "f12",
} as const;

type BaseKey = Letter | Digit | (typeof symbols)[keyof typeof symbols] | keyof typeof specials;
type Modifier = "ctrl" | "shift" | "alt" | "super";
type Modified<K extends string, M extends Modifier = Modifier> = {
  [N in M]: `${N}+${K}` | `${N}+${Modified<K, Exclude<M, N>>}`;
}[M];

/** The name of a key with its modifiers. */
export type KeyId = BaseKey | Modified<BaseKey>;

/** Only terminals with the protocol of Kitty report repeats and releases. */
export type KeyEventType = "press" | "repeat" | "release";

const withModifiers =
  <P extends string>(prefix: P) =>
  <K extends BaseKey>(key: K): `${P}+${K}` =>
    `${prefix}+${key}`;

/** Names of keys that the compiler checks: `Key.enter`, `Key.ctrl("c")`. */
export const Key = {
  ...specials,
  ...symbols,
  ctrl: withModifiers("ctrl"),
  shift: withModifiers("shift"),
  alt: withModifiers("alt"),
  super: withModifiers("super"),
  ctrlShift: withModifiers("ctrl+shift"),
  shiftCtrl: withModifiers("shift+ctrl"),
  ctrlAlt: withModifiers("ctrl+alt"),
  altCtrl: withModifiers("alt+ctrl"),
  shiftAlt: withModifiers("shift+alt"),
  altShift: withModifiers("alt+shift"),
  ctrlSuper: withModifiers("ctrl+super"),
  superCtrl: withModifiers("super+ctrl"),
  shiftSuper: withModifiers("shift+super"),
  superShift: withModifiers("super+shift"),
  altSuper: withModifiers("alt+super"),
  superAlt: withModifiers("super+alt"),
  ctrlShiftAlt: withModifiers("ctrl+shift+alt"),
  ctrlShiftSuper: withModifiers("ctrl+shift+super"),
} as const;

/** The bits of the modifiers in reports of keys, in the order in which `formatKey` writes them. */
export const modifierBits = { shift: 1, ctrl: 4, alt: 2, super: 8 } as const;

/** The one spelling of a key that all others are compared with: `shift+ctrl+alt+super+key`. */
export function formatKey(name: string, modifiers: number): string {
  let prefix = "";
  for (const [modifier, bit] of Object.entries(modifierBits)) if (modifiers & bit) prefix += `${modifier}+`;
  return prefix + name;
}

const names = new Map<string, string>([
  ...Object.keys(specials).map((name): [string, string] => [name.toLowerCase(), name]),
  ["esc", "escape"],
  ["return", "enter"],
]);

/** The spelling of `formatKey` for any order of modifiers, any case and both names of Escape and Enter. */
export function normalizeKey(id: string): string {
  let name = id.toLowerCase();
  let modifiers = 0;
  for (let match = modifierPrefix.exec(name); match; match = modifierPrefix.exec(name)) {
    modifiers |= modifierBits[match[1] as Modifier];
    name = name.slice(match[0].length);
  }
  return formatKey(names.get(name) ?? name, modifiers);
}

/** Whether there is such a key, in any spelling. */
export function isKeyId(id: string): id is KeyId {
  const name = normalizeKey(id).replace(/^(?:(?:shift|ctrl|alt|super)\+(?=.))*/, "");
  return /^[a-z0-9]$/.test(name) || names.has(name.toLowerCase()) || symbolCharacters.includes(name);
}

const symbolCharacters: readonly string[] = Object.values(symbols);

const modifierPrefix = /^(ctrl|shift|alt|super)\+(?=.)/;

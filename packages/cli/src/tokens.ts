/**
 * What a person typed, word by word: options with their values, and the rest. As `parseArgs` of `node:util` reads it
 * where it is not strict; that is more to load than all else that a command line needs.
 */

/** What has to be known of an option to tell its value from what follows. */
export interface OptionKind {
  /** Without dashes. */
  name: string;
  /** One letter. */
  short?: string | undefined;
  /** Whether the next word is its value, unless one is written with it. */
  takesValue: boolean;
}

export interface OptionToken {
  kind: "option";
  /** Of the option, also where its letter was typed; as typed where there is no such option. */
  name: string;
  /** As typed, with dashes and without a value. */
  rawName: string;
  value: string | undefined;
  /** Whether the value is in the same word. */
  isInline: boolean;
  /** Which word it is, from 0. */
  index: number;
}

export type Token = OptionToken | { kind: "positional"; value: string; index: number };

export function readTokens(words: readonly string[], options: readonly OptionKind[]): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === "--") {
      const rest = words.slice(index + 1);
      return [...tokens, ...rest.map((value, at) => ({ kind: "positional" as const, value, index: index + 1 + at }))];
    }
    const found = optionsIn(word, options);
    if (found.length === 0) tokens.push({ kind: "positional", value: word, index });
    for (const { name, rawName, value } of found) {
      tokens.push({ kind: "option", name, rawName, value, isInline: value !== undefined, index });
    }
    const last = tokens.at(-1)!;
    const isOpen = last.kind === "option" && !last.isInline && takesValue(last.name, options);
    if (isOpen && index + 1 < words.length) last.value = words[++index];
  }
  return tokens;
}

type Written = Pick<OptionToken, "name" | "rawName" | "value">;

/** `--name`, `--name=value`, `-n`, `-nvalue`, or letters of options of which only the last may take a value: `-abn`. */
function optionsIn(word: string, options: readonly OptionKind[]): Written[] {
  if (word.length < 2 || !word.startsWith("-")) return [];
  if (word.startsWith("--")) {
    // `--=` alone is an odd name without a value.
    const equals = word.includes("=", 3) ? word.indexOf("=") : -1;
    const rawName = equals === -1 ? word : word.slice(0, equals);
    return [{ name: rawName.slice(2), rawName, value: equals === -1 ? undefined : word.slice(equals + 1) }];
  }
  const found: Written[] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word[at]!;
    const name = options.find(({ short }) => short === letter)?.name ?? letter;
    const rest = word.slice(at + 1);
    const value = rest !== "" && takesValue(name, options) ? rest : undefined;
    found.push({ name, rawName: `-${letter}`, value });
    if (value !== undefined) break;
  }
  return found;
}

const takesValue = (name: string, options: readonly OptionKind[]): boolean =>
  options.some((option) => option.name === name && option.takesValue);

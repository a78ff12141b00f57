/** Text whose parts may be unknown before a script runs, with notes on where it comes from. */

/** Stands for any text that is not known. It is no character, so no command line can contain it. */
export const unknownMark = "\uFFFF";

/** Where a text comes from, as bits. */
export const origins = {
  /** Received from another machine. */
  network: 1,
  /** Environment variables, `.env` files and lists of accounts. */
  secret: 2,
  /** Private keys and stored logins. */
  credential: 4,
  /** Names of the user or the machine. */
  identity: 8,
  /** A list of all processes. */
  processes: 16,
  /** Encoded or packed, so that a reader does not recognise it. */
  encoded: 32,
  /** The content of some file. */
  file: 64,
  /** A variable whose name says that it holds a token or password. */
  token: 128,
  /** The process that started the shell. */
  parent: 256,
  /** Code that well-known programs print to be evaluated, and files of the workspace. */
  trusted: 512,
  /** The output never ends. */
  endless: 1024,
  /** Printed by a shell that reads its commands from a stream. */
  shell: 2048,
  /** Numbers in a row: those of processes may be among them. */
  counter: 4096,
} as const;

export interface Text {
  readonly text: string;
  readonly origin: number;
}

/** The possible contents of a stream, a variable or a word: at least one. */
export type Options<T> = readonly T[];

const maxTextLength = 65_536;
const maxVariedLength = 2_048;
const maxOptions = 8;

export const known = (text: string, origin = 0): Text => ({ text, origin });
export const unknown = (origin = 0): Text => ({ text: unknownMark, origin });
export const isKnown = (text: string): boolean => !text.includes(unknownMark);
export const emptyText = known("");
export const hasOrigin = (text: Text, mask: number): boolean => (text.origin & mask) !== 0;

export function concat(a: Text, b: Text): Text {
  if (a.text === "" && a.origin === 0) return b;
  if (b.text === "" && b.origin === 0) return a;
  const origin = joinTwo(a, b);
  if (a.text.length + b.text.length > maxTextLength) return unknown(origin);
  const isJoined = a.text.endsWith(unknownMark) && b.text.startsWith(unknownMark);
  return { text: a.text + (isJoined ? b.text.slice(1) : b.text), origin };
}

/** Trust in unknown text does not extend to other unknown text beside it. */
function joinTwo(a: Text, b: Text): number {
  const isTrusted = [a, b].every((text) => isKnown(text.text) || hasOrigin(text, origins.trusted));
  return isTrusted ? a.origin | b.origin : (a.origin | b.origin) & ~origins.trusted;
}

/** Removes duplicates. Where there are too many possibilities, the last one says that the text is not known. */
export function limitOptions(options: Options<Text>): Options<Text> {
  if (options.length <= 1) return options.length === 0 ? [emptyText] : options;
  const unique = [...new Map(options.map((option) => [`${option.origin}:${option.text}`, option])).values()];
  if (unique.length <= maxOptions) return unique;
  return [...unique.slice(0, maxOptions - 1), unknown(joinOrigins(unique))];
}

export const joinOrigins = (texts: readonly Text[]): number => texts.reduce((mask, text) => mask | text.origin, 0);

/** Every possibility of the first followed by every possibility of the second. */
export function concatOptions(first: Options<Text>, second: Options<Text>): Options<Text> {
  if (first.length === 1 && second.length === 1) return [concat(first[0]!, second[0]!)];
  // Long output is seldom run as code, so its possibilities are not all kept.
  if (first[0]!.text.length > maxVariedLength) {
    return [concat(first[0]!, second[0]!), unknown(joinOrigins(first) | joinOrigins(second))];
  }
  return limitOptions(first.flatMap((a) => second.map((b) => concat(a, b))));
}

/** How unknown parts are shown to people, and stand in the commands of a classification. */
export const unknownSign = "…";

export const toShown = (text: string): string => text.replaceAll(unknownMark, unknownSign);

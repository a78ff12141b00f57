/** Finds the files that a prompt mentions: `@src/main.ts`, `@"a name with blanks.md"`. Pure. */
import { stripCode } from "./strip-code.ts";

export interface Mention {
  /** The mention as it is in the text, with the `@`. */
  typed: string;
  /** The possible paths, the likeliest first: what is at the end may belong to the sentence. */
  paths: readonly string[];
  /** Whether it can hardly mean anything but a file, so that it is reported if it is missing. */
  isPath: boolean;
}

/**
 * The `@`, for an expression with the flag `u`. Letters before it are those of a mail address, except in scripts without
 * capital letters: many of these write no blanks between words.
 */
export const mentionStart = String.raw`(?<=^|[\s([{,;，、。；：！？（「『【《\p{Lo}\p{Lm}])@`;

/** Code is removed before. */
const mentionPattern = new RegExp(
  String.raw`${mentionStart}(?:"([^"\n]+)"|'([^'\n]+)'|((?:\\.|[^\s"'\x60\\])(?:\\.|[^\s\\])*))`,
  "gu",
);

/** Text that follows the ending of a file's name without a blank. */
const nextWord = /(?<=\.[A-Za-z]\w{0,4})[\p{Lo}\p{Lm}，、。；：！？）」』】》].*$/u;
const lastMarks = /(?:['’]s)?[.,;:!?)\]}>*_…，、。；：！？）」』】》]*$/u;

/** No system allows a longer path. */
const maxPathLength = 4_096;

/** Each path once, in the order of the text. */
export function findMentions(text: string): Mention[] {
  if (!text.includes("@")) return [];
  const mentions = new Map<string, Mention>();
  for (const [typed, doubleQuoted, singleQuoted, bare] of stripCode(text).matchAll(mentionPattern)) {
    if (typed.length > maxPathLength) continue;
    const quoted = doubleQuoted ?? singleQuoted;
    const mention = quoted === undefined ? parseBareMention(bare!) : { typed, paths: [quoted], isPath: true };
    const key = mention.paths.at(-1)!;
    if (!mentions.has(key)) mentions.set(key, mention);
  }
  return [...mentions.values()];
}

function parseBareMention(bare: string): Mention {
  const whole = bare.replaceAll(/\\(.)/g, "$1");
  const trimmed = whole.replace(nextWord, "").replace(lastMarks, "");
  const paths = trimmed === "" || trimmed === whole ? [whole] : [whole, trimmed];
  return { typed: `@${bare}`, paths, isPath: looksLikePath(paths.at(-1)!) };
}

/** True for `@./x`, `@src/a/b` and `@notes.md`; false for `@Component` and `@scope/name`. */
function looksLikePath(path: string): boolean {
  if (/^(?:~\/|\.{0,2}\/)/.test(path)) return true;
  const parts = path.split("/");
  return parts.length > 2 || /^[^.].*\.[A-Za-z]\w{0,4}$/.test(parts.at(-1)!);
}

/** Patterns of allowed and denied commands, compared word by word with commands as they were parsed. Pure. */
import { baseName } from "./paths.ts";
import { unknownSign } from "./shell/text.ts";

const toWords = (pattern: string): string[] => pattern.trim().split(/\s+/).filter(Boolean);

/**
 * Whether a deny pattern covers a command: its words are the first ones of the command. A `*` stands for any rest. A word
 * that is not known before the command runs may be any word.
 */
export const isDeniedBy = (patterns: readonly string[], command: readonly string[]): boolean =>
  patterns.some((pattern) => {
    const words = toWords(pattern);
    const fixed = words.at(-1) === "*" ? words.slice(0, -1) : words;
    if (words.length === 0) return false;
    return fixed.every(
      (word, index) => matchesDenied(word, command[index], index === 0) || hasUnknownBefore(command, index),
    );
  });

function matchesDenied(word: string, actual: string | undefined, isName: boolean): boolean {
  if (actual === undefined) return false;
  return actual === word || (isName && baseName(actual) === word) || (!isName && actual.includes(unknownSign));
}

/** An unknown word may become any number of words. */
const hasUnknownBefore = (command: readonly string[], index: number) =>
  index > 0 && command.slice(1, index + 1).includes(unknownSign);

/**
 * Whether an allow pattern covers a command: its words are all words of the command, or the first ones where it ends with
 * `*`. Nothing that is unknown is covered, and neither is a program of another directory with the same name.
 */
export const isAllowedBy = (patterns: readonly string[], command: readonly string[]): boolean =>
  !command.some((word) => word.includes(unknownSign)) &&
  patterns.some((pattern) => {
    const words = toWords(pattern);
    const isOpen = words.at(-1) === "*";
    const fixed = isOpen ? words.slice(0, -1) : words;
    if (fixed.length === 0 || (isOpen ? command.length < fixed.length : command.length !== fixed.length)) return false;
    return fixed.every((word, index) => word === command[index]);
  });

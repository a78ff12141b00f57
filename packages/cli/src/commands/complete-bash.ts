/** The command line as bash writes and completes it. Pure. */

interface SplitLine {
  /** The words before the current one, without quotes. */
  words: readonly string[];
  /** The word at the cursor, without quotes. */
  current: string;
  /**
   * Where in `current` the text begins that bash replaces: after the last of its word breaks, such as `:`, or after a
   * quote that is open.
   */
  start: number;
  /** Whether a quote is open at the cursor. */
  isQuoted: boolean;
}

/** Word breaks that belong to what bash replaces. */
const prefixes = "$@";

/** Splits a command line that ends at the cursor. */
export function splitLine(line: string, wordBreaks: string): SplitLine {
  const words: string[] = [];
  let [current, start, isWord] = ["", 0, false];
  let quote = "";
  for (let index = 0; index < line.length; index++) {
    const character = line[index]!;
    if (quote !== "") {
      if (character === quote) quote = "";
      else if (character === "\\" && quote === '"' && /["\\$`]/.test(line[index + 1] ?? "")) current += line[++index];
      else current += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      start = current.length;
      isWord = true;
    } else if (/\s/.test(character)) {
      if (isWord || current !== "") words.push(current);
      [current, start, isWord] = ["", 0, false];
    } else if (character === "\\") current += line[++index] ?? "";
    else {
      current += character;
      if (wordBreaks.includes(character)) start = current.length - (prefixes.includes(character) ? 1 : 0);
    }
  }
  return { words, current, start, isQuoted: quote !== "" };
}

/** Formats what bash has to insert. Outside of quotes, special characters are escaped. */
export function formatForBash(value: string, { start, isQuoted }: SplitLine): string {
  const text = value.slice(start);
  return isQuoted ? text : text.replaceAll(/[^\p{L}\p{M}\p{N}_@%+=:,./~-]/gu, "\\$&");
}

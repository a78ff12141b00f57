/** The command line as bash writes and completes it. Pure. */

export interface SplitLine {
  /** The words before the current one, without quotes. */
  words: readonly string[];
  /** The word at the cursor, without quotes. */
  current: string;
  /** The quote that is open at the cursor, and where in `current` it was opened. */
  quote?: { mark: string; index: number };
}

/** Splits a command line that ends at the cursor. */
export function splitLine(line: string): SplitLine {
  const words: string[] = [];
  let [current, isWord] = ["", false];
  let quote: SplitLine["quote"];
  for (let index = 0; index < line.length; index++) {
    const character = line[index]!;
    if (quote) {
      if (character === quote.mark) quote = undefined;
      else if (character === "\\" && quote.mark === '"' && /["\\$`]/.test(line[index + 1] ?? ""))
        current += line[++index];
      else current += character;
    } else if (character === '"' || character === "'") {
      quote = { mark: character, index: current.length };
      isWord = true;
    } else if (/\s/.test(character)) {
      if (isWord || current !== "") words.push(current);
      [current, isWord] = ["", false];
    } else if (character === "\\") current += line[++index] ?? "";
    else current += character;
  }
  return { words, current, ...(quote && { quote }) };
}

/**
 * What bash has to insert. It replaces the word from the last of its word breaks on, such as `:` and `@`, or from an open
 * quote on. Outside of quotes, special characters are escaped.
 */
export function formatForBash(value: string, { current, quote }: SplitLine, wordBreaks: string): string {
  if (quote) return value.slice(quote.index);
  const breaks = [...current].map((character) => !/\s/.test(character) && wordBreaks.includes(character));
  return value.slice(breaks.lastIndexOf(true) + 1).replaceAll(/[^\w@%+=:,./~-]/g, "\\$&");
}

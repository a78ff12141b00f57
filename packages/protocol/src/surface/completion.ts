/** Puts a completion into a text. Pure. */

export interface TakenText {
  readonly text: string;
  readonly cursor: number;
}

/**
 * Replaces the text between `from` and `cursor` by a completion. A directory is completed further, within its quotes, and so is
 * what ends with a colon; after anything else a new word begins.
 */
export function applyCompletion(text: string, from: number, cursor: number, value: string): TakenText {
  const isQuotedDirectory = /\/["']$/.test(value);
  const isDirectory = isQuotedDirectory || value.endsWith("/") || value.endsWith(":");
  // A quote and a blank that were typed before are already there.
  const quote = /["']$/.exec(value)?.[0] ?? "";
  const afterQuote = text.slice(text.startsWith(quote, cursor) ? cursor + quote.length : cursor);
  const after = isDirectory || afterQuote.startsWith(" ") ? afterQuote : ` ${afterQuote}`;
  const end = from + value.length + (isQuotedDirectory ? -1 : isDirectory ? 0 : 1);
  return { text: `${text.slice(0, from)}${value}${after}`, cursor: end };
}

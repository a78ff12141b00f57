/** Command lines as a shell reads them. Pure. */

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

export const formatCommandLine = (words: readonly string[]): string => words.map(quote).join(" ");

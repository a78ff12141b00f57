/** Says how a command line that reads like a sentence is sent to the model. Pure. */

/** Formats the hint as a sentence, with a blank before it. The words are quoted for a shell. */
export const formatPromptHint = (words: readonly string[]): string =>
  ` To send it to the model, use tau -p ${quoteText(words.join(" "))}.`;

/** Whether these are words of a language, and not names, paths or numbers. */
export const isSentence = (words: readonly string[]): boolean =>
  words.length > 1 && words.every((word) => /^\p{L}[\p{L}'’-]*[.,!?;:]?$/u.test(word));

/** In double quotes a shell still replaces some characters. */
const quoteText = (text: string): string =>
  /["$`\\!]/.test(text) ? `'${text.replaceAll("'", String.raw`'\''`)}'` : `"${text}"`;

/** Shortens texts. Pure. */

export const charactersPerToken = 4;

/** A rough estimate. */
export const textTokens = (text: string): number => Math.ceil(text.length / charactersPerToken);

/** Keeps the beginning and the end, and notes how much is missing between them. */
export function cutMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const note = (missing: number) => `\n[${missing} characters left out]\n`;
  const keptLength = maxLength - note(text.length).length;
  if (keptLength <= 0) return sliceStart(text, maxLength);
  const headLength = Math.ceil(keptLength * 0.7);
  const tail = text.slice(text.length - (keptLength - headLength)).toWellFormed();
  return `${sliceStart(text, headLength)}${note(text.length - keptLength)}${tail}`;
}

/** Keeps the beginning, up to the end of a line if one is near. */
export function cutEnd(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const note = "\n[The rest was left out.]";
  const keptLength = maxLength - note.length;
  if (keptLength <= 0) return sliceStart(text, maxLength);
  const lineEnd = text.lastIndexOf("\n", keptLength);
  return `${sliceStart(text, lineEnd > keptLength * 0.8 ? lineEnd : keptLength)}${note}`;
}

/** Providers refuse half of a surrogate pair. */
const sliceStart = (text: string, length: number) => text.slice(0, Math.max(0, length)).toWellFormed();

/** Values from a log are not validated. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

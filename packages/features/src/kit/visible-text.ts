/** Texts of servers and models are data: nothing in them may act on a terminal or hide from a reader. Pure. */

/** Control characters but for tabs and line breaks, characters that change the direction of reading or cannot be seen, halves of characters. */
const hidden =
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]|[\u{e0000}-\u{e007f}]/gu;

/** Most texts: what they have can be seen, and looking for the rest is slow. */
const plain = /^[\n\t\x20-\x7e]*$/;

/** Writes out what cannot be seen; tabs and line breaks stay. `\r\n` is a line break. */
export const toVisible = (text: string): string =>
  plain.test(text)
    ? text
    : text.replaceAll("\r\n", "\n").replaceAll(hidden, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);

/** Words with single spaces between them. */
const plainLine = /^[!-~]+(?: [!-~]+)*$/;

/** Makes one visible line of at most `max` characters. */
export function toVisibleLine(text: string, max: number): string {
  if (text.length <= max && plainLine.test(text)) return text;
  const line = toVisible(cutText(text, max * 2))
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > max ? `${cutText(line, max - 1)}…` : line;
}

/** Cuts a text, but no character in the middle. */
const cutText = (text: string, max: number): string => text.slice(0, max).replace(/[\ud800-\udbff]$/, "");

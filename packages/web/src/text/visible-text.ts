/** Text that can be trusted to be what it looks like. Pure. */

/**
 * Control characters, characters that change the direction of others, characters without a width, unassigned ones, and blanks
 * that are not the usual one.
 */
const hidden = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** Characters that turn the direction of what follows, so that it looks like another text. */
export const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

interface TextPart {
  text: string;
  /** Whether it stands for a character that cannot be seen. */
  isHidden: boolean;
}

/** A text in parts, with every character that cannot be seen, or those of `pattern`, as its number, such as `U+202E`. */
export function splitHidden(text: string, pattern: RegExp = hidden): TextPart[] {
  const parts: TextPart[] = [];
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > last) parts.push({ text: text.slice(last, match.index), isHidden: false });
    const code = match[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    parts.push({ text: `U+${code}`, isHidden: true });
    last = match.index + match[0].length;
  }
  if (last < text.length) parts.push({ text: text.slice(last), isHidden: false });
  return parts;
}

// oxlint-disable-next-line no-control-regex
const escapeSequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Output of a program as text: without escape sequences, and of a line that was written over, the last version. */
export function toPlainOutput(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").replaceAll(escapeSequences, "");
  return (lines.includes("\r") ? lines.replaceAll(/^.*\r(?!\n)/gm, "") : lines).replaceAll(controls, "");
}

// oxlint-disable-next-line no-control-regex
const unusualInNames = /(?![\t-\r])[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu;

/** A name on one line, without characters that would change how what is around it is read. Joined emoji stay as they are. */
export const toSafeName = (name: string): string => name.replaceAll(unusualInNames, "\ufffd").replaceAll(/\s+/g, " ");

/** The beginning of a name or first message, which can be of any length. */
export const toShortName = (name: string, maxLength: number): string =>
  toSafeName(name).slice(0, maxLength).toWellFormed();

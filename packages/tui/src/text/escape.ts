/** Where escape sequences begin and end in a text. */

const string = "(?:[^\\x07\\x1b]|\\x1b(?!\\\\))*(?:\\x07|\\x1b\\\\)";

/** CSI; OSC, DCS, SOS, PM and APC up to their end; and short sequences. One that is not complete does not match. */
const escapeSource = `\\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_]${string}|[ -/]+[0-~]|[0-OQ-WYZ\\\\\`-~])`;

const escapeHere = new RegExp(escapeSource, "y");
const anyEscape = new RegExp(escapeSource, "g");

/** The escape sequence that begins at `index`; undefined if there is none, or only the beginning of one. */
export function getEscapeAt(text: string, index: number): string | undefined {
  if (text.charCodeAt(index) !== 0x1b) return undefined;
  escapeHere.lastIndex = index;
  return escapeHere.exec(text)?.[0];
}

const escapeBetween = new RegExp(`(${escapeSource})`);

/** The text and the escape sequences in it, in order. Some parts may be empty. */
export const splitEscapes = (text: string): string[] => text.split(escapeBetween);

/** The text without escape sequences. */
export const stripTerminalSequences = (text: string): string =>
  text.includes("\x1b") ? text.replace(anyEscape, "") : text;

/** Colors, bold and the like. */
export const isStyle = (escape: string): boolean => escape.startsWith("\x1b[") && escape.endsWith("m");

/** The beginning or end of a link: OSC 8. */
export const isLink = (escape: string): boolean => escape.startsWith("\x1b]8;");

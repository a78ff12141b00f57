/** Where escape sequences begin and end in a text. */

/** Another sequence ends a string as well, as it does in terminals: a search for its own end would take quadratic time. */
const string = "[^\\x07\\x1b]*(?:\\x07|\\x1b\\\\|(?=\\x1b))";

/** CSI; OSC, DCS, SOS, PM and APC up to their end; and short sequences. One that the text does not end does not match. */
const escapeSource = `\\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_]${string}|[ -/]+[0-~]|[0-OQ-WYZ\\\\\`-~])`;

const escapeHere = new RegExp(escapeSource, "y");
const anyEscape = new RegExp(escapeSource, "g");

/** The escape sequence that begins at `index`; undefined if there is none, or only the beginning of one. */
export function getEscapeAt(text: string, index: number): string | undefined {
  if (text.charCodeAt(index) !== 0x1b) return undefined;
  const styleEnd = findStyleEnd(text, index);
  if (styleEnd !== -1) return text.slice(index, styleEnd);
  escapeHere.lastIndex = index;
  return escapeHere.exec(text)?.[0];
}

/** Where the style ends that begins at `index`, or -1. Most sequences are styles, so that these are found without an expression. */
function findStyleEnd(text: string, index: number): number {
  if (text.charCodeAt(index + 1) !== 0x5b) return -1;
  let end = index + 2;
  while (isStyleParameter(text.charCodeAt(end))) end++;
  return text.charCodeAt(end) === 0x6d ? end + 1 : -1;
}

/** Digits, colons and semicolons. */
export const isStyleParameter = (code: number): boolean => code >= 0x30 && code <= 0x3b;

/** The text and the escape sequences in it, in order. An escape character that begins none is left out. */
export function splitEscapes(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let index = text.indexOf("\x1b"); index !== -1; index = text.indexOf("\x1b", index)) {
    const escape = getEscapeAt(text, index);
    if (index > start) parts.push(text.slice(start, index));
    if (escape !== undefined) parts.push(escape);
    index += escape?.length ?? 1;
    start = index;
  }
  if (start < text.length) parts.push(text.slice(start));
  return parts;
}

/** The text without escape sequences. */
export const stripTerminalSequences = (text: string): string =>
  text.includes("\x1b") ? text.replace(anyEscape, "") : text;

/** Colors, bold and the like. */
export const isStyle = (escape: string): boolean => escape.startsWith("\x1b[") && escape.endsWith("m");

/** Without control characters, with which a link could end and continue as commands for the terminal. */
const link = /^\x1b\]8;\P{Cc}*(?:\x07|\x1b\\)$/u;

/** The beginning or end of a link: OSC 8. */
export const isLink = (escape: string): boolean => escape.startsWith("\x1b]8;") && link.test(escape);

import { stripTerminalSequences } from "./escape.ts";

/** Control characters; formatting characters that terminals measure differently; and controls of the text's direction. */
const unwanted = /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** The text without what no terminal should get between its escape sequences. */
export const removeUnwanted = (text: string): string => text.replaceAll(unwanted, "");

const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** The text without escape sequences and control characters, except tabs and line feeds. For text that is shown to a person. */
export const toPlainText = (text: string): string => stripTerminalSequences(text).replace(control, "");

/** Converts to plain text in one line. */
export const toPlainLine = (text: string): string => toPlainText(text).replaceAll(/\s+/g, " ").trim();

/** Also characters without a width, unassigned ones, and blanks that are not the usual one; U+2800 is Braille without a dot. */
const hidden = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** In one line, with everything that is not seen shown as what it is: for what a person has to judge. */
export const toVisibleText = (text: string): string =>
  text.replaceAll(hidden, (character) => {
    if (character === "\n") return "\\n";
    return character === "\t" ? "\\t" : `\\u{${character.codePointAt(0)!.toString(16)}}`;
  });

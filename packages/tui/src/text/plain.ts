import { stripTerminalSequences } from "./escape.ts";

const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** The text without escape sequences and control characters, except tabs and line feeds. For text that is shown to a person. */
export const toPlainText = (text: string): string => stripTerminalSequences(text).replace(control, "");

/** Makes text safe for a terminal, and adds tau's own escape sequences. */
import { styleText } from "node:util";
import { systemIds } from "@tau/ai";
import type { Io } from "../commands/command.ts";

let mark: string | undefined;

/** Stands for ESC in tau's own sequences. It is new in each process, so that no text from elsewhere can contain it. */
const getMark = (): string => (mark ??= `\u001b${systemIds()}`);

/** Marks the escape sequences of a text as tau's own. Never pass text from elsewhere. */
export const markOwn = (text: string): string => text.replaceAll("\u001b", getMark());

/** Whether the terminal can only print lines. */
export const isDumb = (env: Io["env"]): boolean => env["TERM"] === "dumb";

/** Whether progress can be shown on standard error: a line that is erased again. */
export const showsProgress = ({ terminal, env }: Pick<Io, "terminal" | "env">): boolean => terminal.err && !isDumb(env);

/** Returns to the beginning of the line and erases it. Nothing for a terminal that cannot. */
export const clearLine = (env: Io["env"]): string => (isDumb(env) ? "" : markOwn("\u001b[G\u001b[2K"));

export function paint(text: string, style: Parameters<typeof styleText>[0]): string {
  // Whether there are colours was decided before.
  const [begin, end] = styleText(style, " ", { validateStream: false }).split(" ");
  return `${markOwn(begin!)}${text}${markOwn(end!)}`;
}

/**
 * Applied to everything that is written to a terminal. Control characters but LF and tab become visible characters, and so do
 * those that change the direction of the text around them: what is shown would not be what is there.
 */
export const toTerminalText = (text: string): string =>
  (mark === undefined ? [text] : text.split(mark)).map(toVisible).join("\u001b");

const toVisible = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(controls, toPicture);

// oxlint-disable-next-line no-control-regex -- they are to be replaced
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/g;

/** Unicode has a picture for each control character of ASCII, and none for the others. */
function toPicture(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
}

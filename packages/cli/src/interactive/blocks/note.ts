import { getCapabilities, hyperlink, type Text, toPlainText } from "@tau/tui";
import type { Look } from "../look.ts";
import { describeKey } from "./fold.ts";
import { ThemedText } from "./themed-text.ts";

type NoteColor = "dim" | "muted" | "warning" | "error" | "accent";

/** Creates a remark of the program itself. Nothing of it is styled by whoever wrote the text. */
export const createNote = (text: string, { theme }: Look, color: NoteColor = "dim"): Text =>
  new ThemedText(() => theme.fg(color, linkAddresses(toPlainText(text))));

/** Creates a remark that is a few lines until the output of tools is shown. */
export const createFoldedNote = (lines: readonly string[], whole: string, look: Look): Text =>
  new ThemedText(() => {
    const text = look.expandsTools ? whole : `${lines.join("\n")}${describeKey(" (", ")")}`;
    return look.theme.fg("dim", linkAddresses(toPlainText(text)));
  });

/** An address that is wrapped can still be opened. */
const linkAddresses = (text: string): string =>
  getCapabilities().hyperlinks ? text.replaceAll(/https?:\/\/[^\s"'<>]+/g, (url) => hyperlink(url, url)) : text;

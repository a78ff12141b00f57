import { getCapabilities, hyperlink, type Text, toPlainText } from "@tau/tui";
import type { Look } from "../look.ts";
import { ThemedText } from "./themed-text.ts";

type NoteColor = "dim" | "muted" | "warning" | "error" | "accent";

/** Creates a remark of the program itself. Nothing of it is styled by whoever wrote the text. */
export const createNote = (text: string, { theme }: Look, color: NoteColor = "dim"): Text =>
  new ThemedText(() => theme.fg(color, linkAddresses(toPlainText(text))));

/** An address that is wrapped can still be opened. */
const linkAddresses = (text: string): string =>
  getCapabilities().hyperlinks ? text.replaceAll(/https?:\/\/[^\s"'<>]+/g, (url) => hyperlink(url, url)) : text;

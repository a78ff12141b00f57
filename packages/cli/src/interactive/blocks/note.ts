import { Text, toPlainText } from "@tau/tui";
import type { Look } from "../look.ts";

type NoteColor = "dim" | "muted" | "warning" | "error" | "accent";

/** One remark of the program itself. Nothing of it is styled by whoever wrote the text. */
export const createNote = (text: string, { theme }: Look, color: NoteColor = "dim"): Text =>
  new Text(theme.fg(color, toPlainText(text)), 1, 0);

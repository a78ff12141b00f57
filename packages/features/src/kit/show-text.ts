/** Shows a text that is too long for a note: in the terminal in a pager, elsewhere as a note. */
import type { ExtensionContext } from "@tau/extensions";
import { Pager, type PagerHost } from "./pager.ts";
import { toVisible } from "./visible-text.ts";

interface ShownText {
  /** Stays in the conversation's window, where there is a pager. */
  readonly summary: string;
  readonly text: string;
}

/** Resolves when the person has closed the pager. */
export async function showText(
  { mode, ui }: Pick<ExtensionContext, "mode" | "ui">,
  { summary, text }: ShownText,
): Promise<void> {
  if (mode !== "tui") return ui.notify(`${summary}\n\n${toVisible(text)}`);
  ui.notify(summary);
  await ui.custom<void>((tui: PagerHost["tui"], theme, keybindings, done) => {
    return new Pager(text, { tui, theme, keybindings, onClose: done } as PagerHost);
  });
}

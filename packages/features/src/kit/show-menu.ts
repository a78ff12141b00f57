/** A list of things with their states and what can be done to each, drawn with the dialogs that every surface has. */
import type { ExtensionUi } from "@tau/extensions";

export interface MenuAction {
  readonly label: string;
  run(): void | Promise<void>;
}

export interface MenuRow {
  readonly label: string;
  /** Shown above the actions. */
  readonly details?: readonly string[];
  readonly actions: readonly MenuAction[];
}

interface Menu {
  readonly title: string;
  /** Called each time that the list is shown. */
  getRows(): readonly MenuRow[] | Promise<readonly MenuRow[]>;
}

/** Shows the list until the person leaves it, and again after each action. */
export async function showMenu(ui: Pick<ExtensionUi, "select">, menu: Menu): Promise<void> {
  for (;;) {
    const rows = await menu.getRows();
    const row = await choose(ui, menu.title, rows);
    if (!row) return;
    const title = [row.label, ...(row.details ?? [])].join("\n");
    await (await choose(ui, title, row.actions))?.run();
  }
}

/** Equal labels are numbered, since a dialog answers with a text. */
async function choose<T extends { readonly label: string }>(
  ui: Pick<ExtensionUi, "select">,
  title: string,
  items: readonly T[],
): Promise<T | undefined> {
  const labels = items.map(({ label }, index) => {
    const before = items.slice(0, index).filter((other) => other.label === label).length;
    return before === 0 ? label : `${label} (${before + 1})`;
  });
  const answer = await ui.select(title, labels);
  return answer === undefined ? undefined : items[labels.indexOf(answer)];
}

import { getKeybindings, Text } from "@tau/tui";
import type { Interface } from "../interface.ts";

/** Says that something takes a while, until `work` is settled. Escape calls `onCancel`, which should make it end. */
export async function waitFor<T>(
  ui: Interface,
  work: Promise<T>,
  { text, onCancel }: { text: string; onCancel: () => void },
): Promise<T> {
  await ui.open<void>((finish) => {
    const close = () => finish();
    work.then(close, close);
    return new WaitDialog(ui.theme.fg("muted", text), onCancel);
  });
  return await work;
}

class WaitDialog extends Text {
  readonly #onCancel: () => void;

  constructor(text: string, onCancel: () => void) {
    super(text, 1, 1);
    this.#onCancel = onCancel;
  }

  handleInput(data: string): void {
    if (getKeybindings().matches(data, "tui.select.cancel")) this.#onCancel();
  }
}

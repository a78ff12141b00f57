import { getKeybindings, Text, type Theme } from "@tau/tui";

/** Something takes a while. */
export class WaitDialog extends Text {
  readonly #onCancel: () => void;

  constructor(text: string, theme: Theme, onCancel: () => void) {
    super(theme.fg("muted", text), 1, 1);
    this.#onCancel = onCancel;
  }

  handleInput(data: string): void {
    if (getKeybindings().matches(data, "tui.select.cancel")) this.#onCancel();
  }
}

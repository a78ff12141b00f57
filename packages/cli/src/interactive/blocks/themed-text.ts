import { Text } from "@tau/tui";

/** A text that is styled again when the theme changes. */
export class ThemedText extends Text {
  readonly #style: () => string;

  constructor(style: () => string) {
    super(style(), 1, 0);
    this.#style = style;
  }

  override invalidate(): void {
    super.invalidate();
    this.setText(this.#style());
  }
}

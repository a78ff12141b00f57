import { type Component, Container, Input, Spacer, Text, type Theme } from "@tau/tui";

export interface AskTextOptions {
  question: string;
  theme: Theme;
  /** Shows dots instead of what is typed. */
  hidden?: boolean;
}

/** Resolves to what was typed; undefined if the user gave up. `open` shows the dialog. */
export function askText(options: AskTextOptions, open: (dialog: Component) => void): Promise<string | undefined> {
  return new Promise((resolve) => {
    const dialog = new AskText(options);
    dialog.input.onSubmit = resolve;
    dialog.input.onEscape = () => resolve(undefined);
    open(dialog);
  });
}

class AskText extends Container {
  readonly input: Input;

  constructor({ question, theme, hidden = false }: AskTextOptions) {
    super();
    this.input = hidden ? new HiddenInput() : new Input();
    this.children = [new Spacer(1), new Text(theme.fg("accent", question), 1, 0), this.input];
  }

  get focused(): boolean {
    return this.input.focused;
  }

  set focused(focused: boolean) {
    this.input.focused = focused;
  }

  handleInput(data: string): void {
    this.input.handleInput(data);
  }
}

/** For keys and passwords. */
class HiddenInput extends Input {
  override render(_width: number): string[] {
    return [`> ${"•".repeat(Math.min(this.getValue().length, 40))}`];
  }
}

import { type Component, Container, Input, Spacer, Text, type Theme } from "@tau/tui";

export interface AskTextOptions {
  question: string;
  theme: Theme;
  /** Shows dots instead of what is typed. */
  hidden?: boolean;
  /** What is there at first. */
  initial?: string;
}

/** Calls `finish` with what was typed; with undefined if the user gave up. */
export function createAskText(options: AskTextOptions, finish: (text: string | undefined) => void): Component {
  const dialog = new AskText(options);
  dialog.input.onSubmit = finish;
  dialog.input.onEscape = () => finish(undefined);
  return dialog;
}

class AskText extends Container {
  readonly input: Input;

  constructor({ question, theme, hidden = false, initial = "" }: AskTextOptions) {
    super();
    this.input = hidden ? new HiddenInput() : new Input();
    // Unlike setting the value, this leaves the cursor at its end.
    if (initial !== "") this.input.handleInput(`\x1b[200~${initial}\x1b[201~`);
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

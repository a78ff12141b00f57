/** Questions that are answered with a text. */
import {
  type Component,
  Container,
  type Focusable,
  getEditorTheme,
  Input,
  Spacer,
  Text,
  type Theme,
  type TUI,
} from "@tau/tui";
import { TextEditor } from "./text-editor.ts";

interface AskTextOptions {
  question: string;
  theme: Theme;
  /** Shows dots instead of what is typed. */
  hidden?: boolean;
  /** The text that is there at first. */
  initial?: string;
}

/** Calls `finish` with what was typed; with undefined if the user gave up. */
export function createAskText(
  { question, theme, hidden = false, initial = "" }: AskTextOptions,
  finish: (text: string | undefined) => void,
): Component {
  const input = hidden ? new HiddenInput() : new Input();
  // Unlike setting the value, this leaves the cursor at its end.
  if (initial !== "") input.handleInput(`\x1b[200~${initial}\x1b[201~`);
  input.onSubmit = finish;
  input.onEscape = () => finish(undefined);
  return new AskText(question, theme, input);
}

/** Asks for a text that may have several lines. */
export function createEditText(
  { question, theme, tui, initial = "" }: Omit<AskTextOptions, "hidden"> & { tui: TUI },
  finish: (text: string | undefined) => void,
): Component {
  const editor = new TextEditor(tui, getEditorTheme(theme));
  editor.setText(initial);
  editor.onSubmit = finish;
  editor.onCancel = () => finish(undefined);
  return new AskText(question, theme, editor);
}

type Field = Component & Focusable & Required<Pick<Component, "handleInput">>;

class AskText extends Container implements Focusable {
  readonly #field: Field;

  constructor(question: string, theme: Theme, field: Field) {
    super();
    this.#field = field;
    this.children = [new Spacer(1), new Text(theme.fg("accent", question), 1, 0), field];
  }

  get focused(): boolean {
    return this.#field.focused;
  }

  set focused(focused: boolean) {
    this.#field.focused = focused;
  }

  handleInput(data: string): void {
    this.#field.handleInput(data);
  }
}

/** For keys and passwords. */
class HiddenInput extends Input {
  override render(_width: number): string[] {
    return [`> ${"•".repeat(Math.min(this.getValue().length, 40))}`];
  }
}

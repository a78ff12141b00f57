/** Dialogs that ask for a text. */
import {
  Container,
  Editor,
  type EditorOptions,
  Input,
  type KeybindingsManager,
  Spacer,
  Text,
  type TUI,
} from "@tau/tui";
import { getEditorTheme, theme } from "../theme/theme.ts";
import { DynamicBorder } from "./dynamic-border.ts";
import { isAction } from "./keys.ts";
import { keyHint } from "./key-hints.ts";

const createTitle = (title: string): Text => new Text(theme.fg("accent", theme.bold(title)), 1, 0);

/** Asks for one line of text. */
export class ExtensionInputComponent extends Container {
  readonly #input: Input;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onCancel: () => void;

  constructor(
    title: string,
    placeholder: string | undefined,
    onSubmit: (value: string) => void,
    onCancel: () => void,
    { timeout, initialValue }: { timeout?: number; initialValue?: string } = {},
  ) {
    super();
    this.#onCancel = onCancel;
    this.#input = new Input(placeholder === undefined ? {} : { placeholder });
    if (initialValue !== undefined) this.#input.setValue(initialValue);
    this.#input.onSubmit = onSubmit;
    this.addChild(new DynamicBorder());
    this.addChild(createTitle(title));
    this.addChild(new Spacer(1));
    this.addChild(this.#input);
    this.addChild(new DynamicBorder());
    this.#timer = timeout === undefined ? undefined : setTimeout(onCancel, timeout);
  }

  get focused(): boolean {
    return this.#input.focused;
  }

  set focused(value: boolean) {
    this.#input.focused = value;
  }

  handleInput(data: string): void {
    if (isAction(data, "tui.select.cancel")) this.#onCancel();
    else this.#input.handleInput(data);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}

/** Several lines. */
export class ExtensionEditorComponent extends Container {
  readonly #editor: Editor;
  readonly #onCancel: () => void;

  constructor(
    tui: TUI,
    _keybindings: KeybindingsManager,
    title: string,
    prefill: string | undefined,
    onSubmit: (value: string) => void,
    onCancel: () => void,
    options: EditorOptions = {},
  ) {
    super();
    this.#onCancel = onCancel;
    this.#editor = new Editor(tui, getEditorTheme(), options);
    if (prefill !== undefined) this.#editor.setText(prefill);
    this.#editor.onSubmit = onSubmit;
    this.addChild(new DynamicBorder());
    this.addChild(createTitle(title));
    this.addChild(new Spacer(1));
    this.addChild(this.#editor);
    const hints = [keyHint("tui.input.submit", "submit"), keyHint("tui.select.cancel", "cancel")];
    this.addChild(new Text(hints.join("  "), 1, 0));
    this.addChild(new DynamicBorder());
  }

  get focused(): boolean {
    return this.#editor.focused;
  }

  set focused(value: boolean) {
    this.#editor.focused = value;
  }

  handleInput(data: string): void {
    if (isAction(data, "tui.select.cancel")) this.#onCancel();
    else this.#editor.handleInput(data);
  }
}

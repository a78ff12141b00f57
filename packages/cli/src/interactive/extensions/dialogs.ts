/** The dialogs of extensions: in the place of the editor, with the time that is left, and closed when they are not needed. */
import type { DialogOptions } from "@tau/extensions";
import {
  type Component,
  Container,
  type Focusable,
  getEditorTheme,
  getSelectListTheme,
  Input,
  isFocusable,
  SelectList,
  Spacer,
  Text,
  type Theme,
  type TUI,
} from "@tau/tui";
import type { DialogStack } from "../dialog-stack.ts";
import { TextEditor } from "../dialogs/text-editor.ts";
import { LiveLines } from "../live-lines.ts";
import { toStyledLine, toStyledText } from "./safe-text.ts";

interface ExtensionDialogsOptions {
  tui: TUI;
  theme: Theme;
  stack: DialogStack;
}

const maxOptions = 10;
/** The title, the position in the list, and the two lines of the status. */
const rowsBesides = 4;

/** A timer that is set for longer ends at once. */
const maxTimeoutMs = 2 ** 31 - 1;

export class ExtensionDialogs {
  readonly #options: ExtensionDialogsOptions;
  /** How to cancel those that are open. */
  readonly #open = new Set<() => void>();
  #isClosed = false;

  constructor(options: ExtensionDialogsOptions) {
    this.#options = options;
  }

  select(title: string, options: readonly string[], dialog: DialogOptions = {}): Promise<string | undefined> {
    return this.#ask(title, dialog, (finish) => {
      const items = options.map((label, index) => ({ value: String(index), label: toStyledLine(label) }));
      // Labels are what is chosen between, so they get the room of descriptions too.
      const layout = { maxPrimaryColumnWidth: Number.MAX_SAFE_INTEGER };
      const { theme, tui } = this.#options;
      const getMaxVisible = () => Math.max(1, Math.min(maxOptions, tui.terminal.rows - rowsBesides));
      const list = new SelectList(items, getMaxVisible, getSelectListTheme(theme), layout);
      list.onSelect = ({ value }) => finish(options[Number(value)]);
      list.onCancel = () => finish(undefined);
      return list;
    });
  }

  async confirm(title: string, message: string, dialog: DialogOptions = {}): Promise<boolean> {
    const text = message === "" ? title : `${title}\n${message}`;
    return (await this.select(text, ["Yes", "No"], dialog)) === "Yes";
  }

  input(title: string, placeholder = "", dialog: DialogOptions = {}): Promise<string | undefined> {
    return this.#ask(title, dialog, (finish) => {
      const { theme } = this.#options;
      const input = new Input({
        placeholder: toStyledLine(placeholder),
        placeholderStyle: (text) => theme.fg("dim", text),
      });
      input.onSubmit = finish;
      input.onEscape = () => finish(undefined);
      return input;
    });
  }

  editor(title: string, prefill = "", dialog: DialogOptions = {}): Promise<string | undefined> {
    return this.#ask(title, dialog, (finish) => {
      const { tui, theme } = this.#options;
      const editor = new TextEditor(tui, getEditorTheme(theme));
      editor.setText(prefill);
      editor.onSubmit = finish;
      editor.onCancel = () => finish(undefined);
      return editor;
    });
  }

  /** Cancels all of them. */
  cancel(): void {
    for (const cancel of this.#open) cancel();
  }

  /** Ends all dialogs, also those to come: nobody is there. */
  close(): void {
    this.#isClosed = true;
    this.cancel();
  }

  #ask<T>(
    title: string,
    { signal, timeout: wanted }: DialogOptions,
    create: (finish: (value: T | undefined) => void) => Component,
  ): Promise<T | undefined> {
    if (this.#isClosed || signal?.aborted) return Promise.resolve(undefined);
    const { stack, theme, tui } = this.#options;
    const timeout = wanted !== undefined && wanted <= maxTimeoutMs ? wanted : undefined;
    const deadline = timeout === undefined ? undefined : performance.now() + timeout;
    return new Promise((resolve) => {
      const finish = (value: T | undefined): void => {
        if (!this.#open.delete(cancel)) return;
        clearTimeout(timer);
        clearInterval(ticker);
        signal?.removeEventListener("abort", cancel);
        stack.close(dialog);
        resolve(value);
      };
      const cancel = (): void => finish(undefined);
      const drawTitle = (): string => {
        const seconds =
          deadline === undefined ? undefined : Math.max(0, Math.ceil((deadline - performance.now()) / 1_000));
        const left = seconds === undefined ? "" : theme.fg("dim", ` (${seconds} s)`);
        return theme.fg("accent", theme.bold(toStyledText(title))) + left;
      };
      const dialog = new Dialog(drawTitle, create(finish));
      const timer = timeout === undefined ? undefined : setTimeout(cancel, timeout);
      const ticker = timeout === undefined ? undefined : setInterval(() => tui.requestRender(), 1_000);
      signal?.addEventListener("abort", cancel);
      this.#open.add(cancel);
      stack.open(dialog);
    });
  }
}

/** A title, and below it what gets the keys. */
class Dialog extends Container implements Focusable {
  readonly #body: Component;

  constructor(drawTitle: () => string, body: Component) {
    super();
    this.#body = body;
    const title = new Text("", 1, 0);
    const drawn = new LiveLines((width) => {
      title.setText(drawTitle());
      return title.render(width);
    });
    this.children = [new Spacer(1), drawn, body];
  }

  get focused(): boolean {
    return isFocusable(this.#body) && this.#body.focused;
  }

  set focused(focused: boolean) {
    if (isFocusable(this.#body)) this.#body.focused = focused;
  }

  get wantsPageKeys(): boolean {
    return this.#body.wantsPageKeys ?? false;
  }

  handleInput(data: string): void {
    this.#body.handleInput?.(data);
  }
}

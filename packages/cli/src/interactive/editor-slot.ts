/** The editor of prompts: ours, or one that an extension has put in its place. */
import { getErrorMessage } from "@tau/ai/internal";
import {
  type AutocompleteProvider,
  type Component,
  Editor,
  type EditorComponent,
  type EditorOptions,
  type EditorTheme,
  type Focusable,
  isFocusable,
  type KeybindingsManager,
  type TUI,
} from "@tau/tui";
import { type AppKeybinding, editorActions } from "./keybindings.ts";

interface EditorSlotOptions {
  tui: TUI;
  theme: EditorTheme;
  keybindings: KeybindingsManager;
  settings: Required<EditorOptions>;
  /** Called with the reason why the editor of an extension is not used any more. */
  onFailed: (message: string) => void;
}

/** Reacts to what the user types. */
interface EditorListener {
  onChange: () => void;
  onSubmit: (text: string) => void;
  /** Does what a key of the program does. */
  act: (action: AppKeybinding) => void;
  /** Whether the input was the key of an extension. */
  runShortcut: (data: string) => boolean;
}

export type EditorFactory = (tui: TUI, theme: EditorTheme, keybindings: KeybindingsManager) => EditorComponent;

/** An editor of an extension that handles the keys of the program itself, so that it can use some of them otherwise. */
interface ActingEditor extends EditorComponent {
  onAction(action: string, handler: () => void): void;
  onExtensionShortcut?: (data: string) => boolean;
}

export class EditorSlot implements Component, Focusable {
  readonly #options: EditorSlotOptions;
  readonly #builtIn: Editor;
  #current: EditorComponent;
  #factory: EditorFactory | undefined;
  #provider: AutocompleteProvider | undefined;
  #listener: EditorListener | undefined;
  /** The last text in the editor of an extension. */
  #typed = "";
  #isFocused = false;

  constructor(options: EditorSlotOptions) {
    this.#options = options;
    this.#builtIn = new Editor(options.tui, options.theme, options.settings);
    this.#current = this.#builtIn;
    this.#connect(this.#builtIn);
  }

  /** Sets who reacts to what is typed. */
  listen(listener: EditorListener): void {
    this.#listener = listener;
  }

  get factory(): EditorFactory | undefined {
    return this.#factory;
  }

  /** Whether the keys of the program go through the editor. */
  get handlesActions(): boolean {
    return isActing(this.#current);
  }

  /** Undefined: ours. What was typed stays. An editor that cannot be created is reported, and ours is used. */
  setFactory(factory: EditorFactory | undefined): void {
    const { tui, theme, keybindings } = this.#options;
    try {
      this.#use(factory ? factory(tui, theme, keybindings) : this.#builtIn);
      this.#factory = factory;
    } catch (error) {
      this.#giveUp(error);
    }
  }

  getText(): string {
    return this.#guard(() => this.#current.getText()) ?? this.#typed;
  }

  /** With pasted texts in the place of their markers. */
  getExpandedText(): string {
    return this.#guard(() => this.#current.getExpandedText?.()) ?? this.getText();
  }

  setText(text: string): void {
    this.#guard(() => this.#current.setText(text));
  }

  addToHistory(text: string): void {
    this.#builtIn.addToHistory(text);
    if (this.#current !== this.#builtIn) this.#guard(() => this.#current.addToHistory?.(text));
  }

  insertTextAtCursor(text: string): void {
    if (this.#current.insertTextAtCursor) this.#guard(() => this.#current.insertTextAtCursor?.(text));
    else this.setText(this.getExpandedText() + text);
  }

  /** Inserts a text as if the user pasted it. */
  paste(text: string): void {
    this.handleInput(`\x1b[200~${text}\x1b[201~`);
  }

  redo(): void {
    this.#guard(() => (this.#current as Partial<Editor>).redo?.());
  }

  isShowingAutocomplete(): boolean {
    return this.#guard(() => (this.#current as Partial<Editor>).isShowingAutocomplete?.()) ?? false;
  }

  setPaddingX(padding: number): void {
    this.#options.settings.paddingX = padding;
    this.#builtIn.setPaddingX(padding);
    if (this.#current !== this.#builtIn) this.#guard(() => this.#current.setPaddingX?.(padding));
  }

  /** The mode of the keys of vim in our editor; undefined without them. */
  get vimMode(): Editor["vimMode"] {
    return this.#current === this.#builtIn ? this.#builtIn.vimMode : undefined;
  }

  /** Only ours has them: an editor of an extension has keys of its own. */
  setVimKeys(isOn: boolean): void {
    this.#builtIn.setVimKeys(isOn);
  }

  /** Whether a key is one of vim here, and not one of the program. */
  takesKey(data: string): boolean {
    return this.#current === this.#builtIn && this.#builtIn.takesKey(data);
  }

  setAutocompleteMaxVisible(maxVisible: number): void {
    this.#options.settings.autocompleteMaxVisible = maxVisible;
    this.#builtIn.setAutocompleteMaxVisible(maxVisible);
    if (this.#current !== this.#builtIn) this.#guard(() => this.#current.setAutocompleteMaxVisible?.(maxVisible));
  }

  setAutocompleteProvider(provider: AutocompleteProvider): void {
    this.#provider = provider;
    this.#builtIn.setAutocompleteProvider(provider);
    if (this.#current !== this.#builtIn) this.#guard(() => this.#current.setAutocompleteProvider?.(provider));
  }

  get focused(): boolean {
    return this.#isFocused;
  }

  set focused(focused: boolean) {
    this.#isFocused = focused;
    this.#guard(() => {
      if (isFocusable(this.#current)) this.#current.focused = focused;
    });
  }

  get wantsKeyRelease(): boolean {
    return this.#current.wantsKeyRelease ?? false;
  }

  handleInput(data: string): void {
    this.#guard(() => this.#current.handleInput(data));
  }

  handleMouse(event: Parameters<NonNullable<Component["handleMouse"]>>[0]) {
    return this.#guard(() => this.#current.handleMouse?.(event));
  }

  render(width: number): string[] {
    return this.#guard(() => this.#draw(width)) ?? this.#builtIn.render(width);
  }

  invalidate(): void {
    this.#builtIn.invalidate();
    if (this.#current !== this.#builtIn) this.#guard(() => this.#current.invalidate());
  }

  #draw(width: number): string[] {
    const lines = this.#current.render(width);
    // An editor of an extension may change the lines of ours, which are kept.
    return this.#current === this.#builtIn ? lines : [...lines];
  }

  #use(next: EditorComponent): void {
    const before = this.#current;
    if (next === before) return;
    if (next !== this.#builtIn) this.#connect(next);
    const text = getWholeText(before);
    this.#typed = text;
    if (next.getText() !== text) next.setText(text);
    if (isFocusable(before)) before.focused = false;
    this.#current = next;
    if (isFocusable(next)) next.focused = this.#isFocused;
    this.#options.tui.requestRender();
  }

  #connect(editor: EditorComponent): void {
    const { settings } = this.#options;
    editor.onChange = () => {
      if (editor !== this.#builtIn) this.#typed = getWholeText(editor);
      this.#listener?.onChange();
    };
    editor.onSubmit = (text) => {
      // An editor of an extension may leave it there.
      if (editor !== this.#builtIn) editor.setText("");
      this.#listener?.onSubmit(text);
    };
    editor.setPaddingX?.(settings.paddingX);
    editor.setAutocompleteMaxVisible?.(settings.autocompleteMaxVisible);
    if (this.#provider) editor.setAutocompleteProvider?.(this.#provider);
    if (!isActing(editor)) return;
    editor.onExtensionShortcut = (data) => this.#listener?.runShortcut(data) ?? false;
    for (const action of editorActions) editor.onAction(action, () => this.#listener?.act(action));
  }

  /** An editor of an extension that fails is taken away, so that the user can continue writing. */
  #guard<T>(work: () => T): T | undefined {
    if (this.#current === this.#builtIn) return work();
    try {
      return work();
    } catch (error) {
      this.#giveUp(error);
      return undefined;
    }
  }

  #giveUp(error: unknown): void {
    this.#options.onFailed(`The editor of an extension failed: ${getErrorMessage(error)}`);
    this.#factory = undefined;
    if (this.#current === this.#builtIn) return;
    this.#current = this.#builtIn;
    this.#builtIn.setText(this.#typed);
    this.#builtIn.focused = this.#isFocused;
  }
}

/** With pasted texts in the place of their markers. */
const getWholeText = (editor: EditorComponent): string => editor.getExpandedText?.() ?? editor.getText();

const isActing = (editor: EditorComponent): editor is ActingEditor =>
  "onAction" in editor && typeof editor.onAction === "function";

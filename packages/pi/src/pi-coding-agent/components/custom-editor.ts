import {
  Editor,
  type EditorOptions,
  type EditorTheme,
  type Keybinding,
  type KeybindingsManager,
  type TUI,
} from "@tau/tui";

/** The editor of prompts: keys of the program come before those of the editor. Extensions derive theirs from it. */
export class CustomEditor extends Editor {
  readonly embedWorkingStatus: boolean;
  readonly actionHandlers = new Map<string, () => void>();
  onEscape?: () => void;
  onCtrlD?: () => void;
  onPasteImage?: () => void;
  /** True if the key was a shortcut of an extension. */
  onExtensionShortcut?: (data: string) => boolean;
  readonly #keybindings: KeybindingsManager;

  constructor(
    tui: TUI,
    theme: EditorTheme,
    keybindings: KeybindingsManager,
    { embedWorkingStatus = false, ...options }: EditorOptions & { embedWorkingStatus?: boolean } = {},
  ) {
    super(tui, theme, options);
    this.#keybindings = keybindings;
    this.embedWorkingStatus = embedWorkingStatus;
  }

  onAction(action: string, handler: () => void): void {
    this.actionHandlers.set(action, handler);
  }

  override handleInput(data: string): void {
    if (this.onExtensionShortcut?.(data)) return;
    const handler = this.#findHandler(data);
    if (handler) handler();
    else super.handleInput(data);
  }

  #findHandler(data: string): (() => void) | undefined {
    const is = (action: string) => this.#keybindings.matches(data, action as Keybinding);
    if (is("app.clipboard.pasteImage")) return this.onPasteImage;
    // While suggestions are shown, the key closes them.
    if (is("app.interrupt")) {
      return this.isShowingAutocomplete() ? undefined : (this.onEscape ?? this.actionHandlers.get("app.interrupt"));
    }
    // In a text, the key deletes a character.
    if (is("app.exit")) {
      return this.getText() === "" ? (this.onCtrlD ?? this.actionHandlers.get("app.exit")) : undefined;
    }
    return [...this.actionHandlers].find(([action]) => is(action))?.[1];
  }
}

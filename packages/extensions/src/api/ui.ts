/**
 * The interface through which extensions show and ask. A terminal, an RPC client or nothing is behind it. A terminal,
 * an RPC client or nothing is behind it. Components are those of `@tau/tui`, which this package does not know: here
 * they are only passed on.
 */
import { plainTheme } from "./plain-theme.ts";

/** See `Component` of `@tau/tui`. */
export interface UiComponent {
  render(width: number): string[];
  handleInput?(data: string): void;
  invalidate?(): void;
  dispose?(): void;
}

/** Called with the interface, its theme and more: see the surface that calls it. */
// oxlint-disable-next-line typescript/no-explicit-any -- the terminal and the extension know the types, this package does not
export type UiFactory<T = UiComponent> = (...args: any[]) => T;

export interface DialogOptions {
  /** Closes the dialog, which then answers as if it was cancelled. */
  signal?: AbortSignal;
  /** Milliseconds after which it is cancelled. */
  timeout?: number;
}

interface WorkingIndicatorOptions {
  /** None hides the indicator. */
  frames?: string[];
  intervalMs?: number;
}

export interface ExtensionUi {
  select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined>;
  confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
  input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
  /** Several lines. */
  editor(title: string, prefill?: string, dialog?: DialogOptions): Promise<string | undefined>;
  notify(message: string, type?: "info" | "warning" | "error"): void;
  onTerminalInput(handler: (data: string) => { consume?: boolean; data?: string } | undefined): () => void;
  /** Undefined removes it. */
  setStatus(key: string, text: string | undefined): void;
  setWorkingMessage(message?: string): void;
  setWorkingVisible(visible: boolean): void;
  setWorkingIndicator(options?: WorkingIndicatorOptions): void;
  setHiddenThinkingLabel(label?: string): void;
  setWidget(
    key: string,
    content: string[] | UiFactory | undefined,
    options?: { placement?: "aboveEditor" | "belowEditor" },
  ): void;
  setFooter(factory: UiFactory | undefined): void;
  setHeader(factory: UiFactory | undefined): void;
  setTitle(title: string): void;
  /** Shows a component that gets the keys until it calls `done`. Undefined where components cannot be shown. */
  custom<T>(
    factory: UiFactory<UiComponent | Promise<UiComponent>>,
    options?: { overlay?: boolean; overlayOptions?: unknown; onHandle?: (handle: unknown) => void; blocked?: unknown },
  ): Promise<T | undefined>;
  pasteToEditor(text: string): void;
  setEditorText(text: string): void;
  getEditorText(): string;
  addAutocompleteProvider(factory: UiFactory<unknown>): void;
  setEditorComponent(factory: UiFactory | undefined): void;
  getEditorComponent(): UiFactory | undefined;
  /** See `Theme` of `@tau/tui`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- see `UiFactory`
  readonly theme: any;
  getAllThemes(): { name: string; path: string | undefined }[];
  getTheme(name: string): unknown;
  setTheme(theme: unknown): { success: boolean; error?: string };
  getToolsExpanded(): boolean;
  setToolsExpanded(expanded: boolean): void;
}

/** Where nobody can be asked and nothing can be shown: dialogs are cancelled at once. */
export const noUi: ExtensionUi = {
  select: async () => undefined,
  confirm: async () => false,
  input: async () => undefined,
  editor: async () => undefined,
  notify: () => {},
  onTerminalInput: () => () => {},
  setStatus: () => {},
  setWorkingMessage: () => {},
  setWorkingVisible: () => {},
  setWorkingIndicator: () => {},
  setHiddenThinkingLabel: () => {},
  setWidget: () => {},
  setFooter: () => {},
  setHeader: () => {},
  setTitle: () => {},
  custom: async () => undefined,
  pasteToEditor: () => {},
  setEditorText: () => {},
  getEditorText: () => "",
  addAutocompleteProvider: () => {},
  setEditorComponent: () => {},
  getEditorComponent: () => undefined,
  theme: plainTheme,
  getAllThemes: () => [],
  getTheme: () => undefined,
  setTheme: () => ({ success: false, error: "There is no terminal whose theme could be set." }),
  getToolsExpanded: () => false,
  setToolsExpanded: () => {},
};

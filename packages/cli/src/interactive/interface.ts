/** The interface as the commands that are typed after a slash see it. */
import type { Approval, View } from "@tau/protocol";
import type { Component, SelectItem, Theme } from "@tau/tui";
import type { AppKeybinding } from "./keybindings.ts";
import type { Program } from "./program.ts";
import type { SessionClient } from "./session-client.ts";
import type { Themes } from "./themes.ts";

export interface Interface {
  readonly client: SessionClient;
  readonly view: View;
  readonly theme: Theme;
  /** Rows of the terminal. */
  readonly rows: number;
  readonly columns: number;
  readonly program: Program;
  /** All lines of the interface as they are drawn now, with styles; some may be in the scrollback. */
  renderLines(): readonly string[];
  /** Prints a remark below the conversation. */
  say(text: string, color?: "dim" | "warning" | "error"): void;
  /** Prints Markdown of the program itself below the conversation. */
  sayMarkdown(text: string): void;
  /** Resolves to what was chosen; undefined if the user closed the list. */
  choose(
    title: string,
    items: readonly SelectItem[],
    options?: {
      selected?: string;
      search?: string;
      hint?: string;
      onHighlight?: (value: string) => void;
      confirmsSearch?: boolean;
    },
  ): Promise<string | undefined>;
  /** Resolves to what was typed; undefined if the user gave up. */
  ask(question: string, options?: { hidden?: boolean; initial?: string }): Promise<string | undefined>;
  /** Lets the user edit a text of several lines; resolves to undefined if they gave up. */
  edit(question: string, text: string): Promise<string | undefined>;
  /** Shows a dialog until it calls `finish`. What was shown before comes back then. */
  open<T>(create: (finish: (value: T) => void) => Component): Promise<T>;
  /** Draws soon, after something has changed that no key has caused. */
  redraw(): void;
  /** Shows a question of the policy, and sends the answer. */
  answer(approval: Approval): Promise<void>;
  setEditorText(text: string): void;
  /** Shows another session, which is open already. */
  show(sessionId: string): Promise<void>;
  /** Shows a session of another directory, and works there from then on. */
  move(client: SessionClient): Promise<void>;
  /** Runs work that a dialog has started; what it throws is said. */
  run(work: () => Promise<void>): void;
  /**
   * Makes what the user sends wait for this work, such as a question and what its answer changes: keys that arrive together may
   * answer it and send a message. What is typed is taken meanwhile.
   */
  settle<T>(work: () => Promise<T>): Promise<T>;
  /** Gives notices with this code to `take` instead of printing them, until the function that is returned is called. */
  takeNotices(code: string, take: (message: string) => void): () => void;
  copy(text: string): void;
  describeKey(id: AppKeybinding | "tui.editor.undo" | "tui.input.tab"): string;
  readonly themes: Themes;
  /** Reads themes and keys again; resolves to what is wrong with them. */
  reloadTerminal(): Promise<readonly string[]>;
  leave(): void;
}

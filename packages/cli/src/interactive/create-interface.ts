/** Gives slash commands what they may do to the interface. */
import type { View } from "@tau/protocol";
import type { Terminal, TUI } from "@tau/tui";
import type { DialogStack } from "./dialog-stack.ts";
import { createAskText, createEditText } from "./dialogs/ask-text.ts";
import { Picker } from "./dialogs/picker.ts";
import type { EditorSlot } from "./editor-slot.ts";
import type { Interface } from "./interface.ts";
import type { OpenQuestions } from "./open-questions.ts";
import type { SessionClient } from "./session-client.ts";

export interface InterfaceParts extends Pick<
  Interface,
  | "theme"
  | "program"
  | "say"
  | "sayMarkdown"
  | "move"
  | "run"
  | "settle"
  | "takeNotices"
  | "copy"
  | "describeKey"
  | "themes"
  | "reloadTerminal"
  | "leave"
> {
  tui: TUI;
  terminal: Terminal;
  dialogs: DialogStack;
  questions: OpenQuestions;
  editor: EditorSlot;
  getClient: () => SessionClient;
  getView: () => View;
  requestRender: () => void;
}

export function createInterface(parts: InterfaceParts): Interface {
  const { tui, terminal, dialogs, questions, editor, getClient, getView, requestRender, ...own } = parts;
  const { theme, move } = own;
  return {
    ...own,
    get client() {
      return getClient();
    },
    get view() {
      return getView();
    },
    get rows() {
      return terminal.rows;
    },
    get columns() {
      return terminal.columns;
    },
    choose: (title, items, { onHighlight, ...options } = {}) =>
      dialogs.ask((finish) => {
        const highlight = onHighlight && {
          onHighlight: (value: string) => {
            onHighlight(value);
            requestRender();
          },
        };
        return new Picker({
          title,
          items,
          theme,
          size: terminal,
          ...options,
          ...highlight,
          onSelect: ({ value }) => finish(value),
          onCancel: () => finish(undefined),
        });
      }),
    ask: (question, options = {}) => dialogs.ask((finish) => createAskText({ question, theme, ...options }, finish)),
    edit: (question, text) => dialogs.ask((finish) => createEditText({ question, theme, tui, initial: text }, finish)),
    open: (create) => dialogs.ask(create),
    redraw: requestRender,
    answer: (approval) => questions.ask(approval),
    setEditorText: (text) => editor.setText(text),
    // An extension may have kept the user where they are.
    show: async (sessionId) => {
      if (sessionId !== getClient().sessionId) await move(getClient().to(sessionId));
    },
  };
}

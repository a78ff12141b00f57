/** Gives slash commands what they may do to the interface. */
import type { Terminal, TUI } from "@tau/tui";
import type { DialogStack } from "./dialog-stack.ts";
import { createAskText, createEditText } from "./dialogs/ask-text.ts";
import type { EditorSlot } from "./editor-slot.ts";
import type { Exit } from "./exit.ts";
import type { FollowedSession } from "./followed-session.ts";
import type { Interface } from "./interface.ts";
import type { OpenQuestions } from "./open-questions.ts";
import type { Remarks } from "./remarks.ts";
import type { SubmissionGate } from "./submission-gate.ts";

interface InterfaceParts extends Pick<
  Interface,
  "program" | "themes" | "choose" | "copy" | "describeKey" | "reloadTerminal"
> {
  tui: TUI;
  terminal: Terminal;
  session: FollowedSession;
  remarks: Remarks;
  dialogs: DialogStack;
  questions: OpenQuestions;
  editor: EditorSlot;
  gate: SubmissionGate;
  exit: Exit;
  requestRender: () => void;
}

export function createInterface(parts: InterfaceParts): Interface {
  const { tui, terminal, session, remarks, dialogs, questions, editor, gate, exit, themes, requestRender } = parts;
  const { theme } = themes;
  return {
    get client() {
      return session.client;
    },
    get view() {
      return session.view;
    },
    get rows() {
      return terminal.rows;
    },
    get columns() {
      return terminal.columns;
    },
    renderLines: () => tui.render(terminal.columns),
    theme,
    themes,
    program: parts.program,
    say: remarks.say,
    sayMarkdown: remarks.sayMarkdown,
    run: remarks.run,
    takeNotices: remarks.takeNotices,
    choose: parts.choose,
    ask: (question, options = {}) => dialogs.ask((finish) => createAskText({ question, theme, ...options }, finish)),
    edit: (question, text) => dialogs.ask((finish) => createEditText({ question, theme, tui, initial: text }, finish)),
    open: (create) => dialogs.ask(create),
    redraw: requestRender,
    answer: (approval) => questions.ask(approval),
    setEditorText: (text) => editor.setText(text),
    settle: gate.settle,
    move: (client) => session.show(client),
    // An extension may have kept the user where they are.
    show: async (sessionId) => {
      if (sessionId !== session.client.sessionId) await session.showId(sessionId);
    },
    copy: parts.copy,
    describeKey: parts.describeKey,
    reloadTerminal: parts.reloadTerminal,
    leave: () => remarks.run(() => exit.ask()),
  };
}

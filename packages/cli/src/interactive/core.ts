/** The parts of the interface that every other part is built on. Each is complete: none of them needs a part that follows. */
import { getEditorTheme, type Keybinding, type KeybindingsManager, type Terminal, type TUI } from "@tau/tui";
import { DialogStack } from "./dialog-stack.ts";
import { EditorSlot } from "./editor-slot.ts";
import { FollowedSession } from "./followed-session.ts";
import { Highlighter } from "./highlight/highlight.ts";
import { createLook, type Look } from "./look.ts";
import { Outbox } from "./outbox.ts";
import { Remarks } from "./remarks.ts";
import { createScreen } from "./screen.ts";
import type { SessionClient } from "./session-client.ts";
import type { TerminalSettings } from "./settings.ts";
import { ShellCommands } from "./shell-commands.ts";
import { SubmissionGate } from "./submission-gate.ts";
import type { Themes } from "./themes.ts";
import { Transcript } from "./transcript.ts";
import { countTail } from "./transcript-tail.ts";

export interface CoreOptions {
  client: SessionClient;
  terminal: Terminal;
  themes: Themes;
  settings: TerminalSettings;
  keybindings: KeybindingsManager;
  /** Milliseconds, from any point on. */
  now: () => number;
}

export interface Core {
  readonly tui: TUI;
  readonly highlighter: Highlighter;
  readonly look: Look;
  readonly transcript: Transcript;
  readonly remarks: Remarks;
  readonly session: FollowedSession;
  readonly editor: EditorSlot;
  /** In the place of the editor. */
  readonly dialogs: DialogStack;
  readonly shell: ShellCommands;
  readonly outbox: Outbox;
  readonly gate: SubmissionGate;
  readonly requestRender: () => void;
  /** Draws everything anew. */
  readonly redraw: () => void;
  readonly describeKey: (id: Keybinding) => string;
}

export function createCore({ client, terminal, themes, settings, keybindings, now }: CoreOptions): Core {
  const { theme } = themes;
  const tui = createScreen(terminal, settings, theme);
  const requestRender = () => tui.requestRender();
  const redraw = () => {
    tui.invalidate();
    tui.requestRender();
  };
  const highlighter = new Highlighter(theme, redraw);
  const look = createLook({ theme, terminal, highlighter, settings });
  const transcript = createTranscript({ look, terminal, settings, now });
  const remarks = new Remarks(transcript, requestRender);
  const session = new FollowedSession(client, remarks);
  const getClient = () => session.client;
  const editor = new EditorSlot({
    tui,
    theme: getEditorTheme(theme),
    keybindings,
    settings: { paddingX: settings.editorPaddingX, autocompleteMaxVisible: settings.autocompleteMaxVisible },
    onFailed: (message) => remarks.say(message, "error"),
  });
  editor.setVimKeys(settings.editorMode === "vim");
  return {
    tui,
    highlighter,
    look,
    transcript,
    remarks,
    session,
    editor,
    dialogs: new DialogStack(editor, (component) => tui.setFocus(component)),
    shell: new ShellCommands({ transcript, getClient, now, requestRender }),
    outbox: new Outbox(getClient, requestRender),
    gate: new SubmissionGate(),
    requestRender,
    redraw,
    describeKey: (id) => keybindings.getKeys(id).join(", "),
  };
}

interface TranscriptParts extends Pick<CoreOptions, "terminal" | "settings" | "now"> {
  look: Look;
}

function createTranscript({ look, terminal, settings, now }: TranscriptParts): Transcript {
  if (settings.tuiMode === "fullscreen") {
    return new Transcript({ look, now, describeOlder: () => "Earlier messages appear as you scroll up." });
  }
  return new Transcript({
    look,
    now,
    // What has left the screen cannot be drawn again, so only the end is drawn at first.
    countFirst: (entries) => countTail(entries, terminal),
    describeOlder: ({ entryCount }) => `Earlier messages are not shown here. /tree shows all ${entryCount} entries.`,
  });
}

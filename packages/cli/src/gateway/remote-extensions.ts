/** Shows what the extensions of a session in a gateway ask and show, in the terminal that is attached to it. */
import type { ExtensionSurface, ExtensionUi } from "@tau/extensions";
import { emptyUi, listUiFrames, type UiAnswer, type UiDialog, type UiNote } from "@tau/protocol";
import type { DialogFrame } from "@tau/protocol/gateway";
import type { RemoteSession } from "@tau/protocol/client";
import type { ExtensionClient, LoadedExtensions } from "../interactive/extensions/extension-client.ts";

/** They run elsewhere: nothing of them is in this process. */
const none: LoadedExtensions = {
  list: [],
  idle: [],
  problems: [],
  registrations: { tools: new Map(), flags: new Map(), commands: new Map(), shortcuts: new Map(), problems: [] },
  replaced: [],
  runShortcut: async () => false,
};

/** `getSession` is asked when the session is shown: a session that is left is closed. */
export const createRemoteExtensions = (getSession: () => RemoteSession): ExtensionClient => ({
  isRemote: true,
  loaded: none,
  attach: async ({ ui }: ExtensionSurface) => showUi(getSession(), ui),
  onToolUpdate: () => () => {},
  waitForIdle: async () => {},
});

/** Shows what extensions ask and show from now on. Returns how to stop; what is open then stays open for others. */
function showUi(session: RemoteSession, ui: ExtensionUi): () => void {
  let shown = emptyUi;
  const open = new Map<string, AbortController>();
  const ask = async (id: string, dialog: UiDialog): Promise<void> => {
    const controller = new AbortController();
    open.set(id, controller);
    const answer = await askUser(ui, dialog, controller.signal);
    // Somebody else has answered it, or nobody shows the session here any more.
    if (controller.signal.aborted) return;
    open.delete(id);
    // Without a connection it is asked again.
    await session.answerDialog(id, answer).catch(() => undefined);
  };
  const take = (frame: DialogFrame): void => {
    if (frame.event === "session.dialog.requested") void ask(frame.payload.id, frame.payload.dialog);
    else if (frame.event === "session.dialog.note") showNote(ui, frame.payload.note);
    else {
      open.get(frame.payload.id)?.abort();
      open.delete(frame.payload.id);
    }
  };
  const look = (): void => {
    const before = shown;
    shown = session.ui;
    if (before !== shown) for (const frame of listUiFrames(session.id, before, shown)) take(frame);
  };
  const stops = [
    session.onChange(look),
    session.onNote((note) => {
      // The others are in what is shown.
      if (note.method === "notify" || note.method === "set_editor_text") showNote(ui, note);
    }),
  ];
  look();
  return () => {
    for (const stop of stops) stop();
    for (const controller of open.values()) controller.abort();
  };
}

async function askUser(ui: ExtensionUi, dialog: UiDialog, signal: AbortSignal): Promise<UiAnswer> {
  const options = { signal, ...(dialog.timeout !== undefined && { timeout: dialog.timeout }) };
  if (dialog.method === "confirm") return { confirmed: await ui.confirm(dialog.title, dialog.message, options) };
  const value =
    dialog.method === "select"
      ? await ui.select(dialog.title, dialog.options, options)
      : dialog.method === "input"
        ? await ui.input(dialog.title, dialog.placeholder, options)
        : await ui.editor(dialog.title, dialog.prefill, options);
  return value === undefined ? { cancelled: true } : { value };
}

function showNote(ui: ExtensionUi, note: UiNote): void {
  switch (note.method) {
    case "notify":
      return ui.notify(note.message, note.notifyType);
    case "setStatus":
      return ui.setStatus(note.statusKey, note.statusText);
    case "setWidget":
      return ui.setWidget(note.widgetKey, note.widgetLines, { placement: note.widgetPlacement });
    case "setTitle":
      return ui.setTitle(note.title);
    case "set_editor_text":
      return ui.setEditorText(note.text);
    default:
      // A newer gateway may send others.
      note satisfies never;
  }
}

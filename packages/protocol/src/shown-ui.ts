/** The open dialogs and the notes of a session's extensions, reduced from the frames that report them. */
import type { DialogFrame } from "./gateway/frame.ts";
import type { UiDialog, UiNote } from "./ui-request.ts";

export interface OpenDialog {
  readonly id: string;
  readonly dialog: UiDialog;
}

export interface ShownUi {
  /** The oldest first. */
  readonly dialogs: readonly OpenDialog[];
  /** In the order in which they were set first, as are the widgets. */
  readonly statuses: readonly { readonly key: string; readonly text: string }[];
  readonly widgets: readonly {
    readonly key: string;
    readonly lines: readonly string[];
    readonly placement: "aboveEditor" | "belowEditor";
  }[];
  readonly title: string | undefined;
}

export const emptyUi: ShownUi = { dialogs: [], statuses: [], widgets: [], title: undefined };

/** Reduces a frame. Returns the same object if nothing of the frame is kept: `notify` and `set_editor_text` are shown once. */
export function reduceUi(ui: ShownUi, frame: Pick<DialogFrame, "event" | "payload">): ShownUi {
  const told = frame as DialogFrame;
  switch (told.event) {
    case "session.dialog.requested": {
      const { id, dialog } = told.payload;
      return { ...ui, dialogs: [...ui.dialogs.filter((open) => open.id !== id), { id, dialog }] };
    }
    case "session.dialog.resolved":
      return { ...ui, dialogs: ui.dialogs.filter(({ id }) => id !== told.payload.id) };
    case "session.dialog.note":
      return reduceNote(ui, told.payload.note);
    default:
      told satisfies never;
      return ui;
  }
}

function reduceNote(ui: ShownUi, note: UiNote): ShownUi {
  switch (note.method) {
    case "setStatus": {
      const { statusKey: key, statusText: text } = note;
      return { ...ui, statuses: replace(ui.statuses, key, text === undefined ? undefined : { key, text }) };
    }
    case "setWidget": {
      const { widgetKey: key, widgetLines: lines, widgetPlacement: placement } = note;
      return { ...ui, widgets: replace(ui.widgets, key, lines && { key, lines, placement }) };
    }
    case "setTitle":
      return { ...ui, title: note.title };
    case "notify":
    case "set_editor_text":
      return ui;
    default:
      // A newer gateway may send others.
      note satisfies never;
      return ui;
  }
}

/** Sets an item. An existing one stays where it is among the others; undefined removes it. */
function replace<T extends { readonly key: string }>(
  items: readonly T[],
  key: string,
  item: T | undefined,
): readonly T[] {
  const index = items.findIndex((one) => one.key === key);
  if (!item) return index < 0 ? items : items.toSpliced(index, 1);
  return index < 0 ? [...items, item] : items.with(index, item);
}

import type { DialogFrame } from "./gateway/frame.ts";
import type { ShownUi } from "./shown-ui.ts";
import type { UiNote } from "./ui-request.ts";

/** The frames that lead from what was shown to what is shown now. */
export function listUiFrames(sessionId: string, told: ShownUi, shown: ShownUi): DialogFrame[] {
  const open = new Set(shown.dialogs.map(({ id }) => id));
  const known = new Set(told.dialogs.map(({ id }) => id));
  const resolved = told.dialogs.filter(({ id }) => !open.has(id));
  const requested = shown.dialogs.filter(({ id }) => !known.has(id));
  return [
    ...resolved.map(({ id }) => frame("session.dialog.resolved", { sessionId, id })),
    ...requested.map(({ id, dialog }) => frame("session.dialog.requested", { sessionId, id, dialog })),
    ...listNotes(told, shown).map((note) => createNoteFrame(sessionId, note)),
  ];
}

export const createNoteFrame = (sessionId: string, note: UiNote): DialogFrame =>
  frame("session.dialog.note", { sessionId, note });

const frame = <Event extends DialogFrame["event"]>(
  event: Event,
  payload: Extract<DialogFrame, { event: Event }>["payload"],
): DialogFrame => ({ type: "event", event, payload }) as DialogFrame;

function listNotes(told: ShownUi, shown: ShownUi): UiNote[] {
  const statuses = listChanges(told.statuses, shown.statuses).map(({ key, item }): UiNote => ({
    method: "setStatus",
    statusKey: key,
    ...(item && { statusText: item.text }),
  }));
  const widgets = listChanges(told.widgets, shown.widgets).map(({ key, item, before }): UiNote => ({
    method: "setWidget",
    widgetKey: key,
    ...(item && { widgetLines: [...item.lines] }),
    widgetPlacement: (item ?? before)!.placement,
  }));
  const { title = "" } = shown;
  return [...statuses, ...widgets, ...(title === (told.title ?? "") ? [] : [{ method: "setTitle", title } as const])];
}

/** Lists the frames for what differs. Without `item` it is gone. */
function listChanges<T extends { readonly key: string }>(told: readonly T[], shown: readonly T[]) {
  const before = new Map(told.map((item) => [item.key, item]));
  const after = new Map(shown.map((item) => [item.key, item]));
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  return keys.flatMap((key) => {
    const [old, item] = [before.get(key), after.get(key)];
    return old === item ? [] : [{ key, item, before: old }];
  });
}

/** The interface of extensions for a client over RPC: dialogs and notes cross as records. */
import { type Ids, systemClock } from "@tau/ai";
import type { ExtensionUi } from "@tau/extensions";
import { createRequestUi, findMisfit, OpenDialogs } from "@tau/extensions/internal";
import type { UiAnswer, UiNote } from "@tau/protocol";
import { dialogRecord, noteRecord } from "./framing.ts";
import type { OpenQuestions } from "./open-questions.ts";
import type { Wire } from "./wire.ts";

export interface RpcUi {
  readonly ui: ExtensionUi;
  /** Takes an answer of the client; one that the dialog does not have cancels it. False if no dialog with this id is open. */
  answer(id: string, answer: UiAnswer): boolean;
  /** Cancels all dialogs that are open. */
  cancelAll(): void;
  /** Cancels all dialogs, and removes what is shown: the extensions that asked and showed it are gone. */
  reset(): void;
  /** Cancels all dialogs, also those to come: the client is gone. */
  close(): void;
}

export function createRpcUi(wire: Wire, questions: OpenQuestions, createId: Ids): RpcUi {
  const dialogs = new OpenDialogs({
    ids: createId,
    clock: systemClock,
    canAsk: () => wire.answersDialogs,
    redact: (dialog) => wire.redactor?.redact(dialog) ?? dialog,
    onOpened(id, dialog) {
      wire.write(dialogRecord(wire.framing ?? "pi", id, dialog));
      questions.open(id);
    },
    onClosed(id) {
      questions.close(id);
      // pi's framing has no record for it: its clients measure the time themselves.
      wire.notify("ui_resolved", { id });
    },
  });
  const shown = new ShownNotes();
  const tell = (note: UiNote): void => {
    shown.take(note);
    if (wire.framing) wire.write(noteRecord(wire.framing, createId(), note));
  };
  return {
    ui: createRequestUi(dialogs, tell),
    answer(id, answer) {
      const dialog = dialogs.get(id);
      const isMisfit = dialog !== undefined && findMisfit(dialog, answer) !== undefined;
      return dialogs.answer(id, isMisfit ? { cancelled: true } : answer);
    },
    cancelAll: () => dialogs.cancelAll(),
    reset() {
      dialogs.cancelAll();
      for (const removal of shown.listRemovals()) tell(removal);
    },
    close: () => dialogs.close(),
  };
}

/** The statuses and widgets that a client knows. */
class ShownNotes {
  /** By the key of each. */
  readonly #statuses = new Set<string>();
  readonly #widgets = new Map<string, "aboveEditor" | "belowEditor">();

  take(note: UiNote): void {
    if (note.method === "setStatus") {
      if (note.statusText === undefined) this.#statuses.delete(note.statusKey);
      else this.#statuses.add(note.statusKey);
    } else if (note.method === "setWidget") {
      if (note.widgetLines === undefined) this.#widgets.delete(note.widgetKey);
      else this.#widgets.set(note.widgetKey, note.widgetPlacement);
    }
  }

  listRemovals(): UiNote[] {
    const statuses = [...this.#statuses].map((statusKey): UiNote => ({ method: "setStatus", statusKey }));
    const widgets = [...this.#widgets].map(([widgetKey, widgetPlacement]): UiNote => ({
      method: "setWidget",
      widgetKey,
      widgetPlacement,
    }));
    return [...statuses, ...widgets];
  }
}

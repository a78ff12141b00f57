/** The interface of extensions for a client over RPC: dialogs and notes cross as records. */
import { type Ids, systemClock } from "@tau/ai";
import type { ExtensionUi } from "@tau/harness/extensions";
import { createRequestUi, OpenDialogs } from "@tau/harness/host";
import type { UiAnswer } from "@tau/protocol";
import { dialogRecord, noteRecord } from "./framing.ts";
import type { Wire } from "./wire.ts";

export interface RpcUi {
  readonly ui: ExtensionUi;
  /** Takes an answer of the client. False if no dialog with this id is open. */
  answer(id: string, answer: UiAnswer): boolean;
  /** Resolves when a dialog is open: what waits for the answer must not keep it from being read. */
  whenAsked(): Promise<void>;
  /** Cancels all dialogs, also those to come: the client is gone. */
  close(): void;
}

export function createRpcUi(wire: Wire, createId: Ids): RpcUi {
  let asked = createSignal();
  const dialogs = new OpenDialogs({
    ids: createId,
    clock: systemClock,
    canAsk: () => wire.answersDialogs,
    onOpened(id, dialog) {
      wire.write(dialogRecord(wire.framing ?? "pi", id, dialog));
      asked.resolve();
    },
    onClosed() {
      if (dialogs.size === 0) asked = createSignal();
    },
  });
  return {
    ui: createRequestUi(dialogs, (note) => {
      if (wire.framing) wire.write(noteRecord(wire.framing, createId(), note));
    }),
    answer: (id, answer) => dialogs.answer(id, answer),
    whenAsked: () => asked.promise,
    close: () => dialogs.close(),
  };
}

/** A promise and how to resolve it. */
function createSignal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

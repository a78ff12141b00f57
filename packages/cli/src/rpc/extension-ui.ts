/** The interface of extensions for a client over RPC: dialogs and notes cross as records. */
import { type Ids, systemClock } from "@tau/ai";
import type { ExtensionUi } from "@tau/harness/extensions";
import { createRequestUi, OpenDialogs } from "@tau/harness/host";
import type { UiAnswer } from "@tau/protocol";
import { dialogRecord, noteRecord } from "./framing.ts";
import type { OpenQuestions } from "./open-questions.ts";
import type { Wire } from "./wire.ts";

export interface RpcUi {
  readonly ui: ExtensionUi;
  /** Takes an answer of the client. False if no dialog with this id is open. */
  answer(id: string, answer: UiAnswer): boolean;
  /** Cancels all dialogs, also those to come: the client is gone. */
  close(): void;
}

export function createRpcUi(wire: Wire, questions: OpenQuestions, createId: Ids): RpcUi {
  const dialogs = new OpenDialogs({
    ids: createId,
    clock: systemClock,
    canAsk: () => wire.answersDialogs,
    onOpened(id, dialog) {
      wire.write(dialogRecord(wire.framing ?? "pi", id, dialog));
      questions.open(id);
    },
    onClosed: (id) => questions.close(id),
  });
  return {
    ui: createRequestUi(dialogs, (note) => {
      if (wire.framing) wire.write(noteRecord(wire.framing, createId(), note));
    }),
    answer: (id, answer) => dialogs.answer(id, answer),
    close: () => dialogs.close(),
  };
}

/** The interface of extensions in an editor: dialogs become forms or choices, notes become notices. */
import { type Ids, systemClock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionUi } from "@tau/extensions";
import { createRequestUi, OpenDialogs } from "@tau/extensions/internal";
import type { UiAnswer, UiDialog, UiNote } from "@tau/protocol";
import type { Connection } from "../json-rpc/connection.ts";
import { parseChoice, parseForm, toChoice, toForm } from "./elicitation.ts";
import type { ClientCapabilities, SessionUpdate } from "./schema.generated.ts";

export interface SessionDialogs {
  readonly ui: ExtensionUi;
  cancelAll(): void;
  /** Cancels all dialogs, also those to come. */
  close(): void;
}

interface DialogsParts {
  sessionId: string;
  connection: Connection;
  client: ClientCapabilities;
  ids: Ids;
  /** Removes the keys of the session. */
  redact: <T>(value: T) => T;
  send: (update: SessionUpdate) => void;
  report: (message: string) => void;
}

export function createDialogs(parts: DialogsParts): SessionDialogs {
  const { client, ids, redact, send, report } = parts;
  const asking = new Map<string, AbortController>();
  const dialogs = new OpenDialogs({
    ids,
    clock: systemClock,
    canAsk: () => true,
    redact,
    onOpened(id, dialog) {
      const controller = new AbortController();
      asking.set(id, controller);
      void ask(parts, { id, dialog, signal: controller.signal }).then((answer) => dialogs.answer(id, answer));
    },
    onClosed(id) {
      asking.get(id)?.abort();
      asking.delete(id);
    },
  });
  const show = (note: UiNote): void => {
    if (note.method !== "notify") return;
    const { notifyType: severity, message: title } = note;
    if (client.session?.notices) send({ sessionUpdate: "notice", severity, title });
    else report(title);
  };
  return {
    ui: createRequestUi(dialogs, show),
    cancelAll: () => dialogs.cancelAll(),
    close: () => dialogs.close(),
  };
}

interface OpenDialog {
  id: string;
  dialog: UiDialog;
  signal: AbortSignal;
}

/** Never rejects: a client that cannot be asked cancels. */
async function ask(parts: DialogsParts, { id, dialog, signal }: OpenDialog): Promise<UiAnswer> {
  const { sessionId, connection, client, send, report } = parts;
  try {
    if (client.elicitation?.form) {
      return parseForm(dialog, await connection.request("elicitation/create", toForm(sessionId, dialog), signal));
    }
    const choice = toChoice(sessionId, id, dialog);
    if (!choice) {
      report(`An extension asked for a text, which this editor has no form for: ${dialog.title}`);
      return { cancelled: true };
    }
    send({ sessionUpdate: "tool_call", toolCallId: id, title: dialog.title, kind: "other", status: "pending" });
    try {
      return parseChoice(dialog, await connection.request("session/request_permission", choice, signal));
    } finally {
      send({ sessionUpdate: "tool_call_update", toolCallId: id, status: "completed" });
    }
  } catch (error) {
    if (!signal.aborted) report(`A question of an extension was not answered: ${getErrorMessage(error)}`);
    return { cancelled: true };
  }
}

/** The interface of extensions for a client over RPC: dialogs and notes cross as records, everything else has no effect. */
import type { DialogOptions, ExtensionUi } from "@tau/harness/extensions";
import type { UiAnswer, UiDialog, UiNote } from "@tau/protocol";
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

export interface RpcUiParts {
  wire: Wire;
  createId: () => string;
  /** What has no effect here. */
  noUi: ExtensionUi;
}

export function createRpcUi({ wire, createId, noUi }: RpcUiParts): RpcUi {
  const open = new Map<string, (answer: UiAnswer) => void>();
  let asked = createSignal();
  let isClosed = false;

  /** Resolves with `{ cancelled: true }` if nobody answers: in time, ever, or because the extension does not need it now. */
  function ask(dialog: UiDialog, { signal, timeout }: DialogOptions): Promise<UiAnswer> {
    if (isClosed || signal?.aborted || !wire.answersDialogs) return Promise.resolve({ cancelled: true });
    const id = createId();
    return new Promise((resolve) => {
      const settle = (answer: UiAnswer): void => {
        open.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        if (open.size === 0) asked = createSignal();
        resolve(answer);
      };
      const cancel = (): void => settle({ cancelled: true });
      const timer = timeout === undefined ? undefined : setTimeout(cancel, timeout);
      signal?.addEventListener("abort", cancel);
      open.set(id, settle);
      wire.write(dialogRecord(wire.framing ?? "pi", id, { ...dialog, ...(timeout !== undefined && { timeout }) }));
      asked.resolve();
    });
  }

  const askText = async (dialog: UiDialog, options: DialogOptions = {}): Promise<string | undefined> => {
    const answer = await ask(dialog, options);
    return "value" in answer ? answer.value : undefined;
  };
  const tell = (note: UiNote): void => {
    if (wire.framing) wire.write(noteRecord(wire.framing, createId(), note));
  };
  const setEditorText = (text: string): void => tell({ method: "set_editor_text", text });

  const ui: ExtensionUi = {
    ...noUi,
    select: (title, options, dialog) => askText({ method: "select", title, options }, dialog),
    async confirm(title, message, dialog = {}) {
      const answer = await ask({ method: "confirm", title, message }, dialog);
      return "confirmed" in answer && answer.confirmed;
    },
    input: (title, placeholder, dialog) =>
      askText({ method: "input", title, ...(placeholder !== undefined && { placeholder }) }, dialog),
    editor: (title, prefill, dialog) =>
      askText({ method: "editor", title, ...(prefill !== undefined && { prefill }) }, dialog),
    notify: (message, notifyType = "info") => tell({ method: "notify", message, notifyType }),
    setStatus: (statusKey, statusText) =>
      tell({ method: "setStatus", statusKey, ...(statusText !== undefined && { statusText }) }),
    setWidget(widgetKey, content, { placement: widgetPlacement = "aboveEditor" } = {}) {
      // A component exists in this process only.
      if (typeof content === "function") return;
      tell({ method: "setWidget", widgetKey, ...(content && { widgetLines: content }), widgetPlacement });
    },
    setTitle: (title) => tell({ method: "setTitle", title }),
    setEditorText,
    pasteToEditor: setEditorText,
    setTheme: () => ({ success: false, error: "The theme of an RPC client cannot be set." }),
  };
  return {
    ui,
    answer(id, answer) {
      const settle = open.get(id);
      settle?.(answer);
      return settle !== undefined;
    },
    whenAsked: () => asked.promise,
    close() {
      isClosed = true;
      for (const settle of open.values()) settle({ cancelled: true });
    },
  };
}

/** A promise and how to resolve it. */
function createSignal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

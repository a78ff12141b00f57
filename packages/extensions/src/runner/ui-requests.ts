/** The interface of extensions where the user is elsewhere: dialogs and notes are sent as data, everything else has no effect. */
import type { Clock, Ids } from "@tau/ai";
import type { UiAnswer, UiDialog, UiNote } from "@tau/protocol";
import { type DialogOptions, type ExtensionUi, noUi } from "../api/ui.ts";

export interface OpenDialogsOptions {
  ids: Ids;
  clock: Clock;
  /** Whether somebody can answer. Otherwise dialogs are cancelled at once. */
  canAsk: () => boolean;
  /** The dialog as clients are shown it, without the keys of the session. */
  redact: (dialog: UiDialog) => UiDialog;
  /** Called with what is shown. */
  onOpened: (id: string, shown: UiDialog) => void;
  onClosed: (id: string) => void;
}

/** Why an answer is none that the dialog has; undefined if it is one. */
export function findMisfit(dialog: UiDialog, answer: UiAnswer): string | undefined {
  if ("cancelled" in answer) return undefined;
  if (dialog.method === "confirm") {
    return "confirmed" in answer ? undefined : 'A confirm dialog is answered with "confirmed".';
  }
  if (!("value" in answer)) return `A dialog of the kind ${dialog.method} is answered with "value".`;
  const isOffered = dialog.method !== "select" || dialog.options.includes(answer.value);
  return isOffered ? undefined : "The value is none of the options.";
}

/** The option that the extension has passed, for the one that was shown in its place. */
function toAsked(answer: UiAnswer, shown: UiDialog, asked: UiDialog): UiAnswer {
  if (!("value" in answer) || shown.method !== "select" || asked.method !== "select") return answer;
  return { value: asked.options[shown.options.indexOf(answer.value)]! };
}

/** Dialogs that wait for an answer. */
export class OpenDialogs {
  readonly #options: OpenDialogsOptions;
  readonly #open = new Map<string, { shown: UiDialog; settle: (answer: UiAnswer) => void }>();
  #isClosed = false;

  constructor(options: OpenDialogsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The dialog as it is shown. */
  get(id: string): UiDialog | undefined {
    return this.#open.get(id)?.shown;
  }

  /** Resolves with `{ cancelled: true }` if nobody answers: in time, ever, or because the extension does not need it now. */
  ask(dialog: UiDialog, { signal, timeout }: DialogOptions = {}): Promise<UiAnswer> {
    const { ids, clock, canAsk, redact, onOpened, onClosed } = this.#options;
    if (this.#isClosed || signal?.aborted || !canAsk()) return Promise.resolve({ cancelled: true });
    const id = ids();
    const shown = redact({ ...dialog, ...(timeout !== undefined && { timeout }) });
    return new Promise((resolve) => {
      const settle = (answer: UiAnswer): void => {
        if (!this.#open.delete(id)) return;
        cancelTimer?.();
        signal?.removeEventListener("abort", cancel);
        onClosed(id);
        resolve(toAsked(answer, shown, dialog));
      };
      const cancel = (): void => settle({ cancelled: true });
      const cancelTimer = timeout === undefined ? undefined : clock.setTimer(timeout, cancel);
      signal?.addEventListener("abort", cancel);
      this.#open.set(id, { shown, settle });
      onOpened(id, shown);
    });
  }

  /** The answer has to fit what is shown, see `findMisfit`. False if no dialog with this id is open. */
  answer(id: string, answer: UiAnswer): boolean {
    const known = this.#open.get(id);
    known?.settle(answer);
    return known !== undefined;
  }

  cancelAll(): void {
    for (const { settle } of this.#open.values()) settle({ cancelled: true });
  }

  /** Cancels all dialogs, also those to come. */
  close(): void {
    this.#isClosed = true;
    this.cancelAll();
  }
}

/** `show` gets what is not answered. */
export function createRequestUi(dialogs: OpenDialogs, show: (note: UiNote) => void): ExtensionUi {
  const askText = async (dialog: UiDialog, options?: DialogOptions): Promise<string | undefined> => {
    const answer = await dialogs.ask(dialog, options);
    return "value" in answer ? answer.value : undefined;
  };
  const setEditorText = (text: string): void => show({ method: "set_editor_text", text });
  return {
    ...noUi,
    select: (title, options, dialog) => askText({ method: "select", title, options }, dialog),
    async confirm(title, message, dialog) {
      const answer = await dialogs.ask({ method: "confirm", title, message }, dialog);
      return "confirmed" in answer && answer.confirmed;
    },
    input: (title, placeholder, dialog) =>
      askText({ method: "input", title, ...(placeholder !== undefined && { placeholder }) }, dialog),
    editor: (title, prefill, dialog) =>
      askText({ method: "editor", title, ...(prefill !== undefined && { prefill }) }, dialog),
    notify: (message, notifyType = "info") => show({ method: "notify", message, notifyType }),
    setStatus: (statusKey, statusText) =>
      show({ method: "setStatus", statusKey, ...(statusText !== undefined && { statusText }) }),
    setWidget(widgetKey, content, { placement: widgetPlacement = "aboveEditor" } = {}) {
      // A component exists in this process only.
      if (typeof content === "function") return;
      show({ method: "setWidget", widgetKey, ...(content && { widgetLines: content }), widgetPlacement });
    },
    setTitle: (title) => show({ method: "setTitle", title }),
    setEditorText,
    pasteToEditor: setEditorText,
    setTheme: () => ({ success: false, error: "The theme of a client cannot be set." }),
  };
}

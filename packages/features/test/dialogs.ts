/** A surface whose person answers dialogs from a list. `yes` confirms. */
import { type DialogOptions, type ExtensionSurface, type ExtensionUi, noUi } from "@tau/extensions";

/** An answer, or a function of the dialog that gives it. */
type Answer = string | undefined | ((dialog: Dialog) => string | undefined | Promise<string | undefined>);

export interface Dialog {
  readonly kind: "select" | "confirm" | "input" | "editor";
  readonly title: string;
  readonly options?: readonly string[];
  readonly prefill?: string | undefined;
}

export class DialogSurface implements ExtensionSurface {
  readonly mode = "rpc";
  readonly builtIns = { commands: [], keys: new Map<string, string>() };
  readonly dialogs: Dialog[] = [];
  readonly notices: string[] = [];
  readonly #answers: Answer[];
  readonly ui: ExtensionUi;

  constructor(answers: readonly Answer[] = []) {
    this.#answers = [...answers];
    this.ui = {
      ...noUi,
      select: (title, options, more) => this.#answer({ kind: "select", title, options }, more),
      confirm: async (title, message, more) =>
        (await this.#answer({ kind: "confirm", title: `${title}\n${message}` }, more)) === "yes",
      input: (title, _placeholder, more) => this.#answer({ kind: "input", title }, more),
      editor: (title, prefill, more) => this.#answer({ kind: "editor", title, prefill }, more),
      notify: (message) => void this.notices.push(message),
    };
  }

  /** Like every surface, it closes a dialog whose signal aborts. */
  async #answer(dialog: Dialog, { signal }: DialogOptions = {}): Promise<string | undefined> {
    this.dialogs.push(dialog);
    if (this.#answers.length === 0) throw new Error(`Nobody answers ${JSON.stringify(dialog)}.`);
    const answer = this.#answers.shift();
    if (typeof answer !== "function") return answer;
    const closed = new Promise<undefined>((resolve) => signal?.addEventListener("abort", () => resolve(undefined)));
    return await Promise.race([answer(dialog), closed]);
  }
}

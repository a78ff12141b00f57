/**
 * Makes what the user sends wait for other work, such as a question and what its answer changes: keys that arrive together may
 * answer it and send a message.
 */
export class SubmissionGate {
  #settling: Promise<unknown> | undefined;
  #held: readonly { readonly text: string }[] = [];

  /** Whether what is sent now has to wait. */
  get isClosed(): boolean {
    return this.#settling !== undefined;
  }

  /** Texts that the user sent and that wait. */
  get held(): readonly string[] {
    return this.#held.map(({ text }) => text);
  }

  /** Runs work. What is sent from now on waits for it. */
  readonly settle = async <T>(work: () => Promise<T>): Promise<T> => {
    const result = work();
    const settling = Promise.allSettled([this.#settling, result]);
    this.#settling = settling;
    void settling.finally(() => {
      if (this.#settling === settling) this.#settling = undefined;
    });
    return await result;
  };

  /** Waits. Meanwhile the text is in `held`, so that it is not lost if the program ends; `onChange` is called when that changes. */
  async hold(text: string, onChange: () => void): Promise<void> {
    const held = { text };
    this.#held = [...this.#held, held];
    onChange();
    await this.#settling;
    this.#held = this.#held.filter((other) => other !== held);
    onChange();
  }
}

/** Questions that the client has not answered: dialogs of extensions and questions of the policy. */
export class OpenQuestions {
  readonly #open = new Set<string>();
  #onOpened = (): void => {};

  open(id: string): void {
    this.#open.add(id);
    this.#onOpened();
  }

  close(id: string): void {
    this.#open.delete(id);
  }

  /** Waits for the work of a command, unless it may wait for an answer itself, which is one of the next lines. */
  async untilDoneOrAsked(work: Promise<void>): Promise<void> {
    if (this.#open.size > 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#onOpened = resolve;
      work.then(resolve, reject);
    });
    this.#onOpened = () => {};
  }
}

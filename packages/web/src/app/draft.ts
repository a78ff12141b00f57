/** The text that is being written for a session. Other parts may put a text there. */
export class Draft {
  readonly #listeners = new Set<() => void>();
  #text = "";

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

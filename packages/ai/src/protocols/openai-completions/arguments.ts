/**
 * Tracks the arguments of one tool call while they arrive. Detects when they are complete, because the next piece may
 * then belong to another call, and drops `null`, which some servers send for empty arguments. Reads each character
 * once. Does not validate the JSON.
 */
export class CallArguments {
  #received = "";
  /** True while only whitespace or a prefix of `null` has been received. */
  #held = true;
  #complete = false;
  #depth = 0;
  #quoted = false;
  #escaped = false;

  /** Whether any text has been received. */
  get begun(): boolean {
    return this.#received !== "";
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** Whether `piece` repeats everything received so far. */
  isRepeat(piece: string): boolean {
    return piece === this.#received;
  }

  /** Adds a piece and returns the JSON text that can be parsed now. Text after complete arguments is ignored. */
  push(piece: string): string {
    if (this.#complete) return "";
    this.#received += piece;
    if (!this.#held) {
      this.#scan(piece);
      return piece;
    }
    this.#received = this.#received.trimStart();
    this.#complete = /^null\s*$/.test(this.#received);
    if (this.#complete || "null".startsWith(this.#received)) return "";
    this.#held = false;
    this.#scan(this.#received);
    return this.#received;
  }

  #scan(text: string): void {
    for (let index = 0; index < text.length && !this.#complete; index++) {
      const char = text[index]!;
      if (this.#escaped) this.#escaped = false;
      else if (this.#quoted) {
        if (char === "\\") this.#escaped = true;
        else if (char === '"') this.#quoted = false;
      } else if (char === '"') this.#quoted = true;
      else if (char === "{" || char === "[") this.#depth++;
      else if (char === "}" || char === "]") this.#complete = --this.#depth <= 0;
    }
  }
}

/** Whether a piece can be the start of a call's arguments. */
export const startsArguments = (piece: string): boolean => /^\s*(?:\{|null\s*$)/.test(piece);

/**
 * A call's arguments as they arrive: tells when they are complete, so that what follows can be another call's, and holds
 * back `null`, which some servers say for none. Each character is looked at once. Whether the text is right is not
 * judged here.
 */
export class CallArguments {
  #received = "";
  /** Nothing has come yet but blanks, or what may become `null`. */
  #held = true;
  #complete = false;
  #depth = 0;
  #quoted = false;
  #escaped = false;

  /** Whether anything has come. */
  get begun(): boolean {
    return this.#received !== "";
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** Whether this is, once more, all that came. */
  isRepeat(piece: string): boolean {
    return piece === this.#received;
  }

  /** Takes in a piece and returns what there is to read as JSON now. Text behind complete arguments says nothing. */
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
    for (let at = 0; at < text.length && !this.#complete; at++) {
      const char = text[at]!;
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

/** Whether a piece can be the beginning of a call's arguments. */
export const opensArguments = (piece: string): boolean => /^\s*(?:\{|null\s*$)/.test(piece);

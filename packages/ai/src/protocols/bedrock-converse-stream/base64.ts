/**
 * Joins pieces that were each encoded on their own into the encoding of the whole. Only the end of a piece can need
 * changing, so the work is linear in what arrives. What is not base64 is kept as it came.
 */
export class Base64Joiner {
  #whole = "";
  /** The last group of four where it is padded, and so not whole yet. */
  #rest = "";

  push(piece: string): void {
    const text = this.#rest === "" ? piece : rejoin(this.#rest, piece);
    this.#rest = text.endsWith("=") ? text.slice(-4) : "";
    this.#whole += this.#rest === "" ? text : text.slice(0, -4);
  }

  joined(): string {
    return this.#whole + this.#rest;
  }
}

function rejoin(rest: string, piece: string): string {
  const pattern = /^[A-Za-z0-9+/]*={0,2}$/;
  const valid = [rest, piece].every((text) => text.length % 4 === 0 && pattern.test(text));
  return valid ? btoa(atob(rest) + atob(piece)) : rest + piece;
}

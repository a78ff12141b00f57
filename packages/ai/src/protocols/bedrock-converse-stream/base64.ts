/**
 * Joins separately encoded pieces of base64 into the encoding of the joined bytes. Only the end of a piece is encoded
 * again, so the work is linear. Pieces that are not base64 are joined unchanged.
 */
export class Base64Joiner {
  #joined = "";
  /** The last group of four characters if it ends in padding. */
  #padded = "";

  push(piece: string): void {
    const text = this.#padded === "" ? piece : join(this.#padded, piece);
    this.#padded = text.endsWith("=") ? text.slice(-4) : "";
    this.#joined += this.#padded === "" ? text : text.slice(0, -4);
  }

  getJoined(): string {
    return this.#joined + this.#padded;
  }
}

function join(padded: string, piece: string): string {
  const pattern = /^[A-Za-z0-9+/]*={0,2}$/;
  const areValid = [padded, piece].every((text) => text.length % 4 === 0 && pattern.test(text));
  return areValid ? btoa(atob(padded) + atob(piece)) : padded + piece;
}

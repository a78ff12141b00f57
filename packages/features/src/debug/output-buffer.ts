/** Keeps the end of what a program has written. */

/** The limit of the kept output, in bytes. */
const maxOutputBytes = 128 * 1024;

export class OutputBuffer {
  #pieces: string[] = [];
  #bytes = 0;
  /** Characters of all that was ever written, of which the kept text is the end. */
  #written = 0;
  #seen = 0;

  add(text: string): void {
    const piece = Buffer.byteLength(text) > maxOutputBytes ? cutStart(text) : text;
    this.#pieces.push(piece);
    this.#bytes += Buffer.byteLength(piece);
    this.#written += text.length;
    // Joined rarely, so that many small pieces cost no more than a large one.
    if (this.#bytes > 2 * maxOutputBytes || this.#pieces.length > 10_000) this.#shorten();
  }

  /** The kept text: at most 128 KiB. */
  get text(): string {
    this.#shorten();
    return this.#pieces[0] ?? "";
  }

  /** Takes what was written since the last call. */
  takeNew(): { text: string; omitted: number } {
    const { text } = this;
    const fresh = this.#written - this.#seen;
    this.#seen = this.#written;
    return { text: fresh === 0 ? "" : text.slice(-fresh), omitted: Math.max(0, fresh - text.length) };
  }

  #shorten(): void {
    const text = cutStart(this.#pieces.join(""));
    this.#pieces = text === "" ? [] : [text];
    this.#bytes = Buffer.byteLength(text);
  }
}

/** Keeps the end, without half a character. */
function cutStart(text: string): string {
  if (Buffer.byteLength(text) <= maxOutputBytes) return text;
  const bytes = Buffer.from(text, "utf8");
  let start = bytes.length - maxOutputBytes;
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString("utf8");
}

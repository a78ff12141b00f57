/** Keeps the end of a stream of bytes. Uses at most twice the memory of what is kept. */
export class Tail {
  readonly #keptBytes: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  /** At least the last `keptBytes` bytes are kept. */
  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes;
  }

  push(bytes: Uint8Array): void {
    const added = bytes.subarray(Math.max(0, bytes.length - this.#keptBytes));
    if (this.#length + added.length > this.#buffer.length) this.#grow(this.#length + added.length);
    this.#buffer.set(added, this.#length);
    this.#length += added.length;
  }

  #grow(total: number): void {
    const maxBytes = 2 * this.#keptBytes;
    const kept = this.bytes.subarray(total > maxBytes ? total - this.#keptBytes : 0);
    const buffer =
      this.#buffer.length < maxBytes ? Buffer.allocUnsafeSlow(Math.min(maxBytes, 2 * total)) : this.#buffer;
    buffer.set(kept);
    this.#buffer = buffer;
    this.#length = kept.length;
  }

  /** Valid until the next push. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

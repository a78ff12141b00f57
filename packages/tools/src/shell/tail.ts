/** The end of something that may be endless, as bytes. Costs the memory it needs, and at most twice what is kept. */
export class Tail {
  readonly #keptBytes: number;
  #room = Buffer.alloc(0);
  #length = 0;

  /** At least the last `keptBytes` bytes are kept. */
  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes;
  }

  push(bytes: Uint8Array): void {
    const added = bytes.subarray(Math.max(0, bytes.length - this.#keptBytes));
    if (this.#length + added.length > this.#room.length) this.#makeRoom(this.#length + added.length);
    this.#room.set(added, this.#length);
    this.#length += added.length;
  }

  #makeRoom(total: number): void {
    const maxBytes = 2 * this.#keptBytes;
    const kept = this.bytes.subarray(total > maxBytes ? total - this.#keptBytes : 0);
    const room = this.#room.length < maxBytes ? Buffer.allocUnsafeSlow(Math.min(maxBytes, 2 * total)) : this.#room;
    room.set(kept);
    this.#room = room;
    this.#length = kept.length;
  }

  /** Valid until the next push. */
  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }
}

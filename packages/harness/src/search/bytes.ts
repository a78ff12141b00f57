/** Numbers and bytes behind each other in a buffer. A number takes one byte for each seven bits. */

export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(expectedBytes = 1024) {
    this.#buffer = Buffer.allocUnsafe(Math.max(16, expectedBytes));
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
    this.#buffer[this.#length++] = rest;
  }

  /** Returns what was written. Nothing may be written after that. */
  take(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe((this.#length + count) * 2);
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

export class ByteReader {
  readonly #bytes: Buffer;
  position: number;

  constructor(bytes: Buffer, position: number) {
    this.#bytes = bytes;
    this.position = position;
  }

  byte(): number {
    return this.#bytes[this.position++]!;
  }

  varint(): number {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = this.#bytes[this.position++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
  }

  /** Copies the next `count` bytes into `target`. */
  copy(target: Buffer, targetStart: number, count: number): void {
    for (let index = 0; index < count; index++) target[targetStart + index] = this.#bytes[this.position + index]!;
    this.position += count;
  }
}

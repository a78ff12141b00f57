/**
 * The bytes of a log, as the messages of its subject say. Each message says where its bytes begin; what was there from
 * that position on is cut off. Nothing else is ever removed, so the same messages always give the same bytes.
 */

/** The part of a message that decides where its bytes are. */
export interface LogMessage {
  seq: number;
  /** Where its bytes begin. */
  position: number;
  length: number;
  /** Its bytes are valid when the last part has come. */
  hasMore: boolean;
}

/** A message with bytes of the log. */
interface Segment {
  seq: number;
  position: number;
  length: number;
}

export class Segments {
  readonly #segments: Segment[] = [];
  /** Parts of an append whose last part has not come. */
  #parts: Segment[] = [];
  /** Where the parts begin. */
  #partsStart = 0;
  #lastSeq = 0;
  #firstSeq = 0;

  /** The length of the log in bytes. */
  get end(): number {
    const last = this.#segments.at(-1);
    return last ? last.position + last.length : 0;
  }

  /** The last message, also one without bytes; 0 if there is none. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The first message; 0 if there is none. */
  get firstSeq(): number {
    return this.#firstSeq;
  }

  get count(): number {
    return this.#segments.length;
  }

  /** Messages in the order of the stream. One that is known already changes nothing. */
  add({ seq, position, length, hasMore }: LogMessage): void {
    if (seq <= this.#lastSeq) return;
    this.#lastSeq = seq;
    this.#firstSeq ||= seq;
    const lastPart = this.#parts.at(-1);
    if (!lastPart || lastPart.position + lastPart.length !== position) {
      // A writer that did not finish its append has been followed by another.
      this.#parts = [];
      this.#partsStart = position;
    }
    if (length > 0) this.#parts.push({ seq, position, length });
    if (hasMore) return;
    // Not before: a replacement that is never finished takes nothing away.
    this.#cut(this.#partsStart);
    this.#segments.push(...this.#parts);
    this.#parts = [];
  }

  /** Lists segments with bytes between two positions. */
  between(start: number, end: number): Segment[] {
    const found: Segment[] = [];
    for (let index = this.#find(start); index < this.#segments.length; index++) {
      const segment = this.#segments[index]!;
      if (segment.position >= end) break;
      found.push(segment);
    }
    return found;
  }

  /** For a cache, if it `isWhole`. Read with `decode`. */
  encode(): Buffer {
    const numbers = new Float64Array(2 + 3 * this.#segments.length);
    numbers.set([this.#firstSeq, this.#lastSeq]);
    for (const [index, { seq, position, length }] of this.#segments.entries()) {
      numbers.set([seq, position, length], 2 + 3 * index);
    }
    return Buffer.from(numbers.buffer);
  }

  /** Undefined for bytes that `encode` has not written. */
  static decode(bytes: Uint8Array): Segments | undefined {
    if (bytes.length < 16 || (bytes.length - 16) % 24 !== 0) return undefined;
    const numbers = new Float64Array(Uint8Array.from(bytes).buffer);
    const segments = new Segments();
    for (let index = 2; index < numbers.length; index += 3) {
      const [seq, position, length] = numbers.subarray(index, index + 3) as unknown as [number, number, number];
      segments.#segments.push({ seq, position, length });
    }
    [segments.#firstSeq, segments.#lastSeq] = numbers as unknown as [number, number];
    return segments;
  }

  /** Whether the last append is complete. */
  get isWhole(): boolean {
    return this.#parts.length === 0;
  }

  #cut(position: number): void {
    for (
      let last = this.#segments.at(-1);
      last && last.position + last.length > position;
      last = this.#segments.at(-1)
    ) {
      this.#segments.pop();
      if (last.position < position) this.#segments.push({ ...last, length: position - last.position });
    }
  }

  /** The index of the segment that holds `position`, or of the next. */
  #find(position: number): number {
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { position: start, length } = this.#segments[middle]!;
      if (start + length <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** How much memory snapshots that wait for slow clients may take. Clients that wait for the same one share it. */
import type { EncodedFrame } from "../encoded-frame.ts";

const maxBytes = 64 * 1024 * 1024;

export class SnapshotBudget {
  readonly #maxBytes: number;
  /** How many clients wait for each. */
  readonly #waiting = new Map<EncodedFrame, number>();
  #bytes = 0;

  constructor(max: number = maxBytes) {
    this.#maxBytes = max;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False where there is no room. One always fits, however large it is. */
  take(frame: EncodedFrame): boolean {
    const count = this.#waiting.get(frame) ?? 0;
    if (count === 0 && this.#bytes > 0 && this.#bytes + frame.message.length > this.#maxBytes) return false;
    if (count === 0) this.#bytes += frame.message.length;
    this.#waiting.set(frame, count + 1);
    return true;
  }

  release(frame: EncodedFrame): void {
    const count = this.#waiting.get(frame) ?? 0;
    if (count > 1) return void this.#waiting.set(frame, count - 1);
    if (this.#waiting.delete(frame)) this.#bytes -= frame.message.length;
  }
}

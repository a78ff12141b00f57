/** The last events of a session, so that a client that was away gets exactly what it missed. Bounded in number and size. */
import { isDelta, type SessionEvent } from "@tau/protocol";

const maxEvents = 1_024;
/** About: characters of all strings together. */
const maxCharacters = 8 * 1024 * 1024;

export class EventRing {
  #events: SessionEvent[] = [];
  #sizes: number[] = [];
  /** Events before this index were dropped; the lists are cut when half of them is dropped. */
  #start = 0;
  #characters = 0;

  push(event: SessionEvent): void {
    // Most events are deltas, and come thousands at a time.
    const size = isDelta(event) ? event.delta.length : countCharacters(event);
    this.#events.push(event);
    this.#sizes.push(size);
    this.#characters += size;
    while (this.#events.length - this.#start > maxEvents || this.#characters > maxCharacters) {
      this.#characters -= this.#sizes[this.#start++]!;
    }
    if (this.#start > this.#events.length / 2) {
      this.#events = this.#events.slice(this.#start);
      this.#sizes = this.#sizes.slice(this.#start);
      this.#start = 0;
    }
  }

  /** The events after `seq`, or undefined when some of them were dropped. `lastSeq` is that of the last event there was. */
  after(seq: number, lastSeq: number): SessionEvent[] | undefined {
    const count = lastSeq - seq;
    if (count > this.#events.length - this.#start) return undefined;
    return this.#events.slice(this.#events.length - count);
  }
}

/** How much memory a value takes, about. Nothing is copied, so that it costs little for large images and for deltas. */
function countCharacters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let sum = 0;
  for (const key in value) sum += countCharacters((value as Record<string, unknown>)[key]);
  return sum;
}

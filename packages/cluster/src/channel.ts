/**
 * Both directions of the messages between two nodes. What carries them may lose some, and sends none twice; here they have
 * numbers, and those that the other node has not acknowledged are sent again. So each arrives once, in order.
 */

/** A message, or a part of one. */
export interface Packet {
  readonly number: number;
  readonly text: string;
  readonly data: Uint8Array;
  /** The content continues in the next one. */
  readonly hasMore: boolean;
  /** How often it was sent. */
  sent: number;
}

/** How a packet that has come continues the ones before it. `again`: it is known; `gap`: others before it have not come. */
type Arrival = "next" | "again" | "gap";

/** How many are sent again at once. */
const maxResent = 256;

export class Channel {
  #lastNumber = 0;
  readonly #unacked: Packet[] = [];
  #received = 0;
  #receivedAtAck = 0;
  #gapAfter = -1;

  add({ text, data, hasMore }: Pick<Packet, "text" | "data" | "hasMore">): Packet {
    const packet = { number: ++this.#lastNumber, text, data, hasMore, sent: 0 };
    this.#unacked.push(packet);
    return packet;
  }

  /** Puts a packet that was sent once and reached nobody in the place of its message, so that no number is missing. */
  replace(packet: Packet, text: string): Packet {
    const empty = { number: packet.number, text, data: new Uint8Array(), hasMore: false, sent: 0 };
    const index = this.#unacked.indexOf(packet);
    if (index >= 0) this.#unacked[index] = empty;
    return empty;
  }

  get isAcked(): boolean {
    return this.#unacked.length === 0;
  }

  /** The other node has all up to this number. False if that was known. */
  onAck(number: number): boolean {
    const count = this.#unacked.findLastIndex((packet) => packet.number <= number) + 1;
    this.#unacked.splice(0, count);
    return count > 0;
  }

  listUnacked(): Packet[] {
    return this.#unacked.slice(0, maxResent);
  }

  /** The number of the last packet that has come. */
  get received(): number {
    return this.#received;
  }

  /** How many have come that the other node does not know to be here. */
  get unackedArrivals(): number {
    return this.#received - this.#receivedAtAck;
  }

  onAcknowledged(): void {
    this.#receivedAtAck = this.#received;
  }

  onArrival(number: number): Arrival {
    if (number <= this.#received) return "again";
    if (number > this.#received + 1) return "gap";
    this.#received = number;
    return "next";
  }

  /** True once for each gap: what follows it says the same. */
  takeGap(): boolean {
    const isNew = this.#gapAfter !== this.#received;
    this.#gapAfter = this.#received;
    return isNew;
  }
}

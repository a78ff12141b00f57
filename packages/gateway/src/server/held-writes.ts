/**
 * Writes frames that come close together with one call of the system. With a call for each delta, a gateway with hundreds
 * of sessions that stream spends most of its time in them.
 */
import type { Socket } from "node:net";
import type { Rounds } from "../rounds.ts";

/** How long a frame may wait: no person sees the difference. */
export const holdMs = 40;
/** More than this would look like a client that reads slowly. */
const maxHeldFrames = 64;

export class HeldWrites {
  readonly #tcp: Socket;
  readonly #rounds: Rounds;
  #isHolding = false;
  /** How many frames wait. */
  #held = 0;

  constructor(tcp: Socket, rounds: Rounds) {
    this.#tcp = tcp;
    this.#rounds = rounds;
  }

  /** A frame was written that may wait. The first one does not; those after it wait for the next round. */
  hold(): void {
    if (!this.#isHolding) this.#begin();
    else if (++this.#held >= maxHeldFrames) this.flush();
  }

  /** Writes what waits now. */
  flush(): void {
    if (!this.#isHolding) return;
    this.#tcp.uncork();
    this.#tcp.cork();
    this.#held = 0;
  }

  #begin(): void {
    this.#isHolding = true;
    this.#held = 0;
    this.#tcp.cork();
    this.#rounds.add(() => this.#end());
  }

  /** Where frames keep coming, the next ones wait as well. */
  #end(): void {
    this.#isHolding = false;
    this.#tcp.uncork();
    if (this.#held > 0) this.#begin();
  }
}

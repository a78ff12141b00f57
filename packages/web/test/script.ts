/** Decides when the model continues. */
import { type Clock, systemClock } from "@tau/ai";
import type { ScriptedTurn } from "@tau/ai/testing";

/** A clock for the deltas of a model. After a number of them, none comes until it is told to go on. */
export class Pace implements Clock {
  readonly now = systemClock.now;
  /** Time stands still, so that no delta is late and each of them waits. */
  readonly monotonic = () => 0;
  deltasLeft = Number.POSITIVE_INFINITY;
  #held: (() => void)[] = [];

  setTimer(_afterMs: number, fire: () => void): () => void {
    if (this.deltasLeft-- > 0) {
      const immediate = setImmediate(fire);
      return () => clearImmediate(immediate);
    }
    this.#held.push(fire);
    return () => {};
  }

  goOn(): void {
    this.deltasLeft = Number.POSITIVE_INFINITY;
    for (const fire of this.#held.splice(0)) fire();
  }
}

/** A turn of the model that waits until it is told to go on. */
export function createGate(content: ScriptedTurn): { turn: ScriptedTurn; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { turn: async () => opened.then(() => content), open };
}

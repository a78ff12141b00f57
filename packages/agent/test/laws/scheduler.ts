import { createFakeClock } from "@tau/ai/testing";

/** Chooses, by index, which of the possible steps comes next. */
export type Choose = (labels: readonly string[]) => number;

interface Step {
  label: string;
  run: () => void;
}

/** How long an aborted run may take to end. */
const graceMs = 100;
const maxSteps = 1_000;
const graceLabel = "the grace period passes";

/** Decides the order of everything asynchronous: code that waits here continues when its step is taken, one at a time. */
export class Scheduler {
  readonly clock = createFakeClock();
  /** The labels of the steps that were taken, in order. */
  readonly taken: string[] = [];
  readonly #choose: Choose;
  readonly #isRunAborted: () => boolean;
  #pending: Step[] = [];
  #isGraceOver = false;

  /** A call that its tool has left running has a grace period of its own, unless the run is aborted. */
  constructor(choose: Choose, isRunAborted: () => boolean) {
    this.#choose = choose;
    this.#isRunAborted = isRunAborted;
  }

  add(label: string, run: () => void): void {
    this.#pending.push({ label, run });
  }

  /** A promise that settles with the outcome of `getValue` when its step is taken. */
  later<T>(label: string, getValue: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.add(label, () => {
        try {
          resolve(getValue());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** A new run has a grace period of its own. */
  renewGrace(): void {
    this.#isGraceOver = false;
  }

  /** Whether an aborted run has abandoned code that does not stop by itself. */
  get isGraceOver(): boolean {
    return this.#isGraceOver;
  }

  /** Takes steps until `isOver`. When no step is possible, `unblock` is called; it returns whether it changed anything. */
  async drive(isOver: () => boolean, unblock: () => boolean): Promise<void> {
    for (let steps = 0; steps < maxSteps; steps++) {
      await waitForQuiet();
      await this.#passGrace();
      if (isOver()) return;
      const labels = this.#pending.map(({ label }) => label);
      if (this.clock.waiting > 0) labels.push(graceLabel);
      if (labels.length > 0) await this.#take(labels.length === 1 ? 0 : this.#choose(labels));
      else if (!unblock()) throw new Error("No step is possible, and the run has not ended.");
    }
    throw new Error(`The run has not ended after ${maxSteps} steps.`);
  }

  /** Takes all steps that are still pending. */
  async drain(): Promise<void> {
    while (this.#pending.length > 0) {
      await this.#take(0);
      await waitForQuiet();
    }
  }

  /** After the grace period every new timer fires at once: that is not a choice. */
  async #passGrace(): Promise<void> {
    for (let rounds = 0; this.isGraceOver && this.clock.waiting > 0; rounds++) {
      if (rounds === maxSteps) throw new Error("The grace period is over, and the run still waits.");
      await this.clock.advance(0);
      await waitForQuiet();
    }
  }

  async #take(index: number): Promise<void> {
    const [step] = this.#pending.splice(index, 1);
    this.taken.push(step?.label ?? graceLabel);
    if (step) return step.run();
    this.#isGraceOver = this.#isRunAborted();
    await this.clock.advance(graceMs);
  }
}

/** Real time after which the loop may have yielded to the event loop once more. */
const stallMs = 4;

/**
 * Waits until everything that needs no step has happened. The second `setImmediate` is for a loop that yielded to the
 * event loop, which depends on real time: after a stall it may have yielded several times, so everything is repeated.
 */
export async function waitForQuiet(): Promise<void> {
  let startMs: number;
  do {
    startMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  } while (performance.now() - startMs > stallMs);
}

/** Runs every possible order, depth first, and returns how many there are. */
export async function runEveryOrder(run: (choose: Choose) => Promise<void>): Promise<number> {
  const path: { index: number; count: number }[] = [];
  for (let orders = 1; ; orders++) {
    let depth = 0;
    await run(({ length }) => {
      const choice = (path[depth] ??= { index: 0, count: length });
      if (choice.count !== length) throw new Error("The same steps had another result: the run is not deterministic.");
      depth++;
      return choice.index;
    });
    while (path.length > 0 && path.at(-1)!.index + 1 === path.at(-1)!.count) path.pop();
    if (path.length === 0) return orders;
    path.at(-1)!.index++;
  }
}

/** An order made of random numbers: each chooses among the possible steps; when they run out, the oldest step is next. */
export function toOrder(numbers: readonly number[]): Choose {
  let index = 0;
  return ({ length }) => (numbers[index++] ?? 0) % length;
}

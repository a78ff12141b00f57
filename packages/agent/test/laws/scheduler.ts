import { createFakeClock } from "@tau/ai/testing";

/** Picks one of the things that could happen next, by its place in the list. */
export type Choose = (labels: readonly string[]) => number;

interface Step {
  label: string;
  take: () => void;
}

/** What an aborted run may take to end. */
const graceMs = 100;
const maxSteps = 1_000;
const graceLabel = "the grace passes";

/** Decides the order of everything asynchronous: what is held here happens when its step is taken, one at a time. */
export class Scheduler {
  readonly clock = createFakeClock();
  /** The steps that were taken, in order. */
  readonly taken: string[] = [];
  readonly #choose: Choose;
  #pending: Step[] = [];
  #graceLeftMs = graceMs;

  constructor(choose: Choose) {
    this.#choose = choose;
  }

  add(label: string, take: () => void): void {
    this.#pending.push({ label, take });
  }

  /** A promise that settles as `settle` says when its step is taken. */
  later<T>(label: string, settle: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.add(label, () => {
        try {
          resolve(settle());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** A new run has a grace of its own. */
  renewGrace(): void {
    this.#graceLeftMs = graceMs;
  }

  /** Whether what does not stop by itself has been left behind. */
  get isGraceOver(): boolean {
    return this.#graceLeftMs === 0;
  }

  /** Takes steps until `isOver`. `unstick` may make something happen when nothing can, and says whether it did. */
  async drive(isOver: () => boolean, unstick: () => boolean): Promise<void> {
    for (let steps = 0; steps < maxSteps; steps++) {
      await quiet();
      await this.#leaveBehind();
      if (isOver()) return;
      const labels = this.#pending.map(({ label }) => label);
      if (this.clock.waiting > 0) labels.push(graceLabel);
      if (labels.length > 0) await this.#take(labels.length === 1 ? 0 : this.#choose(labels));
      else if (!unstick()) throw new Error("Nothing can happen any more, and the run is not over.");
    }
    throw new Error(`The run is not over after ${maxSteps} steps.`);
  }

  /** Lets everything happen that is still held. */
  async drain(): Promise<void> {
    while (this.#pending.length > 0) {
      await this.#take(0);
      await quiet();
    }
  }

  /** Once the grace is over nothing new has any: that is no choice. */
  async #leaveBehind(): Promise<void> {
    for (let rounds = 0; this.isGraceOver && this.clock.waiting > 0; rounds++) {
      if (rounds === maxSteps) throw new Error("The grace is over, and the run still waits.");
      await this.clock.advance(0);
      await quiet();
    }
  }

  async #take(at: number): Promise<void> {
    const [step] = this.#pending.splice(at, 1);
    this.taken.push(step?.label ?? graceLabel);
    if (step) return step.take();
    const leftMs = this.#graceLeftMs;
    this.#graceLeftMs = 0;
    await this.clock.advance(leftMs);
  }
}

/** Real time after which the loop may have let the event loop breathe once more. */
const stallMs = 4;

/**
 * Everything that can go on without a step has gone on. The second round is for a loop that let the event loop breathe,
 * which it does by real time: after a stall nobody knows how often, so everything is waited for again.
 */
export async function quiet(): Promise<void> {
  let startMs: number;
  do {
    startMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  } while (performance.now() - startMs > stallMs);
}

/** Plays every order there is, depth first, and says how many there are. */
export async function everyOrder(play: (choose: Choose) => Promise<void>): Promise<number> {
  const path: { at: number; of: number }[] = [];
  for (let played = 1; ; played++) {
    let depth = 0;
    await play(({ length }) => {
      const fork = (path[depth] ??= { at: 0, of: length });
      if (fork.of !== length) throw new Error("The same steps led to something else: the run is not deterministic.");
      depth++;
      return fork.at;
    });
    while (path.length > 0 && path.at(-1)!.at + 1 === path.at(-1)!.of) path.pop();
    if (path.length === 0) return played;
    path.at(-1)!.at++;
  }
}

/** An order drawn from numbers: each picks among what is possible when its turn comes, the oldest when they run out. */
export function getOrder(draws: readonly number[]): Choose {
  let at = 0;
  return ({ length }) => (draws[at++] ?? 0) % length;
}

/**
 * The three sources of non-determinism, as ports. Code in these packages never calls `Date.now`, `setTimeout`,
 * `Math.random` or `randomUUID` directly: it takes one of these, so that tests and simulations can replay it.
 */

import { platform } from "#platform";
import { followSignal } from "./internal/follow-signal.ts";

/** Time. `now` may jump when the machine's clock is set; `monotonic` never goes back and is what durations use. */
export interface Clock {
  /** Wall time, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary start; never decreases. */
  monotonic(): number;
  /** Calls `fire` once after `afterMs`. Returns a function that cancels the timer. */
  setTimer(afterMs: number, fire: () => void): () => void;
}

/** A number in [0, 1). */
export type Random = () => number;

/** A new unique id each time. */
export type Ids = () => string;

/** Node fires longer timers after 1 ms, so a longer wait is split into steps of this length. */
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => platform.monotonic(),
  setTimer(afterMs, fire) {
    const deadline = platform.monotonic() + afterMs;
    let handle: ReturnType<typeof setTimeout>;
    const arm = () => {
      const remainingMs = deadline - platform.monotonic();
      handle = setTimeout(remainingMs > maxTimerMs ? arm : fire, Math.min(Math.max(remainingMs, 0), maxTimerMs));
    };
    arm();
    return () => clearTimeout(handle);
  },
};

export const systemRandom: Random = () => Math.random();

export const systemIds: Ids = () => platform.uuid();

/** Waits `afterMs`, or until `signal` aborts, and reports which happened. Removes its listener. */
export function sleep(clock: Clock, afterMs: number, signal?: AbortSignal): Promise<"elapsed" | "aborted"> {
  if (signal?.aborted) return Promise.resolve("aborted");
  return new Promise((resolve) => {
    const stop = followSignal(signal, () => {
      cancel();
      resolve("aborted");
    });
    const cancel = clock.setTimer(afterMs, () => {
      stop();
      resolve("elapsed");
    });
  });
}

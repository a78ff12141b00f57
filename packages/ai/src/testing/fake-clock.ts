import type { Clock } from "../clock.ts";

/** A clock that only moves when `advance` is called. */
export interface FakeClock extends Clock {
  /** Advances the time and fires all due timers in order. Between timers, pending promises are run. */
  advance(byMs: number): Promise<void>;
  /** The number of pending timers. */
  readonly waiting: number;
}

interface Timer {
  dueMs: number;
  fire: () => void;
}

export function createFakeClock(startMs = 1_700_000_000_000): FakeClock {
  let elapsedMs = 0;
  const timers = new Set<Timer>();
  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    setTimer(afterMs, fire) {
      const timer = { dueMs: elapsedMs + Math.max(0, afterMs), fire };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(byMs) {
      const targetMs = elapsedMs + byMs;
      for (;;) {
        await settle();
        const next = [...timers].filter(({ dueMs }) => dueMs <= targetMs).sort((a, b) => a.dueMs - b.dueMs)[0];
        if (!next) break;
        timers.delete(next);
        elapsedMs = next.dueMs;
        next.fire();
      }
      elapsedMs = targetMs;
      await settle();
    },
    get waiting() {
      return timers.size;
    },
  };
}

/** Runs pending promises and one turn of the event loop. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

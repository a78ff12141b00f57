import type { Clock } from "../clock.ts";

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  /** Moves on, firing what falls due on the way, in order, and letting what they started run in between. */
  advance(byMs: number): Promise<void>;
  /** How many timers are waiting. */
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

/** Lets everything that is ready run: promises first, then what the event loop has at hand. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

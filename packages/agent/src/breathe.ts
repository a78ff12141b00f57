import { systemClock } from "@tau/ai";

/** How long work may go on before timers and sockets get their turn. */
const longestBreathMs = 8;

let lastMs = 0;

/**
 * Lets the event loop serve timers and sockets, if that has not happened for a while. A thousand agents whose models
 * and tools answer at once would otherwise live in the microtask queue alone.
 */
export function breathe(): Promise<void> | undefined {
  const nowMs = systemClock.monotonic();
  if (nowMs - lastMs < longestBreathMs) return undefined;
  return new Promise((resolve) => {
    nextTurn(() => {
      lastMs = systemClock.monotonic();
      resolve();
    });
  });
}

const nextTurn: (run: () => void) => void =
  typeof setImmediate === "function" ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0);

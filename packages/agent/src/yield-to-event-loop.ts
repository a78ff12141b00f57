import { systemClock } from "@tau/ai";

/** How long runs may work before timers and sockets are served. */
const maxSliceMs = 8;

/** How many runs continue in one slice. More would only mean more unfinished work in memory. */
const maxResumed = 32;

let lastYieldMs = 0;
const waiting: (() => void)[] = [];

/**
 * Lets the event loop serve timers and sockets, if that has not happened for a while. Agents whose models and tools
 * answer at once would otherwise run in the microtask queue alone and block the process.
 */
export function yieldToEventLoop(): Promise<void> {
  if (waiting.length === 0) {
    if (systemClock.monotonic() - lastYieldMs < maxSliceMs) return Promise.resolve();
    schedule(resumeNext);
  }
  return new Promise((resolve) => waiting.push(resolve));
}

function resumeNext(): void {
  lastYieldMs = systemClock.monotonic();
  for (const resume of waiting.splice(0, maxResumed)) resume();
  if (waiting.length > 0) schedule(resumeNext);
}

function schedule(callback: () => void): void {
  if (typeof setImmediate === "function") setImmediate(callback);
  else setTimeout(callback, 0);
}

import { systemClock } from "@tau/ai";

/** How long work may go on before timers and sockets get their turn. */
const maxSliceMs = 8;

/** How many go on between two looks at timers and sockets. More at once only means more half-done work in memory. */
const atOnce = 32;

let lastMs = 0;
const waiting: (() => void)[] = [];

/**
 * Lets the event loop serve timers and sockets, if that has not happened for a while. A thousand agents whose models
 * and tools answer at once would otherwise live in the microtask queue alone. Who has to wait, waits in line.
 */
export function breathe(): Promise<void> | undefined {
  if (waiting.length === 0) {
    if (systemClock.monotonic() - lastMs < maxSliceMs) return undefined;
    nextTurn(letGo);
  }
  return new Promise((resolve) => waiting.push(resolve));
}

function letGo(): void {
  lastMs = systemClock.monotonic();
  for (const goOn of waiting.splice(0, atOnce)) goOn();
  if (waiting.length > 0) nextTurn(letGo);
}

const nextTurn: (run: () => void) => void =
  typeof setImmediate === "function" ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0);

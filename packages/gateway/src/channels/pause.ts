import type { Clock } from "@tau/ai";

/** Resolves after the time, or when the signal is aborted. */
export async function pause(clock: Clock, forMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.setTimer(forMs, end);
    signal.addEventListener("abort", end);
  });
}

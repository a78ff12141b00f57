/** Waits of channels, which end when their account is closed. */
import type { Clock } from "@tau/ai";
import { followSignal } from "@tau/ai/internal";

/** Resolves when the signal is aborted, also if it was before. */
export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    followSignal(signal, () => resolve());
  });

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

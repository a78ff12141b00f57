import { type Clock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { acquireLease, type LeaseOptions, type LeaseOutcome } from "@tau/tools/platform";

export interface WaitForLeaseOptions extends LeaseOptions {
  clock: Clock;
  /** How long another process may hold it. */
  maxWaitMs: number;
}

const firstPauseMs = 5;
const maxPauseMs = 200;

/** Takes a lease as soon as it is free, `busy` if that is not in time. */
export async function waitForLease(path: string, options: WaitForLeaseOptions): Promise<LeaseOutcome> {
  const { clock, maxWaitMs, ...lease } = options;
  const deadlineMs = clock.monotonic() + maxWaitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const outcome = await acquireLease(path, lease);
    if (outcome.kind === "held" || clock.monotonic() >= deadlineMs) return outcome;
    await sleep(clock, pauseMs);
  }
}

import type { Clock } from "@tau/ai";
import type { ExitStatus } from "../platform/spawn.ts";

/** Ends the wait for a command. */
export interface CallLimits {
  clock: Clock;
  timeoutMs: number | undefined;
  signal: AbortSignal | undefined;
}

type Outcome = { kind: "done"; status: ExitStatus } | { kind: "timeout" } | { kind: "aborted" };

/** Waits until a command has ended, its time is over, or the call is aborted. Does not end the command. */
export function getOutcome(exit: Promise<ExitStatus>, { clock, timeoutMs, signal }: CallLimits): Promise<Outcome> {
  return new Promise((resolve) => {
    const settle = (outcome: Outcome) => {
      stopTimer?.();
      signal?.removeEventListener("abort", onAbort);
      resolve(outcome);
    };
    const onAbort = () => settle({ kind: "aborted" });
    const stopTimer =
      timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs, () => settle({ kind: "timeout" }));
    signal?.addEventListener("abort", onAbort, { once: true });
    void exit.then((status) => settle({ kind: "done", status }));
    // It may have come while the command was being started.
    if (signal?.aborted) onAbort();
  });
}

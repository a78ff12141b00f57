/** Assertions about wall time, for the tests that run alone (see vitest.config.ts). No other test may make one. */
import { execFileSync } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";

/**
 * How long something that takes at most `ms` on an idle machine may take now. Other work on this machine delays each
 * process in the same way, so the time that a program needs to start and end says how much to add.
 */
export function allowance(ms: number): number {
  const delays = Array.from({ length: 5 }, () => getDuration(() => execFileSync("true")));
  return ms + 10 * Math.max(...delays);
}

function getDuration(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** How long other work of this process has to wait while `work` goes on: in 99 of 100 cases, in milliseconds. */
export async function measureLoopDelay(work: () => Promise<unknown>): Promise<number> {
  const resolution = 5;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  await work();
  delay.disable();
  return delay.percentile(99) / 1e6 - resolution;
}

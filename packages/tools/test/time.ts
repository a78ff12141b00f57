/** Assertions about wall time, for the tests that run alone (see vitest.config.ts). No other test may make one. */
import { execFileSync } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect } from "vitest";

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

/** Fails unless one of three attempts, each of which says how long it took, is over in time. */
export async function expectWithin(ms: number, attempt: () => Promise<number>): Promise<void> {
  const durations: number[] = [];
  let limitMs = 0;
  do {
    durations.push(await attempt());
    limitMs = allowance(ms);
  } while (durations.length < 3 && durations.at(-1)! > limitMs);
  expect(Math.min(...durations)).toBeLessThan(limitMs);
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

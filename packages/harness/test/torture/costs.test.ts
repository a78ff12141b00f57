/** Several processes that spend from one limit, and some of which are killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatDate } from "../../src/prompt/system-prompt.ts";
import { getUse, readLedger } from "../../src/cost/ledger-state.ts";
import { bundle, patience, scratch, seed, times } from "./kit.ts";

const limit = 60;

interface Ended {
  /** The highest amount that its requests may have cost: those that have no cost yet may cost what was reserved. */
  spent: number;
  wasKilled: boolean;
}

/** Runs a process to its end, or kills it when it has printed so many lines. */
async function run(
  script: string,
  agentDir: string,
  { start, killAfter }: { start: number; killAfter: number },
): Promise<Ended> {
  const child = spawn(process.execPath, [script, agentDir, String(start), String(limit)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const sent: number[] = [];
  const costs: number[] = [];
  let count = 0;
  for await (const line of createInterface(child.stdout)) {
    const [kind, amount] = line.split(" ");
    (kind === "sent" ? sent : costs).push(Number(amount));
    if (++count === killAfter) child.kill("SIGKILL");
  }
  const [code, signal] = await exit;
  expect([code, signal]).toEqual(signal === "SIGKILL" ? [null, "SIGKILL"] : [0, null]);
  const open = sent.length - costs.length;
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  // A killed process has at most two requests without a cost; which ones is not printed, so the most expensive count.
  const highest = sent.toSorted((a, b) => b - a).slice(0, open);
  return { spent: sum(costs) + (signal === "SIGKILL" ? sum(highest) : 0), wasKilled: signal === "SIGKILL" };
}

test(
  "several processes, some of them killed, together never spend more than the limit, and stop only near it",
  async () => {
    const script = await bundle("cost-process", scratch());
    const anyProcess = fc.record({
      start: fc.nat({ max: 1e6 }),
      killAfter: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 20 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyProcess, { minLength: 3, maxLength: 3 }), async (processes) => {
        const agentDir = scratch();
        // One is left to its end, so that the limit is reached.
        const all = [{ start: 1, killAfter: Number.POSITIVE_INFINITY }, ...processes];
        const ended = await Promise.all(all.map((each) => run(script, agentDir, each)));
        const file = join(agentDir, "costs.jsonl");
        const state = readLedger(readFileSync(file, "utf8"));
        const now = Date.now();
        const { spent, reserved } = getUse(state, formatDate(now).slice(0, 4), now);
        // The highest request costs 12 tokens.
        const tolerance = ended.filter(({ wasKilled }) => wasKilled).length * 2 * 3;
        expect(ended.reduce((sum, each) => sum + each.spent, 0)).toBeLessThanOrEqual(limit + tolerance);
        expect(spent + reserved).toBeLessThanOrEqual(limit);
        expect(spent + reserved).toBeGreaterThan(limit - 3);
        expect(statSync(file).mode & 0o777).toBe(0o600);
      }),
      { numRuns: times(20, 2), seed },
    );
  },
  patience(60),
);

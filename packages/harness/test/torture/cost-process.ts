/** A process that sends requests until the limit of the day is reached, and prints what it does. See `costs.test.ts`. */
import { writeSync } from "node:fs";
import { systemClock, systemIds } from "@tau/ai";
import { createRecordFiles } from "@tau/tools/storage";
import { toDemand } from "../../src/budget/demand.ts";
import { CostLedger } from "../../src/cost/cost-ledger.ts";

const [agentDir = "", seed = "", limit = ""] = process.argv.slice(2);
/** A token costs $0.25, so that sums are exact. */
const price = { input: 25e4, output: 25e4, cacheRead: 0, cacheWrite: 0 };
const ledger = new CostLedger({ storage: createRecordFiles({ agentDir }), clock: systemClock, ids: systemIds });
const report = (line: string) => writeSync(1, `${line}\n`);

let state = Number(seed) + 1;
const below = (count: number) => (state = (state * 48_271) % 2_147_483_647) % count;

async function sendAll(): Promise<void> {
  for (;;) {
    const demand = toDemand({ inputTokens: 1 + below(4), maxOutputTokens: 1 + below(8), price });
    const grant = await ledger.reserve(demand, { day: Number(limit), month: undefined });
    if (grant.kind === "failed") throw new Error(grant.message);
    if (grant.kind === "spent") return;
    const { maxTokens, settle } = grant.reservation;
    report(`sent ${demand.inputCost + maxTokens * demand.outputPrice}`);
    const cost = demand.inputCost + below(maxTokens + 1) * demand.outputPrice;
    await settle(cost);
    report(`cost ${cost}`);
  }
}

// Two at a time, as a session with a child has.
await Promise.all([sendAll(), sendAll()]);

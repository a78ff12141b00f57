/** Reads what is left of the limits of the day and of the month. */
import type { UsageLimit } from "@tau/protocol";
import type { Storage } from "@tau/tools/storage";
import { formatDate } from "../prompt/system-prompt.ts";
import { readCostLedger } from "./cost-ledger.ts";
import { type CostLimits, listUses } from "./cost-limits.ts";

/** Has an element for each limit that is set. */
export async function readCostLimits(storage: Storage, limits: CostLimits, nowMs: number): Promise<UsageLimit[]> {
  const state = await readCostLedger(storage);
  return listUses(state, limits, { nowMs, today: formatDate(nowMs) }).map((use) => ({
    ...use,
    left: Math.max(0, use.limit - use.spent - use.reserved),
  }));
}

/** Adds up what a session has cost, with what it spent on others. Pure. */
import { asRecord } from "@tau/ai/internal";
import type { SessionEntry } from "@tau/protocol";

export const getSessionCost = (entries: readonly SessionEntry[]): number =>
  entries.reduce((sum, entry) => sum + getCost(entry), 0);

function getCost(entry: SessionEntry): number {
  const { usage, message } = entry as { usage?: unknown; message?: unknown };
  const { total } = asRecord(asRecord(usage ?? asRecord(message)["usage"])["cost"]);
  return typeof total === "number" && Number.isFinite(total) ? total : 0;
}

/** Computes what a session has used since a moment. */
import type { Session } from "./session.ts";
import { countEntry, emptyTotals } from "./totals.ts";

/** Reads the entries of the session, unless the whole of it is asked for. */
export async function sumUsage(session: Session, since: Date): Promise<{ tokens: number; cost: number }> {
  const isWhole = since.getTime() <= session.createdAt;
  const entries = isWhole ? [] : await session.getEntries();
  const { tokens, cost } = isWhole
    ? await session.getTotals()
    : entries.filter(({ timestamp }) => Date.parse(timestamp) >= since.getTime()).reduce(countEntry, emptyTotals);
  return { tokens: tokens.total, cost };
}

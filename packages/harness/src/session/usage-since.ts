/** What a session has used since a moment. */
import type { Session } from "./session.ts";
import { countEntry, emptyTotals } from "./totals.ts";

/** Of the whole session it costs nothing; otherwise its entries are read. */
export async function sumUsage(session: Session, since: Date): Promise<{ tokens: number; cost: number }> {
  const isWhole = since.getTime() <= session.createdAt;
  const entries = isWhole ? [] : await session.getEntries();
  const { tokens, cost } = isWhole
    ? await session.getTotals()
    : entries.filter(({ timestamp }) => Date.parse(timestamp) >= since.getTime()).reduce(countEntry, emptyTotals);
  return { tokens: tokens.total, cost };
}

/** Finds where a session continues when its log is opened. */
import { customTypes, type SessionEntry, type SessionHeader } from "./entry.ts";
import type { SessionLog } from "./log.ts";

/** Such an entry means that the user went to its parent. */
export const isNavigation = (entry: SessionEntry) =>
  entry.type === "custom" && entry.customType === customTypes.navigated;

/** The leaf of a session that is opened is its last entry, or the entry that the user went to after it. */
export const readInitialState = (log: SessionLog, header: SessionHeader) =>
  log.retryIfReloaded(async () => {
    const { table } = log;
    const readRow = async (row: number) => (row < 0 ? undefined : (await log.read([row]))[0]);
    const row = table.lastEntry();
    const last = await readRow(row);
    const leaf = last && isNavigation(last) ? await readRow(table.findReadable(table.parent(row))) : last;
    return { leafId: leaf?.id ?? null, lastActiveAt: Date.parse((last ?? header).timestamp) || 0 };
  });

import type { NewEntry, SessionEntry } from "../src/session/entry.ts";

/** An entry as the log would write it. */
export const toEntry = (entry: NewEntry, id: string, parentId: string | null): SessionEntry =>
  ({ ...entry, id, parentId, timestamp: "2026-01-01T00:00:00.000Z" }) as SessionEntry;

/** Where schedules and their runs are kept: a log, or a stream that several nodes share. */
import type { Storage } from "@tau/harness/session";
import { type Ids, systemIds } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import { Journal, type JournalOptions } from "../journal/journal.ts";
import { type ScheduleRecord, ScheduleTable } from "./records.ts";

export interface ScheduleStore {
  readonly table: Omit<ScheduleTable, "take" | "snapshot" | "clear">;
  /** Names this process among those that begin runs. */
  readonly owner: string;
  /** Whether other nodes have the same schedules. */
  readonly isShared: boolean;
  /** Calls the listener after another node may have written. */
  onChange(listener: () => void): void;
  /** Grows with each record that the table takes. */
  readonly revision: number;
  /** Reads what other nodes have written. */
  refresh(): Promise<void>;
  /**
   * Resolves with the table's revision when the record is on the disk. With `after`, it is written only if the table still has that
   * revision: a decision is valid only for what it was made of. Undefined: there are newer records, which the table has now, and nothing
   * was written; decide again. Rejects with `unavailable` if the disk refuses.
   */
  append(record: ScheduleRecord, after?: number): Promise<number | undefined>;
  /** Whether the process that began a run has ended. */
  isGone(owner: string): Promise<boolean>;
  close(): Promise<void>;
}

type StoreOptions = Pick<JournalOptions<ScheduleRecord>, "maxBytes" | "log"> & { ids?: Ids };

/** Schedules that this process alone has. */
export async function openScheduleStore(
  storage: Storage,
  { ids = systemIds, ...options }: StoreOptions = {},
): Promise<ScheduleStore> {
  const table = new ScheduleTable();
  const appends = new SerialQueue();
  let revision = 0;
  const journal = await Journal.open<ScheduleRecord>({
    ...options,
    storage,
    key: "gateway/schedules",
    take: (record) => {
      table.take(record);
      revision++;
    },
    snapshot: () => table.snapshot(),
  });
  const owner = ids();
  return {
    table,
    owner,
    isShared: false,
    get revision() {
      return revision;
    },
    onChange: () => {},
    refresh: async () => {},
    append: (record, after) =>
      appends.add(async () => {
        if (after !== undefined && after !== revision) return undefined;
        await journal.append(record);
        return revision;
      }),
    // Only one process at a time has the log.
    isGone: async (other) => other !== owner,
    close: () => journal.close(),
  };
}

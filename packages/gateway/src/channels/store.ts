/** Where conversations and replies are kept over restarts. */
import { join } from "node:path";
import { Journal, type JournalOptions } from "../journal/journal.ts";
import { type ChannelRecord, ChannelTable } from "./records.ts";

export interface ChannelStore {
  readonly table: Omit<ChannelTable, "take" | "snapshot">;
  /** Resolves when the record is on the disk, and rejects with `unavailable` if it is not. */
  append(record: ChannelRecord): Promise<void>;
  close(): Promise<void>;
}

type StoreOptions = Pick<JournalOptions<ChannelRecord>, "fileSystem" | "clock" | "ids" | "maxBytes" | "log">;

/** `directory` is that of the gateway. */
export async function openChannelStore(directory: string, options: StoreOptions = {}): Promise<ChannelStore> {
  const table = new ChannelTable();
  const journal = await Journal.open<ChannelRecord>({
    ...options,
    path: join(directory, "channels.jsonl"),
    take: (record) => table.take(record),
    snapshot: () => table.snapshot(),
  });
  return { table, append: (record) => journal.append(record), close: () => journal.close() };
}

/** Where conversations and replies are kept over restarts. */
import type { Storage } from "@tau/harness/session";
import { Journal, type JournalOptions } from "../journal/journal.ts";
import { type ChannelRecord, ChannelTable } from "./records.ts";

export interface ChannelStore {
  readonly table: Omit<ChannelTable, "take" | "snapshot" | "clear">;
  /** Resolves when the record is on the disk, and rejects with `unavailable` if it is not. */
  append(record: ChannelRecord): Promise<void>;
  close(): Promise<void>;
}

/** Keeps the conversations and replies of channels for all nodes, of which one at a time connects the accounts. */
export interface ClusterChannels extends ChannelStore {
  /** Reads what other nodes have written. */
  refresh(): Promise<void>;
  /** Makes this node connect the accounts whenever no other node that is alive does. Called once. */
  lead(leader: ChannelLeader): void;
}

export interface ChannelLeader {
  /** This node connects the accounts from now on. */
  onBegin(): Promise<void>;
  /** Another node does. What this node still appends about an attempt to send is refused. */
  onEnd(): Promise<void>;
  /** Another node has written this. */
  onRecord(record: ChannelRecord): void;
}

type StoreOptions = Pick<JournalOptions<ChannelRecord>, "maxBytes" | "log">;

/** The conversations and replies of a gateway that is alone. */
export async function openChannelStore(storage: Storage, options: StoreOptions = {}): Promise<ChannelStore> {
  const table = new ChannelTable();
  const journal = await Journal.open<ChannelRecord>({
    ...options,
    storage,
    key: "gateway/channels",
    take: (record) => table.take(record),
    snapshot: () => table.snapshot(),
  });
  return { table, append: (record) => journal.append(record), close: () => journal.close() };
}

/** Where an inbox keeps its messages: a log, or a stream that several nodes share. */
import { type Clock, systemClock } from "@tau/ai";
import type { Storage } from "@tau/harness/session";
import { Journal, type JournalOptions } from "../journal/journal.ts";
import type { Handover, MessageOutcome, StoredMessage } from "./message.ts";
import { type InboxRecord, MessageTable } from "./records.ts";

/**
 * Each method resolves when its change is on the disk, and rejects if it has not happened, unless with `unknown_outcome`. A
 * message that has an outcome keeps it: later outcomes are ignored.
 */
export interface InboxStore {
  readonly messages: Pick<MessageTable, "get" | "all" | "ofSession" | "findRequest" | "getWaitingBytes" | "counts">;
  /** `replaces` is a message that was given up: it is forgotten in the same moment. */
  accept(message: StoredMessage, replaces?: string): Promise<void>;
  /** Messages are about to be handed to their session as one, or as a command. */
  handOver(ids: readonly string[], handover: Handover): Promise<void>;
  settle(ids: readonly string[], outcome: MessageOutcome): Promise<void>;
  close(): Promise<void>;
}

type InboxOptions = Pick<JournalOptions<InboxRecord>, "maxBytes" | "log"> & { clock?: Clock };

/** An inbox that this process alone has. */
export async function openInboxStore(
  storage: Storage,
  { clock = systemClock, ...options }: InboxOptions = {},
): Promise<InboxStore> {
  const messages = new MessageTable();
  const journal = await Journal.open<InboxRecord>({
    ...options,
    storage,
    key: "gateway/inbox",
    take: (record) => messages.take(record),
    snapshot: () => messages.snapshot(clock.now()),
  });
  return {
    messages,
    accept: (message, replaces) =>
      journal.append({ type: "message", message, ...(replaces !== undefined && { replaces }) }),
    handOver: (ids, handover) => journal.append({ type: "handover", ids, handover }),
    settle: (ids, outcome) => journal.append({ type: "settled", ids, outcome }),
    close: () => journal.close(),
  };
}

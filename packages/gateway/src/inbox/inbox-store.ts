/** Where an inbox keeps its messages: a file, or a stream that several nodes share. */
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { Journal, type JournalOptions } from "../journal/journal.ts";
import type { Handover, MessageOutcome, StoredMessage } from "./message.ts";
import { type InboxRecord, MessageTable } from "./records.ts";

/**
 * Each method resolves when its change is on the disk, and rejects if it has not happened, unless with `unknown_outcome`. A
 * message that has an outcome keeps it: later outcomes are ignored.
 */
export interface InboxStore {
  readonly messages: Pick<MessageTable, "get" | "all" | "ofSession" | "findRequest" | "counts">;
  /** `replaces` is a message that was given up: it is forgotten in the same moment. */
  accept(message: StoredMessage, replaces?: string): Promise<void>;
  /** Messages are about to be handed to their session as one, or as a command. */
  handOver(ids: readonly string[], handover: Handover): Promise<void>;
  settle(ids: readonly string[], outcome: MessageOutcome): Promise<void>;
  close(): Promise<void>;
}

type InboxFileOptions = Pick<JournalOptions<InboxRecord>, "fileSystem" | "clock" | "ids" | "maxBytes" | "log">;

/** An inbox in a file. `directory` is that of the gateway. */
export async function openInboxFile(directory: string, options: InboxFileOptions = {}): Promise<InboxStore> {
  const messages = new MessageTable();
  const { clock = systemClock } = options;
  const journal = await Journal.open<InboxRecord>({
    ...options,
    path: join(directory, "inbox.jsonl"),
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

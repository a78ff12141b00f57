/** The stores of a gateway besides sessions: accepted messages, runs, keys of requests, conversations of channels, and schedules. */
import { join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { Closers } from "@tau/ai/internal";
import { type ChannelStore, openChannelStore } from "./channels/store.ts";
import { IdempotencyKeys, type RequestKeys } from "./idempotency/idempotency-keys.ts";
import { type InboxStore, openInboxFile } from "./inbox/inbox-store.ts";
import { RunRecords } from "./lanes/run-records.ts";
import { openScheduleFile, type ScheduleStore } from "./schedules/index.ts";

interface StoresOptions {
  agentDir: string;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
  /** Default: a file. */
  inboxStore: InboxStore | undefined;
  /** Default: a file. */
  requestKeys: RequestKeys | undefined;
  /** Default: a file. */
  scheduleStore: ScheduleStore | undefined;
  /** Default: a file. */
  channels: ChannelStore | undefined;
}

interface Stores {
  readonly inboxStore: InboxStore;
  readonly runs: RunRecords;
  readonly requestKeys: RequestKeys;
  readonly channels: ChannelStore;
  readonly schedules: ScheduleStore;
  close(): Promise<void>;
}

/** Throws `unavailable` if another gateway uses the same directory. */
export function openStores({ agentDir, clock, ids, log, ...shared }: StoresOptions): Promise<Stores> {
  const directory = join(agentDir, "gateway");
  return Closers.open(async (closers) => {
    const inboxStore = shared.inboxStore ?? (await openInboxFile(directory, { clock, ids, log }));
    closers.add(() => inboxStore.close());
    const runs = await RunRecords.open(directory, { clock, ids, log });
    closers.add(() => runs.close());
    const requestKeys = shared.requestKeys ?? (await IdempotencyKeys.open(directory, { clock, ids, log }));
    closers.add(() => requestKeys.close());
    const channels = shared.channels ?? (await openChannelStore(directory, { clock, ids, log }));
    closers.add(() => channels.close());
    const schedules = shared.scheduleStore ?? (await openScheduleFile(directory, { clock, ids, log }));
    closers.add(() => schedules.close());
    return { inboxStore, runs, requestKeys, channels, schedules, close: () => closers.close() };
  });
}

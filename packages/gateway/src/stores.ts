/** The stores of a gateway besides sessions: accepted messages, runs, keys of requests, conversations of channels, and schedules. */
import type { Clock, Ids } from "@tau/ai";
import { Closers } from "@tau/ai/internal";
import type { Storage } from "@tau/harness/session";
import { type ChannelStore, openChannelStore } from "./channels/store.ts";
import { IdempotencyKeys, type RequestKeys } from "./idempotency/idempotency-keys.ts";
import { type InboxStore, openInboxStore } from "./inbox/inbox-store.ts";
import { RunRecords } from "./lanes/run-records.ts";
import { openScheduleStore, type ScheduleStore } from "./schedules/index.ts";

interface StoresOptions {
  storage: Storage;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
  /** Default: a log of `storage`. */
  inboxStore: InboxStore | undefined;
  /** Default: a log of `storage`. */
  requestKeys: RequestKeys | undefined;
  /** Default: a log of `storage`. */
  scheduleStore: ScheduleStore | undefined;
  /** Default: a log of `storage`. */
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

/** Throws `unavailable` if another gateway uses the same storage. */
export function openStores({ storage, clock, ids, log, ...shared }: StoresOptions): Promise<Stores> {
  return Closers.open(async (closers) => {
    const inboxStore = shared.inboxStore ?? (await openInboxStore(storage, { clock, log }));
    closers.add(() => inboxStore.close());
    const runs = await RunRecords.open(storage, { log });
    closers.add(() => runs.close());
    const requestKeys = shared.requestKeys ?? (await IdempotencyKeys.open(storage, { clock, log }));
    closers.add(() => requestKeys.close());
    const channels = shared.channels ?? (await openChannelStore(storage, { log }));
    closers.add(() => channels.close());
    const schedules = shared.scheduleStore ?? (await openScheduleStore(storage, { ids, log }));
    closers.add(() => schedules.close());
    return { inboxStore, runs, requestKeys, channels, schedules, close: () => closers.close() };
  });
}

/** What a gateway keeps on the disk besides sessions: accepted messages, runs, and keys of requests. */
import { join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { Closers, withoutUndefined } from "@tau/ai/internal";
import { IdempotencyKeys, type RequestKeys } from "./idempotency/idempotency-keys.ts";
import { Inbox } from "./inbox/inbox.ts";
import type { StoredMessage } from "./inbox/message.ts";
import { type InboxStore, openInboxFile } from "./inbox/inbox-store.ts";
import { Lanes } from "./lanes/lanes.ts";
import { RunRecords } from "./lanes/run-records.ts";
import type { GatewayParts, GatewaySettings } from "./parts.ts";

export interface DurablePartsOptions {
  agentDir: string;
  clock: Clock;
  ids: Ids;
  getSettings: () => GatewaySettings;
  getSessions: () => GatewayParts["sessions"];
  /** Where accepted messages are kept. Default: a file. */
  inboxStore?: InboxStore;
  /** See `LanesParts.onChange`. */
  onLanesChanged: () => void;
  /** See `SessionMessagesParts`. */
  onGivenUp: (message: StoredMessage) => void;
  /** See `SessionInboxParts`. */
  leaveToOthers?: (sessionId: string) => void;
  /** Where keys of requests are kept. Default: a file. */
  requestKeys?: RequestKeys;
  log: (line: string) => void;
}

export interface DurableParts {
  parts: Pick<GatewayParts, "inbox" | "runs" | "lanes" | "idempotencyKeys">;
  inbox: Inbox;
  close(): Promise<void>;
}

/** Throws `unavailable` if another gateway uses the same directory. */
export function openDurableParts(options: DurablePartsOptions): Promise<DurableParts> {
  const { agentDir, clock, ids, getSettings, getSessions, onGivenUp, leaveToOthers, log } = options;
  const directory = join(agentDir, "gateway");
  return Closers.open(async (closers) => {
    const store = options.inboxStore ?? (await openInboxFile(directory, { clock, ids, log }));
    closers.add(() => store.close());
    const runs = await RunRecords.open(directory, { clock, ids, log });
    closers.add(() => runs.close());
    const idempotencyKeys = options.requestKeys ?? (await IdempotencyKeys.open(directory, { clock, ids, log }));
    closers.add(() => idempotencyKeys.close());
    const lanes = new Lanes({ clock, getLimits: () => getSettings().lanes, onChange: options.onLanesChanged });
    const openSession = (sessionId: string, deviceId?: string) => getSessions().open(sessionId, deviceId);
    const startedAt = clock.now();
    const inbox = new Inbox({
      store,
      lanes,
      runs,
      openSession,
      getSettings,
      clock,
      ids,
      startedAt,
      log,
      onGivenUp,
      ...withoutUndefined({ leaveToOthers }),
    });
    return { parts: { inbox, runs, lanes, idempotencyKeys }, inbox, close: () => closers.close() };
  });
}

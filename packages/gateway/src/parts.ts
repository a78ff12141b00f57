import type { Clock, Ids } from "@tau/ai";
import type { Settings } from "@tau/harness/settings";
import type { Devices } from "./auth/devices.ts";
import type { Subscriptions } from "./bridge/subscriptions.ts";
import type { IdempotencyKeys } from "./idempotency/idempotency-keys.ts";
import type { Inbox } from "./inbox/inbox.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { RunRecords } from "./lanes/run-records.ts";
import type { Connections } from "./server/connections.ts";
import type { OpenSessions } from "./sessions/open-sessions.ts";

export type GatewaySettings = Settings["gateway"];

/** What the rooms of a gateway know of each other. Each part owns its own state. */
export interface GatewayParts {
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** By the clock. */
  readonly startedAt: number;
  /** They may change while the gateway runs. */
  readonly getSettings: () => GatewaySettings;
  readonly devices: Devices;
  readonly connections: Connections;
  readonly sessions: OpenSessions;
  readonly subscriptions: Subscriptions;
  readonly lanes: Lanes;
  readonly runs: RunRecords;
  readonly inbox: Inbox;
  readonly idempotencyKeys: IdempotencyKeys;
  /** Writes a line to the gateway's own log. */
  readonly log: (line: string) => void;
}

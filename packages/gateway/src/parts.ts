import type { Clock, Ids } from "@tau/ai";
import type { Settings } from "@tau/harness/settings";
import type { Devices } from "./auth/devices.ts";
import type { Guesses } from "./auth/guesses.ts";
import type { Pairing } from "./auth/pairing.ts";
import type { Subscriptions } from "./bridge/subscriptions.ts";
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
  /** Whether nothing new may begin. */
  readonly isStopping: () => boolean;
  /** They may change while the gateway runs. */
  readonly getSettings: () => GatewaySettings;
  readonly devices: Devices;
  readonly pairing: Pairing;
  /** Wrong tokens, by address. */
  readonly guesses: Guesses;
  readonly connections: Connections;
  readonly sessions: OpenSessions;
  readonly subscriptions: Subscriptions;
  /** Writes a line to the gateway's own log. */
  readonly log: (line: string) => void;
}

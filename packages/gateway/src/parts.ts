import type { Clock, Ids, Model } from "@tau/ai";
import type { SettingsManager } from "@tau/config/settings";
import type { Devices } from "./auth/devices.ts";
import type { Guesses } from "./auth/guesses.ts";
import type { Pairing } from "./auth/pairing.ts";
import type { Subscriptions } from "./bridge/subscriptions.ts";
import type { Channels } from "./channels/channels.ts";
import type { McpClients } from "./http/mcp-clients.ts";
import type { SessionKeys } from "./http/session-keys.ts";
import type { RequestKeys } from "./idempotency/idempotency-keys.ts";
import type { Inbox } from "./inbox/inbox.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { WaitingSessions } from "./lanes/waiting-sessions.ts";
import type { RunRecords } from "./lanes/run-records.ts";
import type { LogLines } from "./log-lines.ts";
import type { ClusterPort } from "./port/cluster.ts";
import type { Schedules } from "./schedules/index.ts";
import type { Reloaded } from "./reload.ts";
import type { Connections } from "./server/connections.ts";
import type { OpenSessions } from "./sessions/open-sessions.ts";
import type { SessionList } from "./sessions/session-list.ts";
import type { SessionWatch } from "./sessions/session-watch.ts";
import type { GatewaySettings } from "./settings.ts";
import type { Shares } from "./shares/shares.ts";

/** The parts of a gateway, as requests see them. Each owns its own state. */
export interface GatewayParts {
  readonly version: string;
  /** The directory with the user's settings, credentials, models and sessions. */
  readonly agentDir: string;
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
  readonly settings: SettingsManager;
  readonly sessions: OpenSessions;
  readonly sessionIndex: SessionList;
  readonly channels: Channels;
  readonly schedules: Schedules;
  readonly subscriptions: Subscriptions;
  readonly sessionWatch: SessionWatch;
  /** Undefined: this gateway is alone. */
  readonly cluster: ClusterPort | undefined;
  /** Opens the sessions whose questions were answered before a crash. They are resumed. */
  readonly resumeAnswered: () => Promise<void>;
  /** The models that can be used, where no session is open that knows more. */
  readonly listModels: () => Promise<readonly Model[]>;
  /** Reads the settings again, also those of open sessions, and the certificate. */
  readonly reload: () => Promise<Reloaded>;
  readonly logs: LogLines;
  readonly lanes: Lanes;
  readonly waitingSessions: WaitingSessions;
  readonly runs: RunRecords;
  readonly inbox: Inbox;
  readonly idempotencyKeys: RequestKeys;
  /** Clients of MCP that have begun with a handshake. */
  readonly mcpClients: McpClients;
  /** The sessions that webhooks share by name. */
  readonly sessionKeys: SessionKeys;
  /** Pages of sessions that whoever has their address may read. */
  readonly shares: Shares;
  /** Writes a line to the gateway's own log. */
  readonly log: (line: string) => void;
}

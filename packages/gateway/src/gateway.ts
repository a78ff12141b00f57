/** A gateway: everything that it consists of, put together, and its life from start to stop. */
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import type { SettingsManager } from "@tau/harness/settings";
import { createOwnDevice, Devices } from "./auth/devices.ts";
import { Subscriptions } from "./bridge/subscriptions.ts";
import { LogLines } from "./log-lines.ts";
import type { GatewayParts } from "./parts.ts";
import { Connections } from "./server/connections.ts";
import { listen } from "./server/server.ts";
import { listModels } from "./sessions/list-models.ts";
import { type OpenDirectory, OpenSessions } from "./sessions/open-sessions.ts";
import { reloadSettings } from "./sessions/reload.ts";
import { SessionIndex } from "./sessions/session-index.ts";

export interface GatewayOptions {
  /** The directory with the user's settings, credentials, models and sessions. */
  agentDir: string;
  /** The token of the gateway's own user. */
  token: string;
  openDirectory: OpenDirectory;
  /** The directory that the gateway was started in. */
  startDirectory: string;
  /** The user's settings. */
  settings: SettingsManager;
  /** Of the program. */
  version: string;
  log: (line: string) => void;
  clock?: Clock;
  ids?: Ids;
}

export interface Gateway {
  /** Such as `ws://127.0.0.1:7433`. */
  readonly url: string;
  readonly parts: GatewayParts;
  stop(): Promise<void>;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { agentDir, openDirectory, startDirectory, settings, version } = options;
  const { clock = systemClock, ids = systemIds } = options;
  const logs = new LogLines(options.log);
  const log = logs.add;
  const getSettings = () => settings.get().gateway;
  const subscriptions = new Subscriptions(clock);
  const sessionIndex = new SessionIndex({ agentDir, getSessionDir: () => settings.get().sessionDir });
  const reload = () => reloadSettings(settings, parts.sessions);
  const parts: GatewayParts = {
    version,
    clock,
    ids,
    startedAt: clock.now(),
    getSettings,
    devices: new Devices([createOwnDevice(options.token)]),
    connections: new Connections(),
    settings,
    sessions: new OpenSessions({
      agentDir,
      openDirectory,
      startDirectory,
      index: sessionIndex,
      subscriptions,
      settings,
      reloadGateway: reload,
      clock,
      log,
    }),
    sessionIndex,
    subscriptions,
    listModels: () => listModels(agentDir, settings),
    reload,
    logs,
    log,
  };
  const { host, port } = getSettings();
  const server = await listen({ host, port }, parts);
  return {
    url: `ws://${host}:${server.address.port}`,
    parts,
    async stop() {
      await server.close();
      await parts.sessions.dispose();
    },
  };
}

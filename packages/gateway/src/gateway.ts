/** A gateway: everything that it consists of, put together, and its life from start to stop. */
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { createOwnDevice, Devices } from "./auth/devices.ts";
import { Subscriptions } from "./bridge/subscriptions.ts";
import { openDurableParts } from "./durable-parts.ts";
import type { GatewayParts, GatewaySettings } from "./parts.ts";
import { Connections } from "./server/connections.ts";
import { listen } from "./server/server.ts";
import { type OpenDirectory, OpenSessions } from "./sessions/open-sessions.ts";

export interface GatewayOptions {
  /** The directory with the user's settings, credentials, models and sessions. */
  agentDir: string;
  /** The token of the gateway's own user. */
  token: string;
  openDirectory: OpenDirectory;
  getSettings: () => GatewaySettings;
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
  const { agentDir, openDirectory, getSettings, version, log, clock = systemClock, ids = systemIds } = options;
  const durable = await openDurableParts({ agentDir, clock, ids, getSettings, log, getSessions: () => parts.sessions });
  const { inbox } = durable;
  const parts: GatewayParts = {
    ...durable.parts,
    version,
    clock,
    ids,
    startedAt: clock.now(),
    getSettings,
    devices: new Devices([createOwnDevice(options.token)]),
    connections: new Connections(),
    sessions: new OpenSessions({
      agentDir,
      openDirectory,
      afterCrash: inbox.afterCrash,
      onOpened: (hosted) => inbox.onOpened(hosted),
    }),
    subscriptions: new Subscriptions(),
    log,
  };
  const { host, port } = getSettings();
  const server = await listen({ host, port }, parts);
  void inbox.start();
  return {
    url: `ws://${host}:${server.address.port}`,
    parts,
    async stop() {
      await server.close();
      await inbox.stop();
      await parts.sessions.dispose();
      await durable.close();
    },
  };
}

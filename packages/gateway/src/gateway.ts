/** A gateway: everything that it consists of, put together, and its life from start to stop. */
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { openDevices } from "./auth/devices.ts";
import { Guesses } from "./auth/guesses.ts";
import { Pairing } from "./auth/pairing.ts";
import { Subscriptions } from "./bridge/subscriptions.ts";
import type { GatewayParts, GatewaySettings } from "./parts.ts";
import { Connections } from "./server/connections.ts";
import { listen, type ListenOptions } from "./server/server.ts";
import { type OpenDirectory, OpenSessions } from "./sessions/open-sessions.ts";

export interface GatewayOptions extends ListenOptions {
  /** The directory with the user's settings, credentials, models and sessions. */
  agentDir: string;
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
  const devices = await openDevices({ agentDir, clock, ids, log });
  const guesses = new Guesses(clock);
  const parts: GatewayParts = {
    version,
    clock,
    ids,
    startedAt: clock.now(),
    getSettings,
    devices,
    guesses,
    pairing: new Pairing({ devices, guesses, clock, ids, log }),
    connections: new Connections(),
    sessions: new OpenSessions({ agentDir, openDirectory }),
    subscriptions: new Subscriptions(),
    log,
  };
  const server = await listen(options, parts);
  const stopWatching = devices.watch();
  devices.onRemoved((id) => {
    for (const client of parts.connections.list(id)) client.close(1008, "the device was revoked");
  });
  return {
    url: server.url,
    parts,
    async stop() {
      await server.close();
      stopWatching();
      parts.pairing.close();
      await parts.sessions.dispose();
    },
  };
}

/** A gateway from start to stop. `open-parts.ts` puts together what it consists of. */
import { Closers, getErrorMessage, untilTimeout } from "@tau/ai/internal";
import { encodeFrame } from "./encoded-frame.ts";
import { createNodeCalls } from "./http/node-calls.ts";
import { type DrainOptions, waitForRuns } from "./life/drain.ts";
import { callMethod } from "./methods/index.ts";
import { openParts, type PartsOptions } from "./open-parts.ts";
import type { GatewayParts } from "./parts.ts";
import type { ClusterGateway } from "./port/cluster.ts";
import { Binding } from "./server/binding.ts";
import { listen, type ListenOptions } from "./server/server.ts";
import type { GatewaySettings } from "./settings.ts";

export interface GatewayOptions extends ListenOptions, PartsOptions {
  /** Default: those of `settings`. */
  getSettings?: () => GatewaySettings;
}

export interface Gateway {
  /** Such as `ws://127.0.0.1:7433`. */
  readonly url: string;
  /** SHA-256 of its certificate, as Node writes it; undefined without TLS. */
  readonly fingerprint: string | undefined;
  readonly parts: GatewayParts;
  /** Takes nobody and nothing new, notifies clients, and waits for the runs. Returns how many still run. */
  drain(options?: DrainOptions): Promise<number>;
  /** Ends at once what still runs. */
  stop(): Promise<void>;
}

/** How long a message that is being handed over when the gateway stops may take. */
const maxSettleMs = 5_000;

/** Leaves nothing open where it throws: it can be tried again. */
export function startGateway(options: GatewayOptions): Promise<Gateway> {
  return Closers.open((closers) => openGateway(options, closers));
}

async function openGateway(options: GatewayOptions, closers: Closers): Promise<Gateway> {
  const { getSettings = () => options.settings.get().gateway } = options;
  const binding = new Binding(getSettings());
  const stopping = new AbortController();
  const parts = await openParts(options, { getSettings, binding, stopping: stopping.signal, closers });
  const {
    channels,
    cluster,
    clock,
    connections,
    devices,
    inbox,
    lanes,
    pairing,
    runs,
    schedules,
    sessions,
    sessionWatch,
  } = parts;
  const server = await listen(options, binding, parts);
  void cluster?.start(createClusterGateway(parts));
  void inbox.start();
  channels.start().catch((error: unknown) => parts.log(`The channels could not be opened: ${getErrorMessage(error)}`));
  parts
    .resumeAnswered()
    .catch((error: unknown) => parts.log(`Answered questions could not be read: ${getErrorMessage(error)}`));
  void schedules.start();
  const stopWatching = devices.watch();
  devices.onRemoved((id) => {
    for (const client of connections.list(id)) client.close(1008, "the device was revoked");
  });
  /** Begins no more runs: what waits stays on the disk for the next start. */
  const beginNothing = () => {
    stopping.abort();
    schedules.stop();
    inbox.stop();
    lanes.close();
  };
  return {
    url: server.url,
    get fingerprint() {
      return binding.fingerprint;
    },
    parts,
    async drain(drainOptions = {}) {
      server.stopAccepting();
      beginNothing();
      const frame = encodeFrame({ type: "event", event: "gateway.stopping", payload: {} });
      for (const client of connections.list()) client.send(frame);
      return await waitForRuns({ sessions, clock }, drainOptions);
    },
    async stop() {
      beginNothing();
      cluster?.leave();
      runs.stop();
      await channels.stop();
      // Runs end before their clients are closed, so that these see how.
      await sessions.dispose("gateway_disconnected");
      for (const client of connections.list()) client.close(1001, "the gateway stops");
      await server.close();
      stopWatching();
      sessionWatch.close();
      pairing.close();
      // An extension that hangs must not hold up the end.
      await untilTimeout(Promise.all([inbox.settled(), schedules.settled()]), maxSettleMs, clock);
      await closers.close();
    },
  };
}

/** Gives a cluster what it uses of this gateway. */
const createClusterGateway = (parts: GatewayParts): ClusterGateway => ({
  sessions: parts.sessions,
  subscriptions: parts.subscriptions,
  nodeCalls: createNodeCalls(parts),
  callMethod: (context, { method, params }) =>
    callMethod({ ...context, parts }, { type: "req", id: context.requestId, method, params }),
});

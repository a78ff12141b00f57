/** A gateway: everything that it consists of, put together, and its life from start to stop. */
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { Closers, getErrorMessage, untilTimeout } from "@tau/ai/internal";
import { formatFileProblem, type SettingsManager } from "@tau/config/settings";
import { getGatewayFiles } from "@tau/protocol/node";
import { openDevices } from "./auth/devices.ts";
import { Guesses } from "./auth/guesses.ts";
import { Pairing } from "./auth/pairing.ts";
import { Subscriptions } from "./bridge/subscriptions.ts";
import { encodeFrame } from "./encoded-frame.ts";
import { openDurableParts } from "./durable-parts.ts";
import { SessionKeyFile } from "./http/session-keys.ts";
import { type DrainOptions, waitForRuns } from "./life/drain.ts";
import { createAdmitRun } from "./lanes/hold-place.ts";
import { LogLines } from "./log-lines.ts";
import type { Cluster, ClusterOptions } from "./cluster/cluster.ts";
import type { ClusterTiming } from "./cluster/membership.ts";
import type { GatewayParts, GatewaySettings } from "./parts.ts";
import { Connections } from "./server/connections.ts";
import { reportGivenUp } from "./inbox/report-given-up.ts";
import { WaitingSessions } from "./lanes/waiting-sessions.ts";
import { listen, type ListeningServer, type ListenOptions } from "./server/server.ts";
import { listModels } from "./sessions/list-models.ts";
import { type GatewaySessionParams, type OpenDirectory, OpenSessions } from "./sessions/open-sessions.ts";
import { reloadSettings } from "./sessions/reload.ts";
import { SessionIndex } from "./sessions/session-index.ts";
import { SessionWatch } from "./sessions/session-watch.ts";

export interface GatewayOptions extends ListenOptions {
  /** The directory with the user's settings, credentials, models and sessions. */
  agentDir: string;
  openDirectory: OpenDirectory;
  /** The directory that the gateway was started in. */
  startDirectory: string;
  /** The user's settings. */
  settings: SettingsManager;
  /** Default: those of `settings`. */
  getSettings?: () => GatewaySettings;
  /** Called when the gateway shows another certificate than before. */
  onCertificate?: () => Promise<void>;
  /** Of the program. */
  version: string;
  log: (line: string) => void;
  /** Other gateways that this one shares its sessions with; see `parseClusterUrl`. Default: it is alone. */
  cluster?: { url: string; timing?: ClusterTiming };
  clock?: Clock;
  ids?: Ids;
}

export interface Gateway {
  /** Such as `ws://127.0.0.1:7433`. */
  readonly url: string;
  /** Of its certificate; undefined without TLS. */
  readonly fingerprint: string | undefined;
  readonly parts: GatewayParts;
  /** Takes nobody and nothing new, tells clients, and waits for the runs. Returns how many still run. */
  drain(options?: DrainOptions): Promise<number>;
  /** At once: what still runs is ended. */
  stop(): Promise<void>;
}

type ClusterParts = Pick<ClusterOptions, "clock" | "ids" | "log" | "getParts">;

/** What a cluster needs is loaded only where there is one. */
async function joinCluster({ cluster, agentDir }: GatewayOptions, own: ClusterParts): Promise<Cluster | undefined> {
  if (!cluster) return undefined;
  const { Cluster: Nodes } = await import("./cluster/cluster.ts");
  return await Nodes.open({ ...cluster, ...own, agentDir });
}

/** How long a message that is being handed over when the gateway stops may take. */
const maxSettleMs = 5_000;

type SessionsParts = Pick<
  GatewayParts,
  | "inbox"
  | "sessionIndex"
  | "waitingSessions"
  | "subscriptions"
  | "sessionWatch"
  | "cluster"
  | "clock"
  | "ids"
  | "log"
  | "reload"
> &
  Pick<GatewaySessionParams, "admitRun">;

function createSessions(
  { agentDir, openDirectory, startDirectory, settings }: GatewayOptions,
  { inbox, sessionIndex, sessionWatch, waitingSessions, cluster, reload, ...parts }: SessionsParts,
): OpenSessions {
  return new OpenSessions({
    ...parts,
    agentDir,
    openDirectory,
    startDirectory,
    settings,
    index: sessionIndex,
    getPosition: (sessionId) => waitingSessions.getPosition(sessionId),
    ...(cluster && { storage: cluster.storage, beforeOpen: (sessionId) => cluster.inbox.load(sessionId) }),
    reloadGateway: async () => (await reload()).changed,
    afterCrash: {
      ...inbox.afterCrash,
      // In a cluster another node may have dealt with it meanwhile, so leases decide.
      wasCut: (sessionId) => (cluster ? cluster.wasAbandoned(sessionId) : inbox.afterCrash.wasCut(sessionId)),
    },
    onOpened: (hosted) => {
      inbox.onOpened(hosted);
      sessionWatch.onOpened(hosted);
      cluster?.catalogue.watch(hosted);
    },
    onClosed: (sessionId) => {
      sessionWatch.markChanged(sessionId);
      cluster?.catalogue.close(sessionId);
      void cluster?.inbox.unload(sessionId);
    },
  });
}

/** See `GatewayParts.reload`. */
async function reloadAll(
  { settings, onCertificate }: GatewayOptions,
  { sessions, lanes }: GatewayParts,
  server: ListeningServer,
): ReturnType<GatewayParts["reload"]> {
  const changed = await reloadSettings(settings, sessions);
  lanes.grant();
  const problems = settings.problems.map(formatFileProblem);
  const needsRestart = server.listStaleSettings();
  try {
    if (!server.reloadCertificate()) return { changed, problems, needsRestart };
    await onCertificate?.();
    return { changed: [...changed, "gateway.tls"], problems, needsRestart };
  } catch (error) {
    return { changed, problems: [...problems, getErrorMessage(error)], needsRestart };
  }
}

/** Leaves nothing open where it throws: it can be tried again. */
export function startGateway(options: GatewayOptions): Promise<Gateway> {
  return Closers.open((closers) => openGateway(options, closers));
}

async function openGateway(options: GatewayOptions, closers: Closers): Promise<Gateway> {
  const { agentDir, settings, version } = options;
  const { clock = systemClock, ids = systemIds, getSettings = () => settings.get().gateway } = options;
  const logs = new LogLines(options.log);
  const log = logs.add;
  const cluster = await joinCluster(options, { clock, ids, log, getParts: () => parts });
  if (cluster) closers.add(() => cluster.close());
  const waitingSessions = new WaitingSessions({
    clock,
    getLanes: () => parts.lanes,
    listFollowers: (sessionId) => parts.subscriptions.listClients(sessionId),
    onChanged: (sessionId) => parts.sessionWatch.markChanged(sessionId),
  });
  closers.add(async () => waitingSessions.close());
  const durable = await openDurableParts({
    agentDir,
    clock,
    ids,
    getSettings,
    log,
    getSessions: () => parts.sessions,
    onLanesChanged: () => waitingSessions.onChange(),
    onGivenUp: (message) => reportGivenUp(parts, message),
    ...(cluster && {
      inboxStore: cluster.inbox,
      requestKeys: cluster.keys,
      leaveToOthers: (sessionId: string) => void cluster.leaveMessages(sessionId),
    }),
  });
  closers.add(() => durable.close());
  const { inbox } = durable;
  const subscriptions = new Subscriptions(clock);
  const sessionIndex = new SessionIndex({ agentDir, getSessionDir: () => settings.get().sessionDir });
  const sessionWatch = new SessionWatch({ clock, describe: (id) => parts.sessions.find(id)?.describe() });
  const reload = () => reloadAll(options, parts, server);
  const devices = await openDevices({ agentDir, clock, ids, log });
  const guesses = new Guesses(clock, log);
  let isStopping = false;
  const parts: GatewayParts = {
    ...durable.parts,
    waitingSessions,
    version,
    agentDir,
    clock,
    ids,
    startedAt: clock.now(),
    isStopping: () => isStopping,
    getSettings,
    devices,
    guesses,
    pairing: new Pairing({ devices, guesses, clock, ids, log }),
    connections: new Connections(),
    settings,
    sessions: createSessions(options, {
      inbox,
      sessionIndex,
      waitingSessions,
      subscriptions,
      sessionWatch,
      cluster,
      clock,
      ids,
      log,
      reload,
      admitRun: createAdmitRun(() => parts),
    }),
    sessionIndex,
    sessionKeys:
      cluster?.sessionKeys ??
      new SessionKeyFile({
        directory: getGatewayFiles(agentDir).directory,
        ids,
        hasSession: async (sessionId) => (await sessionIndex.find(sessionId)) !== undefined,
      }),
    subscriptions,
    sessionWatch,
    cluster,
    listModels: () => listModels(agentDir, settings),
    reload,
    logs,
    log,
  };
  const server = await listen(options, parts);
  void cluster?.start();
  void inbox.start();
  const stopWatching = devices.watch();
  devices.onRemoved((id) => {
    for (const client of parts.connections.list(id)) client.close(1008, "the device was revoked");
  });
  return {
    url: server.url,
    get fingerprint() {
      return server.fingerprint;
    },
    parts,
    async drain(drainOptions = {}) {
      isStopping = true;
      server.stopAccepting();
      // What waits begins no more runs, and stays on the disk for the next start.
      inbox.stop();
      parts.lanes.close();
      const frame = encodeFrame({ type: "event", event: "gateway.stopping", payload: {} });
      for (const client of parts.connections.list()) client.send(frame);
      return await waitForRuns(parts, drainOptions);
    },
    async stop() {
      isStopping = true;
      inbox.stop();
      parts.lanes.close();
      cluster?.leave();
      parts.runs.stop();
      // Runs end before their clients go, who are told how.
      await parts.sessions.dispose("gateway_disconnected");
      for (const client of parts.connections.list()) client.close(1001, "the gateway stops");
      await server.close();
      stopWatching();
      sessionWatch.close();
      parts.pairing.close();
      // An extension that hangs must not hold up the end.
      await untilTimeout(inbox.settled(), maxSettleMs, clock);
      await closers.close();
    },
  };
}

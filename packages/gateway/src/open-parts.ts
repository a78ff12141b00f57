/** Builds the parts of a gateway, each from those before it. */
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { type Closers, getErrorMessage } from "@tau/ai/internal";
import type { SettingsManager } from "@tau/config/settings";
import type { ExtensionsParams } from "@tau/extensions";
import { createAnswerFile, createStoredAnswers } from "@tau/policy";
import { getGatewayFiles } from "@tau/protocol/node";
import type { Storage } from "@tau/harness/session";
import { createRecordFiles } from "@tau/tools/storage";
import { GatewayError } from "./errors.ts";
import { openDevices } from "./auth/devices.ts";
import { Guesses } from "./auth/guesses.ts";
import { Pairing } from "./auth/pairing.ts";
import { Subscriptions } from "./bridge/subscriptions.ts";
import type { ChannelTypes } from "./channels/channel-types.ts";
import { createStoredCopies } from "./channels/file-copies.ts";
import { openChannelParts } from "./channels/open-channel-parts.ts";
import { commandCallName } from "./channels/run-chat-command.ts";
import { acceptAnywhere } from "./http/accept-anywhere.ts";
import { McpClients } from "./http/mcp-clients.ts";
import { KeptSessionKeys } from "./http/session-keys.ts";
import { createStoredTexts, createTextFiles } from "./kept-text.ts";
import { createAfterCrash } from "./inbox/after-crash.ts";
import { Inbox } from "./inbox/inbox.ts";
import { noticeGivenUp, sendGivenUp } from "./inbox/report-given-up.ts";
import { createAdmitRun } from "./lanes/hold-place.ts";
import { Lanes } from "./lanes/lanes.ts";
import { WaitingSessions } from "./lanes/waiting-sessions.ts";
import { LogLines } from "./log-lines.ts";
import { createOwnClient } from "./own-client.ts";
import type { GatewayParts } from "./parts.ts";
import type { ClusterPort, JoinCluster } from "./port/cluster.ts";
import { reloadGateway } from "./reload.ts";
import { openScheduleParts } from "./schedules/index.ts";
import type { Binding } from "./server/binding.ts";
import { Connections } from "./server/connections.ts";
import { listModels } from "./sessions/list-models.ts";
import { type OpenDirectory, OpenSessions } from "./sessions/open-sessions.ts";
import { openAnswered, resumeOpened } from "./sessions/resume-answered.ts";
import { SessionIndex } from "./sessions/session-index.ts";
import { StoredList } from "./sessions/stored-list.ts";
import { SessionWatch } from "./sessions/session-watch.ts";
import type { GatewaySettings } from "./settings.ts";
import { Shares } from "./shares/shares.ts";
import { openStores } from "./stores.ts";

export interface PartsOptions {
  /** The directory with the user's settings, credentials, models and sessions. */
  agentDir: string;
  openDirectory: OpenDirectory;
  /** The directory that the gateway was started in. */
  startDirectory: string;
  /**
   * Where sessions, accepted messages, replies, schedules and keys of requests are kept. Two gateways never share one; see `joinCluster`.
   * Default: files in `agentDir`.
   */
  storage?: Storage;
  /** The user's settings. */
  settings: SettingsManager;
  /** Called when the gateway shows another certificate than before. */
  onCertificate?: () => Promise<void>;
  /** The program's version. */
  version: string;
  log: (line: string) => void;
  /** Makes the gateway share its sessions with others; `joinCluster` of `@tau/cluster`, for example. Default: it is alone. */
  joinCluster?: JoinCluster;
  /** More types of channels, by the name that the settings call them. They replace those of tau with the same name. */
  channelTypes?: ChannelTypes;
  /** Extensions that may bring more types of channels. Default: none. Those of sessions are the concern of `openDirectory`. */
  extensions?: ExtensionsParams;
  clock?: Clock;
  ids?: Ids;
}

interface PartsContext {
  getSettings: () => GatewaySettings;
  binding: Binding;
  /** Aborted when nothing new may begin. */
  stopping: AbortSignal;
  /** Gets what has to be closed, also where this throws. */
  closers: Closers;
}

/** Throws `unavailable` if the cluster cannot be joined, or another gateway uses the same directory. */
export async function openParts(
  options: PartsOptions,
  { getSettings, binding, stopping, closers }: PartsContext,
): Promise<GatewayParts> {
  const { agentDir, settings, version, clock = systemClock, ids = systemIds } = options;
  const logs = new LogLines(options.log);
  const log = logs.add;
  const startedAt = clock.now();

  if (options.storage && options.joinCluster)
    throw new GatewayError(
      "invalid_parameters",
      "A cluster has its own storage: pass storage or joinCluster, not both.",
    );
  const cluster = await options.joinCluster?.({ agentDir, clock, ids, log });
  if (cluster) closers.add(() => cluster.close());
  const stores = await openStores({
    storage: options.storage ?? createRecordFiles({ agentDir, clock, ids }),
    clock,
    ids,
    log,
    inboxStore: cluster?.inbox,
    requestKeys: cluster?.requestKeys,
    scheduleStore: cluster?.schedules,
    channels: cluster?.channels,
  });
  closers.add(() => stores.close());
  const { inboxStore: store, runs } = stores;

  const { storage } = options;
  const openText = storage
    ? createStoredTexts(storage, clock)
    : createTextFiles(getGatewayFiles(agentDir).directory, ids);
  const devices = await openDevices({ agentDir, clock, ids, log, ...(storage && { storage }) });
  const guesses = new Guesses(clock, log);
  const pairing = new Pairing({ devices, guesses, clock, ids, log });

  const subscriptions = new Subscriptions(clock);
  const lanes = new Lanes({ clock, getLimits: () => getSettings().lanes });
  const waitingSessions = new WaitingSessions({
    clock,
    lanes,
    listFollowers: (sessionId) => subscriptions.listClients(sessionId),
  });
  closers.add(() => waitingSessions.close());

  const sessionStorage = cluster?.storage ?? storage;
  const channelParts = openChannelParts({
    agentDir,
    settings,
    types: options.channelTypes,
    extensions: options.extensions,
    store: stores.channels,
    openText,
    fileCopies: storage && createStoredCopies(storage),
    keepsPeersInStore: sessionStorage !== undefined,
    isShared: cluster !== undefined,
    getSettings,
    clock,
    ids,
    log,
  });

  const scheduleParts = openScheduleParts({
    agentDir,
    store: stores.schedules,
    channelStore: stores.channels,
    getSettings,
    isStopping: () => stopping.aborted,
    clock,
    ids,
    log,
  });

  const sessionIndex = sessionStorage
    ? new StoredList(sessionStorage, agentDir)
    : new SessionIndex({ agentDir, getSessionDir: () => settings.get().sessionDir });
  const reload = (open: OpenSessions) =>
    reloadGateway(
      {
        settings,
        getSettings,
        lanes,
        binding,
        applyChannels: channelParts.applySettings,
        onCertificate: options.onCertificate,
      },
      open,
    );
  const sessions = new OpenSessions({
    agentDir,
    openDirectory: options.openDirectory,
    startDirectory: options.startDirectory,
    settings,
    index: sessionIndex,
    subscriptions,
    clock,
    ids,
    log,
    getPosition: (sessionId) => waitingSessions.getPosition(sessionId),
    isAttended: channelParts.isAttended,
    getSessionParams: (sessionId, cwd) =>
      channelParts.getSessionParams(sessionId, cwd) ?? scheduleParts.getSessionParams(sessionId),
    addedFeatures: [scheduleParts.feature],
    ...(sessionStorage && { storage: sessionStorage }),
    ...(cluster && { isShared: true, beforeOpen: (sessionId) => prepareSession(cluster, sessionId) }),
    reloadGateway: async (open) => (await reload(open)).changed,
    afterCrash: createAfterCrash({
      store,
      clock,
      getSettings,
      // In a cluster another node may have dealt with it meanwhile, so leases decide.
      wasCut: (sessionId) => (cluster ? cluster.wasAbandoned(sessionId) : runs.wasCut(sessionId)),
      onGivenUp: (message) => {
        sendGivenUp(subscriptions, message);
        channels.onGivenUp(message);
      },
    }),
    admitRun: createAdmitRun({ lanes, runs, log }),
  });

  const inbox = new Inbox({
    store,
    lanes,
    runs,
    openSession: (sessionId, deviceId) => sessions.open(sessionId, deviceId),
    getSettings,
    clock,
    ids,
    startedAt,
    log,
    onGivenUp: (message) => {
      noticeGivenUp(sessions, message);
      sendGivenUp(subscriptions, message);
      channels.onGivenUp(message);
    },
    ...(cluster && { leaveToOthers: (sessionId) => void cluster.leaveMessages(sessionId) }),
  });
  sessions.watch({ onOpened: (hosted) => inbox.onOpened(hosted) });
  const ownContext = { client: createOwnClient("channels"), requestId: "channels" };
  const channels = channelParts.open({
    sessions,
    inbox,
    requestKeys: stores.requestKeys,
    accept: (draft) => acceptAnywhere({ parts: { inbox, cluster }, client: ownContext.client }, draft),
    wasAccepted: async (key) => (cluster ? await cluster.inbox.findRequest(key) : inbox.findRequest(key)) !== undefined,
    shared: cluster?.channels,
    runAtSession: async (command, here) =>
      cluster
        ? ((await cluster.callSession(
            ownContext,
            { method: commandCallName, sessionId: command.sessionId, params: { ...command } },
            here,
          )) as string)
        : await here(),
  });

  // After the channels, which follow what the session says.
  sessions.watch({ onOpened: (hosted) => void resumeOpened(hosted, log) });
  const answers = sessionStorage
    ? createStoredAnswers({ storage: sessionStorage, clock })
    : createAnswerFile({ directory: agentDir, clock });

  const schedules = scheduleParts.open({
    sessions,
    inbox,
    channels,
    findRequest: async (key) => (cluster ? await cluster.inbox.findRequest(key) : inbox.findRequest(key)),
  });

  const sessionWatch = new SessionWatch({ clock, describe: (sessionId) => sessions.find(sessionId)?.describe() });
  sessions.watch({
    onOpened: (hosted) => sessionWatch.onOpened(hosted),
    onClosed: (sessionId) => sessionWatch.markChanged(sessionId),
  });
  waitingSessions.onChange((sessionId) => sessionWatch.markChanged(sessionId));
  if (cluster) {
    sessions.watch({
      onOpened: (hosted) => cluster.catalogue.watch(hosted),
      onClosed: (sessionId) => {
        cluster.catalogue.close(sessionId);
        void cluster.inbox.unload(sessionId);
      },
    });
  }

  const shares = new Shares({ agentDir, clock, ids });
  await shares.removeExpired().catch((error: unknown) => log(`Old shares were not removed: ${getErrorMessage(error)}`));

  return {
    version,
    agentDir,
    clock,
    ids,
    startedAt,
    isStopping: () => stopping.aborted,
    getSettings,
    devices,
    pairing,
    guesses,
    connections: new Connections(),
    settings,
    sessions,
    sessionIndex,
    channels,
    schedules,
    sessionKeys:
      cluster?.sessionKeys ??
      new KeptSessionKeys({
        text: openText("session-keys"),
        hasSession: (sessionId) => sessionIndex.has(sessionId),
      }),
    shares,
    subscriptions,
    sessionWatch,
    cluster,
    resumeAnswered: () => openAnswered({ sessions, answers, isStopping: () => stopping.aborted, log }),
    listModels: () => listModels(agentDir, settings),
    reload: async () => {
      const reloaded = await reload(sessions);
      void schedules.wake();
      return reloaded;
    },
    logs,
    lanes,
    waitingSessions,
    runs,
    inbox,
    idempotencyKeys: stores.requestKeys,
    mcpClients: new McpClients(clock),
    log,
  };
}

/** Reads what other nodes have written about a session that is opened here: what waits for it, and whether it is bound to a channel. */
async function prepareSession({ inbox, channels }: ClusterPort, sessionId: string): Promise<void> {
  await Promise.all([inbox.load(sessionId), channels.refresh()]);
}

/** The connection of a node to the servers of its cluster, and the streams that must be there. */
import {
  DiscardPolicy,
  type JetStreamManager,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import type { Socket } from "node:net";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { GatewayError, maxAgeMs } from "@tau/gateway/port";
import { type ClusterAddress, toConnectionOptions } from "./address.ts";
import { Bus } from "./bus.ts";
import {
  bucketStream,
  channelStream,
  channelSubject,
  catalogueBucket,
  hookBucket,
  inboxStream,
  keyBucket,
  keySubject,
  leaseBucket,
  logStreams,
  logSubjects,
  nodeBucket,
  scheduleStream,
  scheduleSubject,
} from "./names.ts";
import { readVersions } from "./server-versions.ts";
import { refuseVersion } from "./version.ts";

/** A server that does not answer is left after at most three of these. */
const pingIntervalMs = 1_000;
/** How long leaving it may take. */
const leaveMs = 2_000;

/** Connects, refuses servers that are too old, and creates the streams that are missing. */
export async function connectCluster(
  address: ClusterAddress,
  { clock, log }: { clock: Clock; log: (line: string) => void },
): Promise<Bus> {
  const options = await toConnectionOptions(address);
  const servers = address.servers.join(", ");
  const nats = await connect({
    ...options,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    pingInterval: pingIntervalMs,
    maxPingOut: 2,
    timeout: 10_000,
    noAsyncTraces: true,
  }).catch((error: unknown) => {
    const text = `The NATS servers of the cluster (${servers}) cannot be used: ${getErrorMessage(error)}.`;
    throw new GatewayError("unavailable", text);
  });
  try {
    await checkVersions(nats, address.servers);
    const manager = await jetstreamManager(nats, { timeout: 5_000, checkAPI: false });
    const replicas = address.replicas ?? (nats.info?.cluster === undefined ? 1 : 3);
    const bus = new Bus(nats, manager, clock);
    const ensuring = listStreams(replicas).map((config) => ensureStream(bus, manager, config));
    await Promise.all(ensuring).catch((error: unknown) => {
      const text = `The cluster's streams cannot be opened at ${servers}: ${getErrorMessage(error)} JetStream has to be enabled there.`;
      throw new GatewayError("unavailable", text);
    });
    void watchServers(nats, { clock, log });
    return bus;
  } catch (error) {
    await nats.close();
    throw error;
  }
}

/** Any server may lead a stream, so that none may be too old. */
async function checkVersions({ info }: NatsConnection, servers: readonly string[]): Promise<void> {
  const others = await readVersions([...servers, ...(info?.connect_urls ?? [])]);
  for (const version of [info?.version ?? "of an unknown version", ...others]) {
    const refusal = refuseVersion(version);
    if (refusal !== undefined) throw new GatewayError("unavailable", refusal);
  }
}

/** A server that could not be reached before may be older. */
async function watchServers(
  nats: NatsConnection,
  { clock, log }: { clock: Clock; log: (line: string) => void },
): Promise<void> {
  let cancelCut = () => {};
  for await (const status of nats.status()) {
    cancelCut();
    if (status.type === "staleConnection") cancelCut = clock.setTimer(leaveMs, () => cutSocket(nats));
    if (status.type === "disconnect") log("The connection to the cluster was lost; connecting again.");
    if (status.type !== "reconnect") continue;
    log(`Connected to the cluster again, at ${nats.getServer()}.`);
    const refusal = refuseVersion(nats.info?.version ?? "of an unknown version");
    if (refusal === undefined) continue;
    log(`${refusal} This node leaves the cluster.`);
    await nats.close();
  }
}

/**
 * Ends a connection whose server does not answer. nats.js first waits until all that was written has been sent, which takes
 * the system a quarter of an hour where nobody reads it; it has no method that does not wait.
 */
function cutSocket(nats: NatsConnection): void {
  const { protocol } = nats as unknown as { protocol: { transport: { socket?: Socket } } };
  protocol.transport.socket?.destroy();
}

function listStreams(replicas: number): StreamConfig[] {
  const common: Partial<StreamConfig> = {
    num_replicas: replicas,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // A full stream refuses what is new; nothing that was acknowledged is dropped.
    discard: DiscardPolicy.New,
    allow_direct: true,
    deny_delete: true,
  };
  const logs = logStreams.map((name) => ({ ...common, name, subjects: [logSubjects(name)] }));
  // A snapshot of a session's messages takes the place of their records.
  const inbox = { ...common, name: inboxStream, subjects: ["tau.inbox.*"], allow_rollup_hdrs: true };
  const schedules = { ...common, name: scheduleStream, subjects: [scheduleSubject], allow_rollup_hdrs: true };
  const channels = { ...common, name: channelStream, subjects: [channelSubject], allow_rollup_hdrs: true };
  // As `nats kv` would create them, so that they can be looked at with it.
  const createBucket = (bucket: string) => ({
    ...common,
    name: bucketStream(bucket),
    subjects: [keySubject(bucket, ">")],
    max_msgs_per_subject: 1,
    allow_rollup_hdrs: true,
  });
  const buckets = [leaseBucket, nodeBucket, catalogueBucket, hookBucket].map(createBucket);
  // A day is counted in nanoseconds.
  const keys = { ...createBucket(keyBucket), max_age: maxAgeMs * 1_000_000 };
  return [...logs, inbox, channels, schedules, ...buckets, keys] as StreamConfig[];
}

/** Servers that have just been started do not know each other yet. */
async function ensureStream(bus: Bus, manager: JetStreamManager, config: StreamConfig): Promise<void> {
  await bus.retry(async () => {
    try {
      await manager.streams.info(config.name);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamNotFound) throw error;
      // Another node may create it at the same time; with the same configuration both succeed.
      await manager.streams.add(config);
    }
  });
}

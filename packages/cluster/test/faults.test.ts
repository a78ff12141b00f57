/**
 * Three servers with replicated streams, and three nodes that write the same sessions while servers are killed, stopped,
 * wiped and cut off. `TAU_LONG=1` runs 200 rounds; a short run has each fault twice, and the longest of them once.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { systemClock, systemIds } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { describe, expect, onTestFinished, test } from "vitest";
import { noCache } from "../src/index-cache.ts";
import { NatsLogStore } from "../src/log-store.ts";
import { headerNames, parseLogId, placeLog } from "../src/names.ts";
import { type ClusterNode, openNode } from "../src/open-node.ts";
import { type AckedEntry, checkHistory, type HistoryMessage } from "./history.ts";
import { hasNats, type NatsServer, type NatsServers, startNats, waitUntil } from "./nats-servers.ts";
import { openProxy, type TcpProxy } from "./tcp-proxy.ts";

const isLong = process.env["TAU_LONG"] === "1";
const maxMs = isLong ? 60 * 60_000 : 5 * 60_000;
/** Nothing that a node does for one request takes longer, whatever happens to the servers. */
const maxWaitMs = 60_000;
const sessions = ["alpha", "beta", "gamma", "delta"];
const timing = { beatMs: 200, deadAfterMs: 1_000, holdMs: 3_000 };

const pause = (afterMs: number) => new Promise((resolve) => setTimeout(resolve, afterMs));

/** A node with a cable of its own to each server. */
interface Writer {
  node: ClusterNode;
  cables: TcpProxy[];
  close(): Promise<void>;
}

async function openWriter(name: string, { servers }: NatsServers, agentDir: string): Promise<Writer> {
  const cables = await Promise.all(servers.map(({ port }) => openProxy(port)));
  const hosts = cables.map(({ port }) => `127.0.0.1:${port}`).join(",");
  const node = await openNode({ url: `nats://${hosts}?name=${name}`, agentDir, log: () => undefined, timing });
  return {
    node,
    cables,
    async close() {
      await node.close();
      await Promise.all(cables.map((cable) => cable.close()));
    },
  };
}

/** Writes to whichever session it gets, and moves on after a while. Returns when `isOver`. */
async function write({ node }: Writer, acked: Map<string, AckedEntry[]>, isOver: () => boolean): Promise<void> {
  let count = 0;
  while (!isOver()) {
    const sessionId = sessions[Math.floor(Math.random() * sessions.length)]!;
    const store = new NatsLogStore({ ...node, sessionId, cache: noCache, ids: systemIds });
    try {
      if ((await store.acquire()).kind === "busy") continue;
      let position = (await store.stat())?.size ?? 0;
      for (let entries = 20 + 80 * Math.random(); entries > 0 && !isOver(); entries--) {
        const nodeId = node.membership.nodeId;
        const text = `${node.name}-${++count}`;
        const outcome = await store.append(Buffer.from(`${text}\n`), { position, sync: true });
        if (outcome.kind !== "appended") break;
        position = outcome.position;
        acked.get(sessionId)!.push({ text, node: nodeId });
      }
    } catch (error) {
      // The cluster is not there now, or this node was declared dead.
      if ((error as { code?: unknown }).code === undefined && !(error instanceof Error)) throw error;
    } finally {
      await store.close();
      await pause(20);
    }
  }
}

describe.skipIf(!hasNats)("a cluster of three servers", () => {
  test(
    "loses no acknowledged entry and has no two owners of an epoch, whatever happens to its servers",
    { timeout: maxMs },
    async () => {
      const nats = await startNats({ count: 3 });
      onTestFinished(nats.close);
      const agentDir = await mkdtemp(join(tmpdir(), "tau-cluster-"));
      onTestFinished(() => rm(agentDir, { recursive: true, force: true, maxRetries: 10 }));
      const writers = await Promise.all(["one", "two", "three"].map((name) => openWriter(name, nats, agentDir)));
      const acked = new Map(sessions.map((id) => [id, [] as AckedEntry[]]));
      let isOver = false;
      const writing = Promise.all(writers.map((writer) => write(writer, acked, () => isOver)));
      const countAcked = () => [...acked.values()].flat().length;
      /** Elections take the servers seconds, so the short form waits for them only now and then. */
      const waitForProgress = async () => {
        const before = countAcked();
        await waitUntil(() => countAcked() >= before + 30);
      };
      await waitForProgress();
      const rounds = isLong ? 200 : order.length;
      for (let round = 0; round < rounds; round++) {
        const server = nats.servers[Math.floor(3 * Math.random())]!;
        const name = order[round % order.length]!;
        await faults[name](server, { nats, writer: writers[round % 3]! });
        if (isLong || name === "wipe") await waitForProgress();
      }
      isOver = true;
      await expect(untilTimeout(writing, maxWaitMs, systemClock)).resolves.toMatchObject({ kind: "done" });
      await waitUntilWhole(nats);
      await Promise.all(writers.map((writer) => writer.close()));
      const checker = await openNode({ url: nats.servers[1]!.url, agentDir, log: () => undefined });
      onTestFinished(() => checker.close());
      const checked = sessions.map(async (sessionId) =>
        checkHistory({ ...(await readHistory(checker, sessionId)), acked: acked.get(sessionId)! }),
      );
      const outcome = await untilTimeout(Promise.all(checked), maxWaitMs, systemClock);
      expect(outcome).toEqual({ kind: "done", value: sessions.map(() => []) });
    },
  );
});

interface Scene {
  nats: NatsServers;
  writer: Writer;
}

const faults = {
  async kill(server: NatsServer) {
    await server.kill();
    await pause(200);
    await server.start();
  },
  async stop(server: NatsServer) {
    server.pause();
    await pause(400);
    server.resume();
  },
  async cut(server: NatsServer) {
    server.isolate();
    await pause(400);
    server.rejoin();
  },
  /** Long enough for the others to declare it dead. */
  async cutNode(_server: NatsServer, { writer }: Scene) {
    for (const cable of writer.cables) cable.cut();
    await pause(1_300);
    for (const cable of writer.cables) cable.heal();
  },
  async wipe(server: NatsServer, { nats }: Scene) {
    // Two of three may not be without the same entry at once.
    await waitUntilWhole(nats);
    await server.kill();
    await server.wipe();
    await server.start();
    await waitUntilWhole(nats);
  },
};

/** Mostly what is over soon. */
const half = ["kill", "stop", "cut", "cutNode", "kill", "stop", "cut", "cutNode", "stop"] as const;
const order = isLong
  ? ([...half, "kill", ...half, "wipe"] as const)
  : (["kill", "stop", "cut", "cutNode", "cut", "stop", "kill", "wipe", "cutNode"] as const);

/** Every stream has a leader, and every replica has everything. */
async function waitUntilWhole({ servers }: NatsServers): Promise<void> {
  const nats = await connect({ servers: servers.map(({ url }) => url), waitOnFirstConnect: true });
  try {
    const manager = await jetstreamManager(nats, { timeout: 1_000, checkAPI: false });
    await waitUntil(async () => {
      try {
        const streams = await manager.streams.list().next();
        return streams.every(
          ({ cluster }) =>
            cluster?.leader &&
            cluster.replicas?.length === 2 &&
            cluster.replicas.every(({ current, offline }) => current && !offline),
        );
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        return false;
      }
    });
  } finally {
    await nats.close();
  }
}

async function readHistory({ bus, leases }: ClusterNode, sessionId: string) {
  const { stream, subject } = placeLog(sessionId);
  const last = await bus.retry(() => bus.readLast(stream, subject));
  // Nobody may have come to write to it.
  if (!last) return { messages: [], lines: [] };
  const messages: HistoryMessage[] = [];
  for await (const { seq, headers } of bus.readRange(stream, subject, { from: 1, to: last.seq })) {
    messages.push({ seq, epoch: parseLogId(headers!.get(headerNames.id)).epoch, node: headers!.get(headerNames.node) });
  }
  const store = new NatsLogStore({ bus, leases, sessionId, cache: noCache, ids: systemIds });
  const text = (await store.read(0, (await store.stat())!.size)).toString();
  await store.close();
  return { messages, lines: text.trimEnd().split("\n") };
}

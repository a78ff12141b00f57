import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import type { MsgHdrs } from "@nats-io/transport-node";
import { systemClock, systemIds } from "@tau/ai";
import { SessionManager } from "@tau/harness";
import { getLogId, type LogKey } from "@tau/harness/session";
import { storageContract } from "@tau/harness/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Bus, type FencedMessage, type FencedOutcome } from "../src/bus.ts";
import { createIndexCache, noCache } from "../src/index-cache.ts";
import { SessionLeases } from "../src/leases.ts";
import { NatsLogStore } from "../src/log-store.ts";
import { bucketStream, headerNames, keySubject, leaseBucket, logStreams, parseLogId, placeLog } from "../src/names.ts";
import { type ClusterNode, openNode } from "../src/open-node.ts";
import { hasNats, type NatsServers, startNats } from "./nats-servers.ts";
import { openProxy } from "./tcp-proxy.ts";

const leaseStream = bucketStream(leaseBucket);

describe.skipIf(!hasNats)("the log of a session in a cluster", () => {
  let nats: NatsServers;
  let node: ClusterNode;
  let agentDir: string;

  const openStore = (sessionId: string) =>
    new NatsLogStore({
      ...node,
      sessionId,
      ids: systemIds,
      cache: createIndexCache(join(agentDir, "cache"), systemIds),
    });
  let openPlace = "";

  /** A place is the streams without what was in them before. */
  async function open(place: string) {
    const manager = await jetstreamManager(node.bus.nats);
    if (place !== openPlace) for (const stream of [...logStreams, leaseStream]) await manager.streams.purge(stream);
    openPlace = place;
    return node.storage;
  }

  /** Gives the lease to a node that is not there. */
  async function abandon(_place: string, key: LogKey) {
    const subject = keySubject(leaseBucket, getLogId(key));
    const { seq: after } = (await node.bus.readLast(leaseStream, subject))!;
    const data = Buffer.from(JSON.stringify({ nodeId: "lost", holderId: "lost", pid: 1, host: "lost" }));
    await node.bus.publish({ stream: leaseStream, subject, data, after, id: systemIds(), giveUpAfterMs: 10_000 });
  }

  const openOther = (name: string) =>
    openNode({ url: `${nats.servers[0]!.url}?name=${name}`, agentDir, log: () => undefined });

  /** Reads the headers of each message of a log. */
  async function readHeaders(sessionId: string): Promise<MsgHdrs[]> {
    const { stream, subject } = placeLog(sessionId);
    const { seq: to } = (await node.bus.readLast(stream, subject))!;
    const all: MsgHdrs[] = [];
    for await (const { headers } of node.bus.readRange(stream, subject, { from: 1, to })) all.push(headers!);
    return all;
  }

  beforeAll(async () => {
    nats = await startNats();
    agentDir = await mkdtemp(join(tmpdir(), "tau-cluster-"));
    node = await openOther("first");
  });

  afterAll(async () => {
    await node?.close();
    await nats?.close();
    if (agentDir) await rm(agentDir, { recursive: true, force: true });
  });

  for (const { name, run } of storageContract("NATS", { open, abandon })) test(name, run);

  test("an append of several messages counts as a whole or not at all", async () => {
    const store = openStore("parts");
    const bytes = Buffer.alloc(3 * 1024 * 1024, "0123456789\n");
    expect(await store.append(Buffer.from("begun\n"), { position: 0, sync: true })).toMatchObject({ kind: "appended" });
    expect(await store.append(bytes, { position: 6, sync: true })).toMatchObject({ kind: "appended" });
    const other = openStore("parts");
    expect((await other.read(6, bytes.length)).equals(bytes)).toBe(true);
    expect((await other.read(600_000, 1_000_000)).equals(bytes.subarray(599_994, 1_599_994))).toBe(true);
    await Promise.all([store.close(), other.close()]);
  });

  test("messages that are lost on their way are asked for again, also the last ones", async () => {
    const cable = await openProxy(nats.servers[0]!.port);
    const far = await openNode({ url: `nats://127.0.0.1:${cable.port}?name=far`, agentDir, log: () => undefined });
    onTestFinished(async () => {
      await far.close();
      await cable.close();
    });
    const store = openStore("lost");
    const lines = Array.from({ length: 20 }, (_, index) => Buffer.from(`line ${10 + index}\n`));
    for (const [index, line] of lines.entries()) await store.append(line, { position: index * 8, sync: true });
    cable.loseNext("Nats-Msg-Size");
    const other = new NatsLogStore({ ...far, sessionId: "lost", ids: systemIds, cache: noCache });
    expect((await other.read(0, 160)).toString()).toBe(Buffer.concat(lines).toString());
    await Promise.all([store.close(), other.close()]);
  });

  test("a writer that another was faster than signs the first message that is stored", async () => {
    const older = openStore("signed");
    await older.append(Buffer.from("first\n"), { position: 0, sync: true });
    /** Lets the older writer be faster once. */
    class OvertakenBus extends Bus {
      #isFirst = true;
      override async publish(message: FencedMessage): Promise<FencedOutcome> {
        if (this.#isFirst) await older.append(Buffer.from("second\n"), { position: 6, sync: true });
        this.#isFirst = false;
        return await super.publish(message);
      }
    }
    const { nats: connection } = node.bus;
    const bus = new OvertakenBus(connection, await jetstreamManager(connection), systemClock);
    const newer = new NatsLogStore({ ...node, bus, sessionId: "signed", ids: systemIds, cache: noCache });
    await newer.acquire();
    expect(await older.append(Buffer.from("late\n"), { position: 13, sync: true })).toMatchObject({
      kind: "overtaken",
    });
    expect(await newer.append(Buffer.from("third\n"), { position: 13, sync: true })).toMatchObject({
      kind: "appended",
    });
    const signed = (await readHeaders("signed")).map((headers) => headers.has(headerNames.node));
    expect(signed).toEqual([true, false, true, false]);
    await Promise.all([older.close(), newer.close()]);
  });

  test("an append needs nothing but its own answer, also the first of a log", async () => {
    /** Nothing can be read. */
    class MuteBus extends Bus {
      override readSeq = () => Promise.reject(new Error("The servers do not answer."));
    }
    const { nats: connection } = node.bus;
    const bus = new MuteBus(connection, await jetstreamManager(connection), systemClock);
    const store = new NatsLogStore({ ...node, bus, sessionId: "mute", ids: systemIds, cache: noCache });
    expect(await store.append(Buffer.from("first\n"), { position: 0, sync: true })).toEqual({
      kind: "appended",
      position: 6,
    });
    await store.close();
  });

  test("a lease that the servers do not answer for is given up at once, and can be acquired later", async () => {
    let count = 0;
    /** Loses the answer to what is written. */
    class SilentBus extends Bus {
      override async publish(message: FencedMessage): Promise<FencedOutcome> {
        count++;
        await super.publish(message);
        return { kind: "unknown", reason: "no answer" };
      }
    }
    const { nats: connection } = node.bus;
    const bus = new SilentBus(connection, await jetstreamManager(connection), systemClock);
    const silent = new SessionLeases({ ...node, bus, ids: systemIds });
    await expect(silent.acquire("silent")).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("no answer"),
    });
    expect(count).toBe(1);
    expect(await node.leases.acquire("silent")).toMatchObject({ kind: "held" });
  });

  test("a session is written by one node, and read and continued by another after it was closed", async () => {
    const other = await openOther("second");
    const session = await SessionManager.create("/work", undefined, { storage: node.storage });
    for (let index = 0; index < 200; index++) {
      await session.appendMessage({ role: "user", content: `message ${index} ${"x".repeat(500)}`, timestamp: index });
    }
    const reader = await SessionManager.openStored(session.id, { storage: other.storage });
    expect(reader.readOnly).toMatchObject({ reason: "held" });
    expect(reader.getEntryCount()).toBe(200);
    await reader.close();
    await session.close();
    const next = await SessionManager.openStored(session.id, { storage: other.storage });
    expect(next.readOnly).toBeUndefined();
    await next.appendMessage({ role: "user", content: "one more", timestamp: 1 });
    const copy = await next.branchSession(next.id, next.getLeafId()!);
    expect(copy.getEntryCount()).toBe(201);
    await Promise.all([copy.close(), next.close()]);
    // With the index that the first one has left.
    const again = await SessionManager.openStored(session.id, { storage: node.storage });
    expect(again.getEntryCount()).toBe(201);
    expect(again.getCwd()).toBe("/work");
    await again.close();
    await expect(SessionManager.openStored("nobody", { storage: node.storage })).rejects.toMatchObject({
      code: "session_not_found",
    });
    await other.close();
  });

  test("epochs of a log grow also when the servers have lost all leases", async () => {
    const write = async (position: number) => {
      const store = openStore("epochs");
      await store.acquire();
      expect(await store.append(Buffer.from("line\n"), { position, sync: true })).toMatchObject({ kind: "appended" });
      const epoch = node.leases.getEpoch("epochs")!;
      await store.close();
      return epoch;
    };
    const before = [await write(0), await write(5)];
    const manager = await jetstreamManager(node.bus.nats);
    await manager.streams.delete(bucketStream(leaseBucket));
    // A node that starts creates the streams that are missing.
    await (await openOther("starting")).close();
    const epochs = [...before, await write(10), await write(15)];
    expect(epochs).toEqual([...new Set(epochs)].toSorted((a, b) => a - b));
    const stored = (await readHeaders("epochs")).map((headers) => parseLogId(headers.get(headerNames.id)).epoch);
    // Each writer but the first begins with an empty message.
    expect(stored).toEqual(epochs.flatMap((epoch, index) => (index === 0 ? [epoch] : [epoch, epoch])));
  });
});

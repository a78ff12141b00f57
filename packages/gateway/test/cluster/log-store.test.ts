import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { SessionManager } from "@tau/harness";
import { storeContract } from "@tau/harness/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIndexCache } from "../../src/cluster/index-cache.ts";
import { NatsLogStore } from "../../src/cluster/log-store.ts";
import { type ClusterNode, openNode } from "../../src/cluster/open-node.ts";
import { hasNats, type NatsServers, startNats } from "./nats-servers.ts";

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
  const openOther = (name: string) =>
    openNode({ url: `${nats.servers[0]!.url}?name=${name}`, agentDir, log: () => undefined });

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

  for (const { name, run } of storeContract("NATS", openStore)) test(name, run);

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
});

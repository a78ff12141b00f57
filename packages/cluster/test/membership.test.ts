/** A node among others that do not answer, or are gone. */
import { jetstreamManager } from "@nats-io/jetstream";
import { systemClock, systemIds } from "@tau/ai";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parseClusterUrl } from "../src/address.ts";
import { Bus } from "../src/bus.ts";
import { connectCluster } from "../src/connection.ts";
import { Membership } from "../src/membership.ts";
import { bucketStream, keySubject, nodeBucket } from "../src/names.ts";
import { hasNats, type NatsServers, startNats } from "./nats-servers.ts";

const ghost = "ghost.1";

/** The key of one node cannot be read. */
class HalfDeafBus extends Bus {
  hasAsked = false;

  override async readLast(stream: string, subject: string) {
    if (!subject.endsWith(ghost)) return await super.readLast(stream, subject);
    this.hasAsked = true;
    return await new Promise<never>(() => {});
  }
}

describe.skipIf(!hasNats)("a node", () => {
  let servers: NatsServers;

  beforeAll(async () => {
    servers = await startNats();
  });

  afterAll(async () => {
    await servers?.close();
  });

  async function join(name: string, timing: { beatMs: number; deadAfterMs: number; holdMs: number }) {
    const address = parseClusterUrl(servers.servers[0]!.url);
    const { nats } = await connectCluster(address, { clock: systemClock, log: () => undefined });
    onTestFinished(() => nats.close());
    const bus = new HalfDeafBus(nats, await jetstreamManager(nats), systemClock);
    const common = { clock: systemClock, ids: systemIds, log: () => undefined };
    return { bus, membership: await Membership.open({ bus, name, timing, ...common }) };
  }

  test("goes on beating while it looks at another that does not", async () => {
    const { bus, membership } = await join("one", { beatMs: 20, deadAfterMs: 100, holdMs: 60_000 });
    bus.nats.publish("tau.beat.ghost", JSON.stringify({ nodeId: ghost, revision: 1 }));
    await expect.poll(() => bus.hasAsked).toBe(true);
    const subject = keySubject(nodeBucket, membership.nodeId);
    const readRevision = async () => (await bus.readLast(bucketStream(nodeBucket), subject))!.seq;
    const revision = await readRevision();
    await expect.poll(readRevision).toBeGreaterThan(revision + 3);
    await membership.close();
  });

  test("stops without waiting for its next beat", async () => {
    const { bus, membership } = await join("two", { beatMs: 3_600_000, deadAfterMs: 7_200_000, holdMs: 7_200_000 });
    await membership.close();
    const subject = keySubject(nodeBucket, membership.nodeId);
    const { data } = (await bus.readLast(bucketStream(nodeBucket), subject))!;
    expect(JSON.parse(new TextDecoder().decode(data))).toMatchObject({ isDead: true });
  });
});

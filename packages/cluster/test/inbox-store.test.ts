/** The inbox of a cluster when the servers do not say what became of a record. */
import { jetstreamManager } from "@nats-io/jetstream";
import { systemClock, systemIds } from "@tau/ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bus, type FencedMessage, type FencedOutcome } from "../src/bus.ts";
import { connectCluster } from "../src/connection.ts";
import { parseClusterUrl } from "../src/address.ts";
import { ClusterInbox } from "../src/inbox-store.ts";
import type { StoredMessage } from "@tau/gateway/port";
import { hasNats, type NatsServers, startNats } from "./nats-servers.ts";

/** A connection that loses the request, or the answer to it. */
class FaultyBus extends Bus {
  loses: "nothing" | "request" | "answer" = "nothing";
  reads = 0;
  /** Between looking where the messages end and reading them. */
  beforeRead: () => Promise<void> = async () => undefined;

  override async *readRange(...range: Parameters<Bus["readRange"]>) {
    await this.beforeRead();
    yield* super.readRange(...range);
  }

  override async readLast(...place: Parameters<Bus["readLast"]>) {
    this.reads++;
    return await super.readLast(...place);
  }

  override async publish(message: FencedMessage): Promise<FencedOutcome> {
    if (this.loses === "nothing") return await super.publish(message);
    if (this.loses === "answer") await super.publish(message);
    return { kind: "unknown", reason: "no answer" };
  }
}

describe.skipIf(!hasNats)("the inbox of a cluster", () => {
  let servers: NatsServers;
  let bus: FaultyBus;

  beforeAll(async () => {
    servers = await startNats();
    const { nats } = await connectCluster(parseClusterUrl(servers.servers[0]!.url), {
      clock: systemClock,
      log: () => undefined,
    });
    bus = new FaultyBus(nats, await jetstreamManager(nats), systemClock);
  });

  afterAll(async () => {
    await bus?.nats.close();
    await servers?.close();
  });

  const unknown = { code: "unknown_outcome" };
  const create =
    (sessionId: string) =>
    (id: string): StoredMessage => ({
      id,
      sessionId,
      text: id,
      mode: "steer",
      origin: { kind: "client" },
      acceptedAt: 0,
      state: "waiting",
    });
  const list = (inbox: ClusterInbox, sessionId: string) => [...inbox.messages.ofSession(sessionId)].map(({ id }) => id);
  const readAgain = async (sessionId: string) => {
    const inbox = new ClusterInbox({ bus, ids: systemIds, clock: systemClock });
    await inbox.load(sessionId);
    return list(inbox, sessionId);
  };

  test("a message whose fate is unknown is not called refused, and is there after the next one if it was stored", async () => {
    const [inbox, message] = [new ClusterInbox({ bus, ids: systemIds, clock: systemClock }), create("accepted")];
    await inbox.accept(message("a"));
    bus.loses = "answer";
    await expect(inbox.accept(message("b"))).rejects.toMatchObject(unknown);
    bus.loses = "request";
    await expect(inbox.accept(message("c"))).rejects.toMatchObject(unknown);
    expect(list(inbox, "accepted")).toEqual(["a"]);
    bus.loses = "nothing";
    await inbox.accept(message("d"));
    expect(list(inbox, "accepted")).toEqual(["a", "b", "d"]);
    expect(await readAgain("accepted")).toEqual(["a", "b", "d"]);
  });

  test("a session that was closed is forgotten, unless something waits for it", async () => {
    const [inbox, message] = [new ClusterInbox({ bus, ids: systemIds, clock: systemClock }), create("closed")];
    bus.reads = 0;
    await inbox.accept(message("a"));
    const settling = inbox.settle(["a"], { kind: "injected" });
    await inbox.unload("closed");
    await settling;
    expect(bus.reads).toBe(1);
    await inbox.accept(message("b"));
    expect([bus.reads, list(inbox, "closed")]).toEqual([2, ["b"]]);
    await inbox.unload("closed");
    await inbox.accept(message("c"));
    expect([bus.reads, list(inbox, "closed")]).toEqual([2, ["b", "c"]]);
    await inbox.unload("never opened");
  });

  test("what became of a request's message is known at every node, also when its session is not open there", async () => {
    const [inbox, message] = [new ClusterInbox({ bus, ids: systemIds, clock: systemClock }), create("keyed")];
    await inbox.accept({ ...message("a"), acceptedAt: Date.now(), requestKey: "k" });
    const other = new ClusterInbox({ bus, ids: systemIds, clock: systemClock });
    expect(await other.findRequest("k")).toMatchObject({ messageId: "a", sessionId: "keyed", state: "waiting" });
    await inbox.settle(["a"], { kind: "injected" });
    // So many records that a snapshot takes their place.
    for (let index = 0; index < 20; index++) {
      await inbox.accept(message(`m${index}`));
      await inbox.settle([`m${index}`], { kind: "injected" });
    }
    expect(await other.findRequest("k")).toMatchObject({ messageId: "a", state: "said" });
    expect(await other.findRequest("unknown")).toBeUndefined();
  });

  test("what waits is found also where a snapshot takes the place of all records while they are read", async () => {
    const [inbox, message] = [new ClusterInbox({ bus, ids: systemIds, clock: systemClock }), create("snapshot")];
    await inbox.accept({ ...message("a"), requestKey: "s" });
    const interrupt = () => {
      bus.beforeRead = async () => {
        bus.beforeRead = async () => undefined;
        // So many records that a snapshot takes their place.
        for (let index = 0; index < 20; index++) {
          await inbox.accept(message(`m${index}`));
          await inbox.settle([`m${index}`], { kind: "injected" });
        }
      };
    };
    interrupt();
    expect(await readAgain("snapshot")).toEqual(["a"]);
    interrupt();
    const other = new ClusterInbox({ bus, ids: systemIds, clock: systemClock });
    expect(await other.listAll({ sessionId: "snapshot" })).toMatchObject([{ id: "a" }]);
    interrupt();
    expect(await other.findRequest("s")).toMatchObject({ messageId: "a" });
  });

  test("a request is accepted once, also if two nodes bring it to the one that runs the session", async () => {
    const [inbox, message] = [new ClusterInbox({ bus, ids: systemIds, clock: systemClock }), create("twice")];
    await inbox.accept({ ...message("a"), requestKey: "k" });
    await inbox.accept({ ...message("b"), requestKey: "k" });
    expect(list(inbox, "twice")).toEqual(["a"]);
    await inbox.settle(["a"], { kind: "dead", reason: "Too old." });
    await inbox.accept({ ...message("c"), requestKey: "k" }, "a");
    expect(await readAgain("twice")).toEqual(["c"]);
    await inbox.accept({ ...message("d"), requestKey: "k", acceptedAt: 25 * 60 * 60_000 });
    expect(await readAgain("twice")).toEqual(["c", "d"]);
  });

  test.each(["request", "answer"] as const)(
    "an outcome is written when it is tried again after the %s was lost",
    async (lost) => {
      const sessionId = `settled-${lost}`;
      const [inbox, message] = [new ClusterInbox({ bus, ids: systemIds, clock: systemClock }), create(sessionId)];
      for (const id of ["a", "b"]) await inbox.accept(message(id));
      bus.loses = lost;
      await expect(inbox.settle(["a"], { kind: "injected" })).rejects.toMatchObject(unknown);
      bus.loses = "nothing";
      await inbox.settle(["a"], { kind: "injected" });
      expect(list(inbox, sessionId)).toEqual(["b"]);
      expect(await readAgain(sessionId)).toEqual(["b"]);
    },
  );
});

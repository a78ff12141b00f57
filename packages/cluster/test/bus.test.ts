/** Reading when messages are gone, and when servers do not answer. */
import { jetstreamManager } from "@nats-io/jetstream";
import { TimeoutError } from "@nats-io/transport-node";
import { type Clock, systemClock } from "@tau/ai";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parseClusterUrl } from "../src/address.ts";
import { Bus } from "../src/bus.ts";
import { connectCluster } from "../src/connection.ts";
import { bucketStream, hookBucket, keySubject } from "../src/names.ts";
import { openProxy } from "./tcp-proxy.ts";
import { hasNats, type NatsServers, startNats } from "./nats-servers.ts";

/** A clock on which everything happens twenty times as fast. */
const quickClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => 20 * systemClock.monotonic(),
  setTimer: (afterMs, fire) => systemClock.setTimer(afterMs / 20, fire),
};

/** Something happens between looking where a stream ends and reading it. */
class InterruptedBus extends Bus {
  beforeRead: () => Promise<void> = async () => undefined;

  override async *readRange(...range: Parameters<Bus["readRange"]>) {
    await this.beforeRead();
    yield* super.readRange(...range);
  }
}

describe.skipIf(!hasNats)("the bus of a cluster", () => {
  let servers: NatsServers;
  let bus: Bus;

  beforeAll(async () => {
    servers = await startNats();
    const address = parseClusterUrl(servers.servers[0]!.url);
    const { nats } = await connectCluster(address, { clock: systemClock, log: () => undefined });
    bus = new Bus(nats, await jetstreamManager(nats), quickClock);
  });

  afterAll(async () => {
    await bus?.nats.close();
    await servers?.close();
  });

  test("a range ends also where its last messages were removed", async () => {
    const stream = "tau-inbox";
    for (const [index, subject] of ["tau.inbox.a", "tau.inbox.a", "tau.inbox.b", "tau.inbox.b"].entries()) {
      const after = index % 2 === 0 ? 0 : index;
      await bus.publish({ stream, subject, after, id: String(index), giveUpAfterMs: 100_000 });
    }
    const manager = await jetstreamManager(bus.nats);
    await manager.streams.purge(stream, { filter: "tau.inbox.b" });
    expect((await bus.readBucket(stream)).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  describe("finds every key of a bucket", () => {
    const stream = bucketStream(hookBucket);

    async function openBucket(name: string) {
      const interrupted = new InterruptedBus(bus.nats, await jetstreamManager(bus.nats), quickClock);
      const write = async (key: string, value: string) => {
        const subject = keySubject(hookBucket, `${name}-${key}`);
        const after = (await bus.readLast(stream, subject))?.seq ?? 0;
        const message = { stream, subject, data: Buffer.from(value), after, id: `${name}-${key}-${value}` };
        const outcome = await bus.publish({ ...message, giveUpAfterMs: 100_000 });
        return outcome.kind === "stored" ? outcome.seq : expect.fail(outcome.kind);
      };
      const read = async (from: number) => {
        const messages = await interrupted.readBucket(stream, from);
        return Object.fromEntries(
          messages.map(({ subject, data }) => [
            subject.slice(subject.lastIndexOf("-") + 1),
            Buffer.from(data).toString(),
          ]),
        );
      };
      return { interrupted, write, read };
    }

    test("also one that is replaced before it was read, and again when it is looked for", async () => {
      const { interrupted, write, read } = await openBucket("replaced");
      const from = await write("a", "1");
      await write("b", "1");
      const values = ["2", "3"];
      interrupted.beforeRead = async () => {
        const value = values.shift();
        if (value !== undefined) await write("a", value);
      };
      expect(await read(from)).toEqual({ a: "3", b: "1" });
    });

    test("and ends although another is written all the time", async () => {
      const { interrupted, write, read } = await openBucket("busy");
      const from = await write("a", "1");
      let count = 0;
      interrupted.beforeRead = async () => {
        await write("busy", String(count++));
        if (count === 1) await write("a", "2");
      };
      expect(await read(from)).toMatchObject({ a: "2" });
    });
  });

  // It is found stale after three seconds, and cut off two seconds later.
  test.runIf(process.env["TAU_LONG"] === "1")("a server that reads nothing is left for another", async () => {
    const { port } = servers.servers[0]!;
    const cables = await Promise.all([openProxy(port), openProxy(port)]);
    const hosts = cables.map((cable) => `127.0.0.1:${cable.port}`).join(",");
    const logged: string[] = [];
    const { nats } = await connectCluster(parseClusterUrl(`nats://${hosts}`), {
      clock: systemClock,
      log: (line) => void logged.push(line),
    });
    onTestFinished(async () => {
      await nats.close();
      await Promise.all(cables.map((cable) => cable.close()));
    });
    cables.find((cable) => nats.getServer().endsWith(`:${cable.port}`))!.stall();
    for (let count = 0; count < 200; count++) nats.publish("tau.beat.x", Buffer.alloc(100_000));
    await expect.poll(() => logged.at(-1)).toContain("Connected to the cluster again");
  });

  test("servers that do not answer are a reason to try again", async () => {
    let nowMs = 0;
    const setTimer: Clock["setTimer"] = (afterMs, fire) => {
      nowMs += afterMs;
      return systemClock.setTimer(0, fire);
    };
    const clock = { ...quickClock, monotonic: () => nowMs, setTimer };
    const silent = new Bus(bus.nats, await jetstreamManager(bus.nats), clock);
    const reading = silent.retry(() => Promise.reject(new TimeoutError()));
    await expect(reading).rejects.toMatchObject({ code: "unavailable", retryAfterMs: expect.any(Number) });
  });
});

import { reduce, unwrapEvent, type View, type EventEnvelope } from "@tau/protocol";
import type { EventFrame, SnapshotFrame } from "@tau/protocol/gateway";
import { text, scriptedModel } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway } from "../../src/testing/index.ts";
import { isLong, MemoryClient, openBridge } from "./kit.ts";

/** Numbers from 0 to 1 that depend only on the seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Collects what a client knows of a session over all its connections. Fails at a gap, a duplicate or another event. */
class Follower {
  epoch = "";
  seq = -1;
  view: View | undefined;
  snapshots = 0;
  /** Collected, because the session goes on when a listener throws. */
  readonly failures: string[] = [];
  /** It will say that it has seen more than there is. */
  isLying = false;
  readonly #reference: ReadonlyMap<number, string>;

  constructor(reference: ReadonlyMap<number, string>) {
    this.#reference = reference;
  }

  take(frame: EventFrame): void {
    if (frame.event === "session.snapshot") {
      const { epoch, seq, payload } = frame as SnapshotFrame;
      if (epoch === this.epoch && seq < this.seq && !this.isLying)
        this.failures.push(`A snapshot went back to ${seq}.`);
      this.isLying = false;
      [this.epoch, this.seq, this.view] = [epoch, seq, payload.view];
      this.snapshots++;
      return;
    }
    const envelope = frame as EventEnvelope;
    // Not with `expect`, which takes longer than everything else together.
    if (envelope.epoch !== this.epoch || envelope.seq !== this.seq + 1) {
      this.failures.push(`The event ${envelope.seq} came after ${this.seq}.`);
    }
    const event = unwrapEvent(envelope)!;
    if (JSON.stringify(event) !== this.#reference.get(envelope.seq))
      this.failures.push(`${envelope.seq} is another event.`);
    this.seq = envelope.seq;
    this.view = reduce(this.view!, event);
  }
}

test("after any cuts and stalls, clients have seen every event once, or a snapshot in its place", async () => {
  const steps = isLong ? 100_000 : 3_000;
  const seed = Number(process.env["SEED"]) || 20_261_116;
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const { session, open, subscriptions, clock } = await openBridge();
  const { hosted } = open;
  const reference = new Map<number, string>();
  hosted.subscribe((item) => {
    if (item.kind === "event") reference.set(item.position.seq, JSON.stringify(item.event));
    reference.delete(item.position.seq - 5_000);
  });
  const followers = Array.from({ length: 4 }, () => new Follower(reference));
  const clients: (MemoryClient | undefined)[] = followers.map(() => undefined);
  let resumes = 0;
  const emit = (count: number, size: number) => {
    for (let each = 0; each < count; each++) session.notify("test", `${each} ${"x".repeat(size)}`);
  };
  for (let step = 0; step < steps; step++) {
    const index = below(followers.length);
    const [client, follower] = [clients[index], followers[index]!];
    const dice = random();
    if (dice < 0.3) emit(1 + below(4), below(200));
    else if (dice < 0.301) emit(1_100, 10);
    else if (dice < 0.3015) emit(12, 100_000);
    else if (dice < 0.5) client?.close(1006);
    else if (dice < 0.6) client?.stall();
    else if (dice < 0.75) client?.goOn();
    else if (dice < 0.85) await clock.advance(random() < 0.1 ? 40_000 : 100 * below(10));
    else if (!client || client.closedWith !== undefined) {
      const next = new MemoryClient(String(step), (frame) => follower.take(frame));
      clients[index] = next;
      // A client without a view, or with one of another life, has nothing to resume from.
      const lie = random();
      if (lie < 0.05) follower.epoch = "another";
      else if (lie < 0.1) {
        follower.seq = hosted.position.seq + 1 + below(10);
        follower.isLying = true;
      }
      const from = follower.view && { epoch: follower.epoch, seq: follower.seq };
      subscriptions.add(next, open, from);
      resumes++;
    }
    if (client?.closedWith !== undefined && clients[index] === client) clients[index] = undefined;
  }
  for (const client of clients) client?.goOn();
  await clock.advance(1_000);
  for (const [index, client] of clients.entries()) {
    if (!client || client.closedWith !== undefined) continue;
    expect(followers[index]!.seq, `seed ${seed}`).toBe(hosted.position.seq);
    expect(followers[index]!.view).toEqual(JSON.parse(JSON.stringify(hosted.view)));
  }
  expect(followers.flatMap(({ failures }) => failures.slice(0, 3))).toEqual([]);
  expect(resumes).toBeGreaterThan(steps / 50);
  expect(followers.every(({ snapshots }) => snapshots > 0)).toBe(true);
});

test("over real sockets, the response comes before the frames, and the tail is exact", async () => {
  const { gateway, token, workspace, close } = await openTestGateway({ model: scriptedModel([[text("Hello.")]]) });
  onTestFinished(close);
  const first = await connectRaw(gateway.url, { token });
  const { sessionId } = await first.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  const { hosted } = gateway.parts.sessions.find(sessionId)!;
  const reference = new Map<number, string>();
  hosted.subscribe((item) => {
    if (item.kind === "event") reference.set(item.position.seq, JSON.stringify(item.event));
  });
  const follower = new Follower(reference);
  for (let round = 0; round < 40; round++) {
    hosted.session.notify("test", `before ${round}`);
    const client = await connectRaw(gateway.url, { token });
    const count = client.frames.length;
    client.socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as EventFrame;
      if (frame.type === "event" && "seq" in frame) follower.take(frame);
    });
    const resume = follower.view && { epoch: follower.epoch, lastSeq: follower.seq };
    const subscribed = client.must<{ resumed: boolean }>("sessions.subscribe", {
      sessionId,
      ...(resume && { resume }),
    });
    for (let each = 0; each < round % 4; each++) hosted.session.notify("test", `while ${round} ${each}`);
    expect((await subscribed).resumed).toBe(round > 0);
    expect(client.frames[count]).toMatchObject({ type: "res" });
    hosted.session.notify("test", `after ${round}`);
    await expect.poll(() => follower.seq).toBe(hosted.position.seq);
    client.socket.terminate();
  }
  expect(follower.failures).toEqual([]);
  expect(follower.snapshots).toBe(1);
  expect(follower.view).toEqual(JSON.parse(JSON.stringify(hosted.view)));
});

test.each([
  ["another life of the session", { epoch: "another", lastSeq: 3 }],
  ["a number from the future", { lastSeq: 1_000_000 }],
  ["nothing", undefined],
])("who comes with %s gets a snapshot", async (_name, resume) => {
  const { gateway, token, workspace, close } = await openTestGateway();
  onTestFinished(close);
  const client = await connectRaw(gateway.url, { token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  const { hosted } = gateway.parts.sessions.find(sessionId)!;
  const { epoch } = hosted;
  const answer = await client.must("sessions.subscribe", {
    sessionId,
    ...(resume && { resume: { epoch, ...resume } }),
  });
  expect(answer).toMatchObject({ epoch, resumed: false });
  hosted.session.notify("test", "later");
  await expect.poll(() => client.events().length).toBe(3);
  expect(
    client
      .events()
      .slice(1)
      .map(({ event }) => event),
  ).toEqual(["session.snapshot", "session.notice"]);
});

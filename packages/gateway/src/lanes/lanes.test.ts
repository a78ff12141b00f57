import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LaneLimits, type LaneName, orderWaiting } from "./decide.ts";
import { Lanes, type LanePlace } from "./lanes.ts";
import { SessionExecutionQueue } from "./session-execution-queue.ts";

const create = (limits: Partial<LaneLimits> = {}) => {
  const clock = createFakeClock();
  const lanes = new Lanes({ clock, getLimits: () => ({ global: 2, subagents: 1, scheduled: 1, ...limits }) });
  const request = (sessionId: string, names: readonly LaneName[] = ["global"], maxHoldMs = 1_000) =>
    lanes.request({ sessionId, lanes: names, owner: "", maxHoldMs });
  const requestFor = (owner: string, sessionId: string, names: readonly LaneName[] = ["global"]) =>
    lanes.request({ sessionId, lanes: names, owner, maxHoldMs: 1_000 });
  return { clock, lanes, request, requestFor };
};

test("a session has one place, and its requests are served in order", () => {
  const { request } = create();
  const [first, second, third] = [request("a"), request("a"), request("a")];
  expect([first.isHeld, second.isHeld, third.isHeld]).toEqual([true, false, false]);
  first.release();
  expect([first.isHeld, second.isHeld, third.isHeld]).toEqual([false, true, false]);
});

test("a session with many requests does not hold up the others", () => {
  const { request } = create({ global: 1 });
  const ofA = ["a", "a", "a"].map((name) => request(name));
  const ofB = request("b");
  ofA[0]!.release();
  expect([ofB.isHeld, ofA[1]!.isHeld]).toEqual([true, false]);
  ofB.release();
  expect(ofA[1]!.isHeld).toBe(true);
});

test("a full lane does not hold up requests for another", () => {
  const { request } = create({ global: 3 });
  const scheduled = [request("a", ["global", "scheduled"]), request("b", ["global", "scheduled"])];
  const person = request("c");
  expect([...scheduled, person].map(({ isHeld }) => isHeld)).toEqual([true, false, true]);
  scheduled[0]!.release();
  expect(scheduled[1]!.isHeld).toBe(true);
});

test("a request that is cancelled while it waits gives up its turn", async () => {
  const { request, lanes } = create({ global: 1 });
  const [first, second, third] = [request("a"), request("b"), request("c")];
  second.release();
  expect(await second.given).toBe(false);
  first.release();
  expect(third.isHeld).toBe(true);
  expect(lanes.counts).toEqual({ held: 1, waiting: 0 });
});

test("whoever holds a place for too long loses it, and what it does then does not count", async () => {
  const { clock, lanes, request } = create({ global: 1 });
  let isLost = false;
  const slow = lanes.request({
    sessionId: "a",
    lanes: ["global"],
    owner: "",
    maxHoldMs: 1_000,
    onLost: () => (isLost = true),
  });
  const next = request("b", ["global"], 5_000);
  const { generation } = slow;
  await clock.advance(1_000);
  expect([isLost, slow.isHeld, next.isHeld]).toEqual([true, false, true]);
  expect(next.generation).toBeGreaterThan(generation!);
  slow.release();
  expect([next.isHeld, lanes.counts.held]).toEqual([true, 1]);
});

test("a device that asks for many runs does not hold up another", () => {
  const { lanes, requestFor } = create({ global: 2 });
  const ofA = Array.from({ length: 20 }, (_, index) => requestFor("a", `a${index}`));
  const ofB = [requestFor("b", "b0"), requestFor("b", "b1")];
  expect(lanes.listWaiting().slice(0, 3)).toEqual(["b0", "b1", "a2"]);
  ofA[0]!.release();
  expect(ofB.map(({ isHeld }) => isHeld)).toEqual([true, false]);
  // Each has one place now, and the oldest request is that of the first.
  expect(lanes.listWaiting().slice(0, 3)).toEqual(["a2", "b1", "a3"]);
});

test("people come before what is scheduled, whoever waited longer", () => {
  const { lanes, requestFor } = create({ global: 1, scheduled: 5 });
  const running = requestFor("a", "a0");
  const scheduled = requestFor("", "hook", ["global", "scheduled"]);
  const person = requestFor("a", "a1");
  expect(lanes.listWaiting()).toEqual(["a1", "hook"]);
  running.release();
  expect([person.isHeld, scheduled.isHeld]).toEqual([true, false]);
  person.release();
  expect(scheduled.isHeld).toBe(true);
});

test("whoever has fewer places is served first, in any line", () => {
  const owners = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 12 });
  const property = fc.property(owners, owners, (holders, waiters) => {
    const toRequest = (owner: string, index: number) => ({
      id: index,
      sessionId: `${owner}${index}`,
      lanes: ["global" as const],
      owner,
    });
    const held = holders.map(toRequest);
    const waiting = waiters.map((owner, index) => toRequest(owner, 100 + index));
    const order = [...orderWaiting({ held, waiting: new Map(waiting.map((each) => [each.sessionId, [each]])) })];
    expect(order.toSorted((x, y) => x.id - y.id)).toEqual(waiting);
    const counts = new Map<string, number>();
    for (const owner of holders) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    for (const [index, { owner }] of order.entries()) {
      const others = new Set(order.slice(index).map((each) => each.owner));
      for (const other of others) expect(counts.get(owner) ?? 0).toBeLessThanOrEqual(counts.get(other) ?? 0);
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
  });
  fc.assert(property);
});

describe("under any order of requests, releases, cancellations and time", () => {
  const names = fc.constantFrom<readonly LaneName[]>(["global"], ["subagents"], ["global", "scheduled"]);
  const step = fc.oneof(
    fc.record({ kind: fc.constant("request"), session: fc.integer({ min: 0, max: 4 }), names }),
    fc.record({ kind: fc.constant("release"), index: fc.nat(20) }),
    fc.record({ kind: fc.constant("advance"), ms: fc.integer({ min: 1, max: 700 }) }),
  );

  test("no limit is exceeded, each session is served in order, and every request ends", async () => {
    const steps = fc.array(step, { maxLength: 40 });
    const property = fc.asyncProperty(steps, async (list) => {
      const { clock, lanes } = create();
      const all: { place: LanePlace; session: number; names: readonly LaneName[] }[] = [];
      const served: typeof all = [];
      const check = () => {
        const held = all.filter(({ place }) => place.isHeld);
        const count = (name: LaneName) => held.filter((each) => each.names.includes(name)).length;
        expect([count("global") <= 2, count("subagents") <= 1, count("scheduled") <= 1]).toEqual([true, true, true]);
        expect(new Set(held.map(({ session }) => session)).size).toBe(held.length);
        for (const each of held) if (!served.includes(each)) served.push(each);
        expect(lanes.counts.held).toBe(held.length);
      };
      for (const each of list) {
        if (each.kind === "request") {
          const { session, names: wanted } = each as { session: number; names: readonly LaneName[] };
          const place = lanes.request({
            sessionId: String(session),
            lanes: wanted,
            owner: String(session % 2),
            maxHoldMs: 1_000,
          });
          all.push({ place, session, names: wanted });
        } else if (each.kind === "release") all[(each as { index: number }).index]?.place.release();
        else await clock.advance((each as { ms: number }).ms);
        check();
      }
      // Every holder is too slow from now on.
      for (let round = 0; lanes.counts.held > 0; round++) {
        expect(round).toBeLessThanOrEqual(all.length);
        await clock.advance(1_000);
        check();
      }
      await Promise.all(all.map(({ place }) => place.given));
      expect([lanes.counts, clock.waiting]).toEqual([{ held: 0, waiting: 0 }, 0]);
      for (let session = 0; session < 5; session++) {
        const order = served.filter((each) => each.session === session).map(({ place }) => place.generation!);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
        const indexes = served.filter((each) => each.session === session).map((each) => all.indexOf(each));
        expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
      }
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

test("operations of a session happen one after the other, also when one fails", async () => {
  const queue = new SessionExecutionQueue();
  const seen: string[] = [];
  const work = (name: string, fails = false) =>
    queue.enqueue(async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([work("a"), work("b", true), work("c")]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

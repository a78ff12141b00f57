import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LaneLimits, LaneName } from "./decide.ts";
import { Lanes, type LanePlace, resolveLimits } from "./lanes.ts";
import { SessionExecutionQueue } from "./session-execution-queue.ts";

const create = (limits: Partial<LaneLimits> = {}) => {
  const clock = createFakeClock();
  const lanes = new Lanes({ clock, getLimits: () => ({ global: 2, subagents: 1, scheduled: 1, ...limits }) });
  const request = (sessionId: string, names: readonly LaneName[] = ["global"], maxHoldMs = 1_000) =>
    lanes.request({ sessionId, lanes: names, maxHoldMs });
  return { clock, lanes, request };
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
  const slow = lanes.request({ sessionId: "a", lanes: ["global"], maxHoldMs: 1_000, onLost: () => (isLost = true) });
  const next = request("b", ["global"], 5_000);
  const { generation } = slow;
  await clock.advance(1_000);
  expect([isLost, slow.isHeld, next.isHeld]).toEqual([true, false, true]);
  expect(next.generation).toBeGreaterThan(generation!);
  slow.release();
  expect([next.isHeld, lanes.counts.held]).toEqual([true, 1]);
});

test("the default limits grow with the processors", () => {
  const lanes = { global: undefined, subagents: 8, scheduled: 1 };
  expect(resolveLimits({ lanes } as never, 1).global).toBe(8);
  expect(resolveLimits({ lanes } as never, 16)).toEqual({ global: 64, subagents: 8, scheduled: 1 });
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
          const place = lanes.request({ sessionId: String(session), lanes: wanted, maxHoldMs: 1_000 });
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

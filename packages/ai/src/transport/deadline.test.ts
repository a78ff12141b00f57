import { expect, test } from "vitest";
import { createFakeClock } from "../testing/fake-clock.ts";
import { Deadline } from "./deadline.ts";

const start = (limits: { totalMs: number; firstMs: number; idleMs: number }) => {
  const clock = createFakeClock();
  const expired: string[] = [];
  const deadline = new Deadline(clock, limits, ({ limit, limitMs }) => expired.push(`${limit} ${limitMs}`));
  return { clock, expired, deadline };
};

test("content restarts the idle limit", async () => {
  const { clock, expired, deadline } = start({ totalMs: 0, firstMs: 100, idleMs: 100 });
  for (let turn = 0; turn < 10; turn++) {
    await clock.advance(99);
    deadline.content();
  }
  expect(expired).toEqual([]);
  await clock.advance(100);
  expect(expired).toEqual(["idle 100"]);
});

test("the first content may take longer than the next", async () => {
  const { clock, expired, deadline } = start({ totalMs: 0, firstMs: 1_000, idleMs: 100 });
  await clock.advance(999);
  expect(expired).toEqual([]);
  deadline.content();
  await clock.advance(100);
  expect(expired).toEqual(["idle 100"]);
});

test("the limit that expired is told with its length", async () => {
  const { clock, expired } = start({ totalMs: 0, firstMs: 1_000, idleMs: 100 });
  await clock.advance(1_000);
  expect(expired).toEqual(["first 1000"]);
});

test("content does not extend the total limit", async () => {
  const { clock, expired, deadline } = start({ totalMs: 250, firstMs: 100, idleMs: 100 });
  for (let turn = 0; turn < 5; turn++) {
    await clock.advance(50);
    deadline.content();
  }
  expect(expired).toEqual(["total 250"]);
});

test("without limits there is no timer, and close cancels all timers", () => {
  expect(start({ totalMs: 0, firstMs: 0, idleMs: 0 }).clock.waiting).toBe(0);
  const { clock, deadline } = start({ totalMs: 10, firstMs: 10, idleMs: 10 });
  deadline.close();
  expect(clock.waiting).toBe(0);
});

test("after a complete answer the connection must be closed soon, with or without an idle limit", async () => {
  for (const idleMs of [0, 300_000]) {
    const { clock, expired, deadline } = start({ totalMs: 0, firstMs: idleMs, idleMs });
    deadline.content();
    deadline.expectEnd(5_000);
    await clock.advance(3_000);
    deadline.content();
    deadline.expectEnd(5_000);
    await clock.advance(4_999);
    expect(expired).toEqual([]);
    await clock.advance(1);
    expect(expired).toEqual(["idle 5000"]);
  }
});

test("of two times to close the connection the shorter counts", async () => {
  const { clock, expired, deadline } = start({ totalMs: 0, firstMs: 300_000, idleMs: 300_000 });
  deadline.content();
  deadline.expectEnd(30_000);
  deadline.expectEnd(5_000);
  deadline.expectEnd(30_000);
  await clock.advance(5_000);
  expect(expired).toEqual(["idle 5000"]);
});

import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { Rounds } from "./rounds.ts";

test("all are called in the next round, once, and what they add in the round after", async () => {
  const clock = createFakeClock();
  const rounds = new Rounds(clock, 100);
  const called: string[] = [];
  rounds.add(() => {
    called.push("first");
    rounds.add(() => called.push("again"));
  });
  await clock.advance(60);
  rounds.add(() => called.push("second"));
  await clock.advance(39);
  expect(called).toEqual([]);
  await clock.advance(1);
  expect(called).toEqual(["first", "second"]);
  await clock.advance(100);
  expect(called).toEqual(["first", "second", "again"]);
  await clock.advance(1_000);
  expect(called.length).toBe(3);
});

test("what is cancelled is not called, not even if it is cancelled in its round", async () => {
  const clock = createFakeClock();
  const rounds = new Rounds(clock, 100);
  const called: string[] = [];
  let cancelLast = () => {};
  rounds.add(() => called.push("cancelled"))();
  rounds.add(() => cancelLast());
  cancelLast = rounds.add(() => called.push("last"));
  await clock.advance(200);
  expect(called).toEqual([]);
});

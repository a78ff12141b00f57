import { expect, test } from "vitest";
import { sleep, systemClock, systemIds } from "./clock.ts";
import { createFakeClock } from "./testing/fake-clock.ts";

test("sleep reports whether the time elapsed or the signal aborted, and leaves no timer behind", async () => {
  const clock = createFakeClock();
  const abort = new AbortController();
  const slept = sleep(clock, 100);
  const aborted = sleep(clock, 100, abort.signal);
  abort.abort();
  expect(await aborted).toBe("aborted");
  expect(clock.waiting).toBe(1);
  await clock.advance(100);
  expect(await slept).toBe("elapsed");
  expect(await sleep(clock, 100, abort.signal)).toBe("aborted");
  expect(clock.waiting).toBe(0);
});

test("a fake clock fires only due timers, in order", async () => {
  const clock = createFakeClock(1_000);
  const fired: string[] = [];
  clock.setTimer(30, () => fired.push("c"));
  clock.setTimer(10, () => {
    fired.push("a");
    clock.setTimer(5, () => fired.push("b"));
  });
  const cancel = clock.setTimer(20, () => fired.push("never"));
  cancel();
  await clock.advance(29);
  expect(fired).toEqual(["a", "b"]);
  expect(clock.now()).toBe(1_029);
  await clock.advance(1);
  expect(fired).toEqual(["a", "b", "c"]);
});

test("the system clock can cancel timers, and does not fire a timer longer than Node's limit early", async () => {
  let fired = false;
  const cancel = systemClock.setTimer(40 * 86_400_000, () => (fired = true));
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => systemClock.setTimer(5, () => resolve(undefined)));
  cancel();
  expect(fired).toBe(false);
  expect(systemIds()).not.toBe(systemIds());
});

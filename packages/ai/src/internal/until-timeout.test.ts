import { expect, test } from "vitest";
import { createFakeClock } from "../testing/index.ts";
import { untilTimeout } from "./until-timeout.ts";

test("work that settles in time decides, and no timer is left", async () => {
  const clock = createFakeClock();
  expect(await untilTimeout(Promise.resolve("a"), 10, clock)).toEqual({ kind: "done", value: "a" });
  await expect(untilTimeout(Promise.reject(new Error("no")), 10, clock)).rejects.toThrow("no");
  expect(clock.waiting).toBe(0);
});

test("work that takes longer is not waited for", async () => {
  const clock = createFakeClock();
  const waiting = untilTimeout(new Promise<never>(() => {}), 10, clock);
  await clock.advance(10);
  expect(await waiting).toEqual({ kind: "timeout" });
});

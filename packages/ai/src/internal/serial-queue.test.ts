import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { SerialQueue } from "./serial-queue.ts";

/** Work that notes when it starts and ends, and takes a moment. */
const createWork = (name: string, log: string[]) => async () => {
  log.push(`${name} starts`);
  await setImmediate();
  log.push(`${name} ends`);
  if (name === "failing") throw new Error(name);
  return name;
};

test("work starts when all earlier work has settled, also when that failed", async () => {
  const log: string[] = [];
  const queue = new SerialQueue();
  const done = [queue.add(createWork("failing", log)), queue.add(createWork("second", log))];
  expect([log, queue.isIdle]).toEqual([[], false]);
  await expect(done[0]).rejects.toThrow("failing");
  expect(await done[1]).toBe("second");
  expect(log).toEqual(["failing starts", "failing ends", "second starts", "second ends"]);
});

test("it is idle when everything has settled, also what was added meanwhile", async () => {
  const log: string[] = [];
  const queue = new SerialQueue();
  await queue.whenIdle();
  void queue.add(createWork("first", log)).then(() => void queue.add(createWork("second", log)));
  await queue.whenIdle();
  expect([log, queue.isIdle]).toEqual([["first starts", "first ends", "second starts", "second ends"], true]);
});

test("waiting until it is idle never rejects", async () => {
  const queue = new SerialQueue();
  const failed = queue.add(createWork("failing", []));
  const idle = queue.whenIdle();
  await expect(failed).rejects.toThrow("failing");
  await idle;
});

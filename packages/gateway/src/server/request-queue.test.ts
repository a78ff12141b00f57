import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { RequestQueue } from "./request-queue.ts";

function createQueue({ maxRunning = 4, maxReading = 2 } = {}) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const paused: boolean[] = [];
  let isFull = false;
  const queue = new RequestQueue<string>({
    maxRunning,
    maxReading,
    isReading: (name) => name.startsWith("read"),
    isFull: () => isFull,
    run: (name) => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    },
    setPaused: (isPaused) => void paused.push(isPaused),
  });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  };
  return {
    queue,
    begun,
    paused,
    settle,
    end: (name: string) => ends.get(name)!(),
    setFull: (value: boolean) => (isFull = value),
  };
}

test("requests are begun in order, so many at a time, and the connection is read when none waits", async () => {
  const { queue, begun, paused, settle, end } = createQueue();
  for (const name of ["a", "b", "c", "d", "e"]) queue.add(name);
  await settle();
  expect(begun).toEqual(["a", "b", "c", "d"]);
  expect(queue.isPaused).toBe(true);
  end("c");
  await settle();
  expect(begun).toEqual(["a", "b", "c", "d", "e"]);
  expect(queue.isPaused).toBe(false);
  expect(paused).toEqual([true, false]);
});

test("fewer of those that only read are answered at a time", async () => {
  const { queue, begun, settle, end } = createQueue();
  for (const name of ["read 1", "read 2", "read 3", "write"]) queue.add(name);
  await settle();
  expect(begun).toEqual(["read 1", "read 2"]);
  end("read 1");
  await settle();
  expect(begun).toEqual(["read 1", "read 2", "read 3", "write"]);
});

test("none is begun, and nothing is read, while the client has too much to read", async () => {
  const { queue, begun, settle, setFull } = createQueue();
  queue.add("a");
  setFull(true);
  queue.add("b");
  await settle();
  expect(begun).toEqual(["a"]);
  expect(queue.isPaused).toBe(true);
  setFull(false);
  queue.advance();
  await settle();
  expect(begun).toEqual(["a", "b"]);
  expect(queue.isPaused).toBe(false);
});

test("each request gives others a turn before the next is begun", async () => {
  const { queue, begun } = createQueue();
  for (const name of ["a", "b", "c"]) queue.add(name);
  expect(begun).toEqual(["a"]);
  await nextTurn();
  expect(begun).toEqual(["a", "b"]);
});

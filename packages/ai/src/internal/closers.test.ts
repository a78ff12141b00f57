import { expect, test } from "vitest";
import { Closers } from "./closers.ts";

function record(closers: Closers, names: readonly string[]): string[] {
  const closed: string[] = [];
  for (const name of names) {
    closers.add(async () => {
      closed.push(name);
      if (name.startsWith("bad")) throw new Error(name);
    });
  }
  return closed;
}

test("everything is closed once, the last one first, and the first failure is thrown", async () => {
  const closers = new Closers();
  const closed = record(closers, ["a", "bad 1", "b", "bad 2"]);
  await expect(closers.close()).rejects.toThrow("bad 2");
  expect(closed).toEqual(["bad 2", "b", "bad 1", "a"]);
  await closers.close();
  expect(closed).toHaveLength(4);
});

test("what was opened is closed if the next thing cannot be opened, whose error counts", async () => {
  let closed: string[] = [];
  const opening = Closers.open(async (closers) => {
    closed = record(closers, ["a", "bad"]);
    throw new Error("no room");
  });
  await expect(opening).rejects.toThrow("no room");
  expect(closed).toEqual(["bad", "a"]);
});

test("what is open stays open", async () => {
  const { closers, closed } = await Closers.open(async (all) => ({ closers: all, closed: record(all, ["a"]) }));
  expect(closed).toEqual([]);
  await closers.close();
  expect(closed).toEqual(["a"]);
});

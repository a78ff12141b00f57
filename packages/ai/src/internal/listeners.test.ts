import { expect, test } from "vitest";
import { Listeners } from "./listeners.ts";

function createListeners() {
  const failures: unknown[] = [];
  const calls: string[] = [];
  const listeners = new Listeners<string>((error) => failures.push(error));
  return { listeners, failures, calls, note: (name: string) => (event: string) => void calls.push(`${name} ${event}`) };
}

test("all are called in order, also when one throws or rejects, which is reported", async () => {
  const { listeners, failures, calls, note } = createListeners();
  listeners.add(() => {
    throw new Error("thrown");
  });
  listeners.add(() => Promise.reject(new Error("rejected")));
  listeners.add(note("a"));
  listeners.add(note("b"));
  listeners.emit("1");
  await Promise.resolve();
  expect(calls).toEqual(["a 1", "b 1"]);
  expect(failures).toEqual([new Error("thrown"), new Error("rejected")]);
});

test("a function that was added twice is called twice, and removed one at a time", () => {
  const { listeners, calls, note } = createListeners();
  const same = note("a");
  const remove = listeners.add(same);
  listeners.add(same);
  listeners.emit("1");
  remove();
  remove();
  listeners.emit("2");
  expect([calls, listeners.size]).toEqual([["a 1", "a 1", "a 2"], 1]);
});

test("one that is added or removed while others are called changes only the next event", () => {
  const { listeners, calls, note } = createListeners();
  listeners.add(() => {
    remove();
    listeners.add(note("new"));
  });
  const remove = listeners.add(note("old"));
  listeners.emit("1");
  expect(calls).toEqual(["old 1"]);
  listeners.clear();
  listeners.emit("2");
  expect([calls.length, listeners.size]).toEqual([1, 0]);
});

test("a failure is told apart from later ones of the same listener", () => {
  const isFirst: boolean[] = [];
  const listeners = new Listeners<string>((_error, first) => isFirst.push(first));
  const fail = () => {
    throw new Error("thrown");
  };
  listeners.add(fail);
  listeners.add(fail);
  listeners.emit("1");
  listeners.emit("2");
  expect(isFirst).toEqual([true, true, false, false]);
});

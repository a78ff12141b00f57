import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { untilAborted } from "./until-aborted.ts";

const never = new Promise<string>(() => {});

test("work that settles first decides, and no listener is left", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve("a"), signal)).toEqual({ kind: "done", value: "a" });
  await expect(untilAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(await untilAborted(Promise.resolve("b"), undefined)).toEqual({ kind: "done", value: "b" });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("an abort ends the wait for work that never settles", async () => {
  const controller = new AbortController();
  const waiting = untilAborted(never, controller.signal);
  controller.abort();
  expect(await waiting).toEqual({ kind: "aborted" });
});

test("work that has settled by the time of the abort decides", async () => {
  const controller = new AbortController();
  let finish = (_value: string) => {};
  const work = new Promise<string>((resolve) => (finish = resolve));
  const waiting = untilAborted(work, controller.signal);
  finish("a");
  controller.abort();
  expect(await waiting).toEqual({ kind: "done", value: "a" });
});

test("a signal that has aborted wins over work that is done, and work that fails later is ignored", async () => {
  const signal = AbortSignal.abort();
  expect(await untilAborted(Promise.resolve("a"), signal)).toEqual({ kind: "aborted" });
  expect(await untilAborted(Promise.reject(new Error("no")), signal)).toEqual({ kind: "aborted" });
});

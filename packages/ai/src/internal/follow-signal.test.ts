import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { followSignal } from "./follow-signal.ts";

test("all who follow a signal are told why it aborted, through one listener", () => {
  const controller = new AbortController();
  const told: unknown[] = [];
  for (let index = 0; index < 20; index++) followSignal(controller.signal, (reason) => told.push(reason));
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort("enough");
  expect(told).toEqual(Array.from({ length: 20 }, () => "enough"));
});

test("who has stopped is not told, also if it stops while others are told, and the last one takes the listener away", () => {
  const controller = new AbortController();
  const told: string[] = [];
  const stopFirst = followSignal(controller.signal, () => told.push("first"));
  followSignal(controller.signal, () => {
    told.push("second");
    stopThird();
  });
  const stopThird = followSignal(controller.signal, () => told.push("third"));
  stopFirst();
  stopFirst();
  controller.abort();
  expect(told).toEqual(["second"]);

  const { signal } = new AbortController();
  const stops = [followSignal(signal, () => {}), followSignal(signal, () => {})];
  for (const stop of stops) stop();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a signal that has aborted is told at once", () => {
  const told: unknown[] = [];
  followSignal(AbortSignal.abort("before"), (reason) => told.push(reason))();
  followSignal(undefined, () => told.push("never"))();
  expect(told).toEqual(["before"]);
});

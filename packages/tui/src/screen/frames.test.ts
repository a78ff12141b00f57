import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Frames } from "./frames.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** When frames are drawn, in milliseconds after the first. Keys are negative times. */
function draw(requestsAtMs: readonly number[]): number[] {
  const drawn: number[] = [];
  const start = performance.now();
  const frames = new Frames(() => drawn.push(Math.round(performance.now() - start)));
  frames.drawNow();
  for (const atMs of requestsAtMs) {
    vi.advanceTimersByTime(Math.abs(atMs) - Math.round(performance.now() - start));
    if (atMs < 0) frames.hurry();
    frames.request();
  }
  vi.advanceTimersByTime(1_000);
  return drawn;
}

test("a single change is never kept waiting longer than 16 ms", () => {
  expect(draw([3, 50, 53])).toEqual([0, 16, 50, 66]);
});

test("a change is drawn at once if the last frame is long ago", () => {
  expect(draw([20, 40, 60, 80])).toEqual([0, 20, 40, 60, 80]);
});

test("changes that follow each other faster share frames, 30 a second", () => {
  const everyFive = Array.from({ length: 20 }, (_unused, index) => 5 * (index + 1));
  expect(draw(everyFive)).toEqual([0, 16, 49, 82, 115]);
});

test("a key is not kept waiting by them, but frames are never closer than 16 ms", () => {
  expect(draw([5, 18, -20, 35])).toEqual([0, 16, 32, 65]);
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Frames } from "./frames.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** When frames are drawn, in milliseconds after the first, if each takes `drawMs`. Keys are negative times. */
function draw(requestsAtMs: readonly number[], drawMs = 0): number[] {
  const drawn: number[] = [];
  const now = performance.now.bind(performance);
  const start = now();
  let busyMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + busyMs);
  const getElapsedMs = () => Math.round(performance.now() - start);
  const frames = new Frames(() => {
    drawn.push(getElapsedMs());
    busyMs += drawMs;
  });
  frames.drawNow();
  for (const atMs of requestsAtMs) {
    vi.advanceTimersByTime(Math.max(0, Math.abs(atMs) - getElapsedMs()));
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

test("changes that follow each other faster share frames, 15 a second", () => {
  const everyFive = Array.from({ length: 40 }, (_unused, index) => 5 * (index + 1));
  expect(draw(everyFive)).toEqual([0, 16, 82, 148, 214]);
});

test("changes that keep coming share frames too if each is drawn before the next", () => {
  const everyTwenty = Array.from({ length: 16 }, (_unused, index) => 20 * (index + 1));
  expect(draw(everyTwenty)).toEqual([0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 266, 332]);
});

test("after a key nothing is kept waiting, but frames are never closer than 16 ms", () => {
  expect(draw([5, 18, -20, 35, 140, 142, 160])).toEqual([0, 16, 32, 48, 140, 156, 222]);
});

test.each([
  { drawMs: 10, intervalMs: 76 },
  { drawMs: 40, intervalMs: 160 },
  { drawMs: 100, intervalMs: 300 },
])("frames that take $drawMs ms follow each other every $intervalMs ms", ({ drawMs, intervalMs }) => {
  const everyMs = Array.from({ length: 1_000 }, (_unused, index) => index + 1);
  const times = draw(everyMs, drawMs);
  const intervals = times.slice(1).map((time, index) => time - times[index]!);
  expect(intervals.slice(1, 4)).toEqual([intervalMs, intervalMs, intervalMs]);
});

test("a frame that is held comes when it was not held again for this long, and a key does not bring it forward", () => {
  const drawn: number[] = [];
  const start = performance.now();
  const frames = new Frames(() => drawn.push(Math.round(performance.now() - start)));
  for (const wait of [0, 30, 60, 90]) {
    vi.advanceTimersByTime(wait === 0 ? 0 : 30);
    frames.hold(100);
    frames.request();
    frames.hurry();
    frames.requestNext();
  }
  vi.advanceTimersByTime(1_000);
  expect(drawn).toEqual([190]);
});

/** A component that draws slowly once is shown; one that does so repeatedly is paused until it is quick again. */
import { expect, test } from "vitest";
import { Themes } from "../themes.ts";
import { FrameBudget, type FrameClocks, systemClocks } from "./frame-budget.ts";
import { createGuarded } from "./guarded-component.ts";

interface ManualClocks extends FrameClocks {
  /** Time passes, and the processor works for a part of it. */
  pass(ms: number, cpuMs?: number): void;
}

function createClocks(): ManualClocks {
  let nowMs = 0;
  let usedMs = 0;
  return {
    now: () => nowMs,
    getCpuMs: () => usedMs,
    pass(ms, cpuMs = ms) {
      nowMs += ms;
      usedMs += cpuMs;
    },
  };
}

/** Draws frames that take so many milliseconds, until it is paused. Returns how many were drawn. */
function drawUntilPaused(frames: FrameBudget, clocks: ManualClocks, costs: readonly number[]): number {
  for (const [index, ms] of costs.entries()) {
    if (frames.isPaused) return index;
    frames.draw(() => clocks.pass(ms));
  }
  return frames.isPaused ? costs.length : Infinity;
}

test.each([
  { costs: [900], drawn: Infinity, why: "a first frame never counts" },
  { costs: [900, 900, 900], drawn: Infinity, why: "two slow frames are not enough" },
  { costs: [10, 201, 201, 201], drawn: 4, why: "three slow frames in a row pause it" },
  { costs: [10, 200, 200, 200, 200], drawn: Infinity, why: "200 ms are allowed" },
  { costs: [10, 900, 900, 10, 900, 900, 10], drawn: Infinity, why: "a quick frame between slow ones" },
])("$why: frames of $costs ms", ({ costs, drawn }) => {
  const clocks = createClocks();
  expect(drawUntilPaused(new FrameBudget(clocks), clocks, costs)).toBe(drawn);
});

test("time in which the processor did something else is not the component's", () => {
  const clocks = createClocks();
  const frames = new FrameBudget(clocks);
  for (let count = 0; count < 10; count++) frames.draw(() => clocks.pass(5_000, 50));
  // All threads together can use more time than passes.
  for (let count = 0; count < 10; count++) frames.draw(() => clocks.pass(150, 600));
  expect(frames.isPaused).toBe(false);
});

test("what a frame needs before it is drawn is part of it", () => {
  const clocks = createClocks();
  const frames = new FrameBudget(clocks);
  for (let count = 0; count < 4; count++) {
    frames.prepare(() => clocks.pass(150));
    frames.draw(() => clocks.pass(60));
  }
  expect(frames.isPaused).toBe(true);
});

test("a paused component says so in its place, and is shown again when it answers", () => {
  const clocks = createClocks();
  const { theme } = new Themes({ mode: "none", files: [] });
  let frameMs = 300;
  let asked = 0;
  const render = () => {
    asked++;
    clocks.pass(frameMs);
    return [`frame ${asked}`];
  };
  const options = { theme, name: "The widget x", frames: new FrameBudget(clocks) };
  const widget = createGuarded(() => ({ render, invalidate() {} }), options);
  for (let count = 1; count <= 4; count++) expect(widget.render(80)).toEqual([`frame ${count}`]);
  expect(widget.render(200).join(" ")).toContain("The widget x is paused: its last 3 frames took more than 200 ms");
  expect(asked).toBe(4);
  clocks.pass(5_000);
  expect(widget.render(80)).toEqual(["frame 5"]);
  expect(widget.render(200).join(" ")).toContain("is paused");
  frameMs = 5;
  clocks.pass(5_000);
  for (let count = 6; count <= 9; count++) expect(widget.render(80)).toEqual([`frame ${count}`]);
});

test("keys still reach a paused component, and Escape gives it up", () => {
  const clocks = createClocks();
  const { theme } = new Themes({ mode: "none", files: [] });
  const keys: string[] = [];
  let isGivenUp = false;
  const component = {
    render: () => (clocks.pass(300), ["slow"]),
    handleInput: (data: string) => void keys.push(data),
    invalidate() {},
  };
  const onGivenUp = () => (isGivenUp = true);
  const options = { theme, name: "It", frames: new FrameBudget(clocks), onGivenUp };
  const guarded = createGuarded(() => component, options);
  guarded.handleInput("\x1b");
  for (let count = 0; count < 4; count++) guarded.render(80);
  guarded.handleInput("x");
  expect({ keys, isGivenUp }).toEqual({ keys: ["\x1b", "x"], isGivenUp: false });
  guarded.handleInput("\x1b");
  expect({ keys, isGivenUp }).toEqual({ keys: ["\x1b", "x"], isGivenUp: true });
});

test("a component that sleeps is not slow, one that computes is", () => {
  const sleep = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  const compute = () => {
    const start = systemClocks.getCpuMs();
    while (systemClocks.getCpuMs() - start < 250);
  };
  const draw = (work: () => void): boolean => {
    const frames = new FrameBudget();
    for (let count = 0; count < 4; count++) frames.draw(work);
    return frames.isPaused;
  };
  expect({ sleep: draw(sleep), compute: draw(compute) }).toEqual({ sleep: false, compute: true });
});

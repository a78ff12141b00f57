import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Component } from "../component.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { Box } from "./box.ts";
import { Loader } from "./loader.ts";
import { MouseRegion } from "./mouse-region.ts";
import { Spacer } from "./spacer.ts";
import { Text } from "./text.ts";
import { TruncatedText } from "./truncated-text.ts";

const reset = "\x1b[0m";
const click = (x: number, y: number): TuiMouseEvent => ({
  type: "click",
  button: "left",
  x,
  y,
  screenX: x + 10,
  screenY: y + 10,
  width: 10,
  height: 5,
  shift: false,
  alt: false,
  ctrl: false,
});

/** A component of two lines that remembers its events. */
function createTarget(result: TuiMouseEventResult | undefined): Component & { events: TuiMouseEvent[] } {
  const events: TuiMouseEvent[] = [];
  const lines = ["a", "b"];
  return {
    events,
    render: () => lines,
    invalidate: () => {},
    handleMouse(event) {
      events.push(event);
      return result;
    },
  };
}

describe("TruncatedText", () => {
  test.each<[number, string[]]>([
    [8, ["        ", ` hel${reset}...${reset} `, "        "]],
    [20, ["                    ", " hello world        ", "                    "]],
    [2, ["  ", `${reset}..${reset}`, "  "]],
  ])("shows the first line in %i columns", (width, expected) => {
    expect(new TruncatedText("hello world\nsecond", 1, 1).render(width)).toEqual(expected);
  });
});

describe("Spacer", () => {
  test("has as many empty lines as it is told, and the same array while that is so", () => {
    const spacer = new Spacer(2);
    expect(spacer.render(9)).toEqual(["", ""]);
    expect(spacer.render(9)).toBe(spacer.render(9));
    spacer.setLines(1);
    expect(spacer.render(9)).toEqual([""]);
  });
});

describe("Box", () => {
  test("puts padding and a background around its children, and draws nothing without lines", () => {
    const box = new Box(1, 1, (text) => `<${text}>`);
    expect(box.render(6)).toEqual([]);
    box.addChild(new Text("hi", 0, 0));
    expect(box.render(6)).toEqual(["<      >", "< hi   >", "<      >"]);
    expect(box.render(6)).toBe(box.render(6));
    box.setBgFn((text) => `[${text}]`);
    expect(box.render(6)[1]).toBe("[ hi   ]");
  });

  test("notices that the theme behind its background function changed", () => {
    let mark = "1";
    const box = new Box(0, 0, (text) => mark + text);
    box.addChild(new Text("x", 0, 0));
    box.render(1);
    mark = "2";
    expect(box.render(1)).toEqual(["2x"]);
  });

  test("gives a mouse event to the child under it, in the coordinates of the child", () => {
    const target = createTarget({ handled: true });
    const box = new Box(1, 1);
    box.addChild(new Text("one", 0, 0));
    box.addChild(target);
    box.render(10);
    const expected = { component: target, originX: 11, originY: 12, width: 8, height: 2 };
    expect(box.handleMouse(click(3, 3))).toEqual({ handled: true, target: expected });
    expect(target.events[0]).toMatchObject({ x: 2, y: 1, width: 8, height: 2 });
    for (const [x, y] of [
      [0, 3],
      [9, 3],
      [1, 4],
      [1, 0],
    ] as const)
      expect(box.handleMouse(click(x, y))).toBeUndefined();
  });
});

describe("MouseRegion", () => {
  test("asks its child first, and says who wants the focus", () => {
    const target = createTarget({ focus: true });
    const region = new MouseRegion(target, () => ({ handled: true }));
    expect(region.render(3)).toEqual(["a", "b"]);
    expect(region.handleMouse(click(0, 0))).toMatchObject({ handled: true, focus: true, focusTarget: target });
    const silent = new MouseRegion(createTarget(undefined), () => ({ capture: true }));
    expect(silent.handleMouse(click(0, 0))).toEqual({ capture: true });
  });
});

describe("Loader", () => {
  const create = (indicator?: { frames?: string[]; intervalMs?: number }) => {
    const ui = { renders: 0, requestRender: () => void ui.renders++ };
    const loader = new Loader(
      ui,
      (text) => `s${text}`,
      (text) => `m${text}`,
      "Load",
      indicator,
    );
    return { ui, loader };
  };

  test("shows a spinner and a message below an empty line", () => {
    const { loader, ui } = create();
    expect(loader.render(12)).toEqual(["", " s⠋ mLoad   "]);
    expect(loader.render(12)).toBe(loader.render(12));
    loader.setMessage("x");
    expect(loader.render(8)).toEqual(["", " s⠋ mx  "]);
    expect(ui.renders).toBe(2);
    loader.stop();
  });

  test("shows other frames as they are, and none if there are none", () => {
    const { loader } = create({ frames: ["A"] });
    expect(loader.render(9)).toEqual(["", " A mLoad "]);
    loader.setIndicator({ frames: [] });
    expect(loader.render(9)).toEqual(["", " mLoad   "]);
    loader.stop();
  });

  test("moves until it is stopped", async () => {
    const { loader, ui } = create({ frames: ["A", "B"], intervalMs: 1 });
    await expect.poll(() => loader.render(9)[1]).toBe(" B mLoad ");
    loader.stop();
    const { renders } = ui;
    await sleep(20);
    expect(ui.renders).toBe(renders);
  });
});

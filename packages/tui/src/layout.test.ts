import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Component } from "./component.ts";
import { Container } from "./components/container.ts";
import { HStack } from "./components/h-stack.ts";
import { ScrollView } from "./components/scroll-view.ts";
import { allocateStackSizes, type StackEntryOptions } from "./components/stack.ts";
import { VStack } from "./components/v-stack.ts";
import { getLayoutBoxesAt, getScrollViewBox, getScrollViewsAt, renderLayoutFrame } from "./layout.ts";
import { stripTerminalSequences } from "./text/escape.ts";

const lines = (...values: string[]): Component => ({ render: () => values, invalidate: () => {} });
const nothing = lines();
const toEntry = (options: StackEntryOptions) => ({ ...options, component: nothing });

describe("sizes", () => {
  test.each<[string, StackEntryOptions[], number[], number | undefined, number, number[]]>([
    ["fit", [{}, {}], [3, 4], 10, 0, [3, 4]],
    ["shrink by size", [{}, {}], [4, 8], 6, 0, [2, 4]],
    ["grow by weight", [{ grow: 1 }, { grow: 2 }], [3, 4], 20, 1, [7, 12]],
    ["grow from a basis", [{ basis: 0, grow: 1, minSize: 1 }, {}], [99, 5], 20, 0, [15, 5]],
    ["keep a minimum", [{ basis: 0, grow: 1, minSize: 1 }, { minSize: 1 }], [99, 50], 20, 0, [1, 19]],
    ["shrink others instead", [{ shrink: 0 }, {}], [8, 8], 10, 0, [8, 2]],
    ["shrink by weight", [{ shrink: 2 }, { shrink: 1 }], [9, 9], 10, 0, [3, 7]],
    ["may be too large", [{ shrink: 0 }, { shrink: 0 }], [8, 8], 10, 0, [8, 8]],
    ["grow others instead", [{ grow: 1, maxSize: 5 }, { grow: 1 }], [1, 1], 20, 0, [5, 15]],
    ["respect both minima", [{ minSize: 4 }, { minSize: 4 }], [9, 9], 5, 0, [4, 4]],
    ["have no limit", [{ maxSize: 3 }, { grow: 1 }], [9, 2], undefined, 0, [3, 2]],
    ["prefer the minimum to the maximum", [{ minSize: 6, maxSize: 3 }], [1], 10, 0, [6]],
    ["leave room for gaps", [{ grow: 1 }, { grow: 1 }], [0, 0], 10, 2, [4, 4]],
  ])("%s", (_, entries, intrinsic, available, gap, expected) => {
    expect(allocateStackSizes(entries.map(toEntry), intrinsic, available, gap)).toEqual(expected);
  });

  test("are within their limits, and fill the room exactly if one entry without a limit grows and all shrink", () => {
    const option = fc.record({ minSize: fc.nat(3), grow: fc.nat(3), shrink: fc.integer({ min: 1, max: 3 }) });
    const law = fc.property(fc.array(option, { maxLength: 5 }), fc.nat(60), (options, room) => {
      const entries = [...options, { grow: 1, shrink: 1, minSize: 0 }].map(toEntry);
      const sizes = allocateStackSizes(
        entries,
        entries.map((_, index) => index * 4),
        room,
        0,
      );
      for (const [index, size] of sizes.entries()) expect(size).toBeGreaterThanOrEqual(entries[index]?.minSize ?? 0);
      const min = entries.reduce((sum, { minSize = 0 }) => sum + minSize, 0);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(Math.max(min, room));
    });
    fc.assert(law);
  });
});

describe("documents without a limit", () => {
  test("a VStack draws its children below each other, with gaps and sizes", () => {
    const stack = new VStack([lines("a", "b"), { component: lines("c"), basis: 2 }], { gap: 1 });
    stack.addChild(lines("d"), { visible: () => false });
    expect(stack.render(5)).toEqual(["a", "b", "", "c", ""]);
    expect(stack.render(5)).toBe(stack.render(5));
  });

  test("an HStack draws its children beside each other, and no style leaves its column", () => {
    const stack = new HStack([lines("\x1b[1maa", "b"), { component: lines("c"), grow: 1 }], { gap: 1, align: "end" });
    expect(stack.render(10)).toEqual(["\x1b[1maa\x1b[0m\x1b]8;;\x07", "b  c"]);
    expect(stack.render(10)).toBe(stack.render(10));
  });

  test("a stack gives a mouse event to the child that it drew there, in the coordinates of the child", () => {
    const report = (name: string, ...values: string[]): Component => ({
      ...lines(...values),
      handleMouse: ({ x, y, width, height }) => {
        events.push(`${name} at ${x},${y} of ${width}x${height}`);
        return { handled: true };
      },
    });
    const events: string[] = [];
    const children = [
      { component: report("first", "a", "b"), basis: 3 },
      { component: report("hidden", "h"), visible: () => false },
      { component: report("last", "c"), grow: 1 },
    ];
    const press = (stack: Container, x: number, y: number) => {
      const height = stack.render(10).length;
      const place = { x, y, screenX: x, screenY: y, width: 10, height };
      stack.handleMouse({ type: "press", button: "left", ...place, shift: false, alt: false, ctrl: false });
      return events.splice(0);
    };
    const columns = new HStack(children, { gap: 1, align: "end" });
    expect(press(columns, 2, 0)).toEqual(["first at 2,0 of 3x2"]);
    expect(press(columns, 3, 1)).toEqual([]);
    expect(press(columns, 6, 1)).toEqual(["last at 2,0 of 6x1"]);
    expect(press(columns, 6, 0)).toEqual([]);
    const rows = new VStack(children, { gap: 1 });
    expect(press(rows, 1, 2)).toEqual(["first at 1,2 of 10x3"]);
    expect(press(rows, 1, 3)).toEqual([]);
    expect(press(rows, 1, 4)).toEqual(["last at 1,0 of 10x1"]);
  });

  test("a ScrollView draws all of its child, and has exactly one", () => {
    const child = lines("a", "b");
    const view = new ScrollView(child);
    expect(view.render(5)).toBe(child.render(5));
    expect(() => view.addChild(nothing)).toThrow("exactly one child");
  });
});

describe("ScrollView", () => {
  test("follows the end until the user scrolls away, and again from the end on", () => {
    const view = new ScrollView(nothing, { follow: "end" });
    const positions: [number, boolean][] = [];
    const note = () => void positions.push([view.scrollTop, view.isFollowingEnd]);
    const grow = (height: number) => (view.updateLayout(height, 5, () => {}), note());
    grow(20);
    expect(view.scrollBy(-3)).toBe(0);
    grow(25);
    expect(view.scrollBy(100)).toBe(92);
    grow(30);
    view.scrollTo(25, { disableFollow: true });
    grow(35);
    grow(3);
    expect(positions).toEqual([
      [15, true],
      [12, false],
      [25, true],
      [25, false],
      [0, false],
    ]);
  });

  test.each<[string, StackEntryOptions]>([
    ["of a fixed size", { basis: 0, grow: 1 }],
    ["that is as high as its content", {}],
  ])("what is put before a component that is held does not move it, in a view %s", (_, options) => {
    const document = new Container();
    document.children = Array.from({ length: 20 }, (_unused, index) => lines(`line ${index}`));
    const view = new ScrollView(document);
    const root = new VStack([{ ...options, component: view }]);
    renderLayoutFrame(root, 20, 5);
    view.scrollTo(3);
    view.hold(document.children[0] as Component);
    document.children.unshift(lines("new"), lines("newer"));
    expect(renderLayoutFrame(root, 20, 5).lines[0]).toBe("line 3");
  });

  test("an automatic scroll bar is shown after scrolling and hides itself", async () => {
    let renders = 0;
    const view = new ScrollView(nothing, { scrollbar: "auto", scrollbarHideDelayMs: 1 });
    view.updateLayout(20, 5, () => void renders++);
    expect(view.isScrollbarVisible).toBe(false);
    view.scrollBy(1);
    expect([view.isScrollbarVisible, renders]).toEqual([true, 1]);
    await expect.poll(() => [view.isScrollbarVisible, renders]).toEqual([false, 2]);
  });
});

describe("the screen", () => {
  const document = () => lines(...Array.from({ length: 30 }, (_, index) => `line ${index}`));
  const draw = (root: Component, width: number, height: number) =>
    renderLayoutFrame(root, width, height).lines.map((line) => stripTerminalSequences(line).trimEnd());

  test("a view that follows the end fills what the rest leaves", () => {
    const view = new ScrollView(document(), { follow: "end", primary: true });
    const root = new VStack([{ component: view, basis: 0, grow: 1, minSize: 1 }, lines("editor", "footer")]);
    expect(draw(root, 10, 5)).toEqual(["line 27", "line 28", "line 29", "editor", "footer"]);
    expect(renderLayoutFrame(root, 10, 5).primaryScrollView).toBe(view);
    view.scrollTo(2);
    expect(draw(root, 10, 5)).toEqual(["line 2", "line 3", "line 4", "editor", "footer"]);
  });

  test("columns are aligned and keep their places", () => {
    const root = new HStack([lines("a", "b"), { component: lines("c"), grow: 1 }], { gap: 1, align: "end" });
    expect(draw(root, 10, 3)).toEqual(["", "a", "b c"]);
  });

  test("a scroll bar that is always shown has a column of its own", () => {
    expect(draw(new ScrollView(document(), { scrollbar: "always" }), 8, 3)).toEqual([
      "line 0 ┃",
      "line 1 ┃",
      "line 2 │",
    ]);
  });

  test("beside others, a scroll bar that is always shown is as wide as its content and one column", () => {
    const root = new HStack([new ScrollView(lines("12345"), { scrollbar: "always" }), lines("x")], { align: "start" });
    expect(draw(root, 10, 1)).toEqual(["12345┃x"]);
  });

  test("places on the screen are found in the components", () => {
    const view = new ScrollView(document());
    const footer = lines("footer");
    const root = new VStack([{ component: view, basis: 0, grow: 1 }, footer]);
    const frame = renderLayoutFrame(root, 10, 4);
    expect(getLayoutBoxesAt(frame, 2, 3).map(({ component }) => component)).toEqual([footer, root]);
    expect(getScrollViewsAt(frame, 2, 1)).toEqual([view]);
    expect(getScrollViewBox(frame, view)?.rect).toEqual({ x: 0, y: 0, width: 10, height: 3 });
    expect(getLayoutBoxesAt(frame, 10, 0)).toEqual([]);
  });

  test("only lines that are visible are drawn, of a component that can draw some of its lines", () => {
    const asked: [number, number][] = [];
    const child = {
      countLines: () => 1_000_000,
      renderLines: (_width: number, start: number, end: number) => {
        asked.push([start, end]);
        return Array.from({ length: end - start }, (_, index) => `row ${start + index}`);
      },
      render: (): string[] => {
        throw new Error("All lines were drawn.");
      },
      invalidate: () => {},
    };
    const transcript = new Container();
    transcript.addChild(lines("first"));
    transcript.addChild(child);
    transcript.addChild(lines("last"));
    const view = new ScrollView(transcript, { follow: "end" });
    expect(draw(view, 20, 3)).toEqual(["row 999998", "row 999999", "last"]);
    expect(asked).toEqual([[999_998, 1_000_000]]);
  });
});

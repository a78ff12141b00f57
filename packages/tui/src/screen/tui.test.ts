import { describe, expect, test } from "vitest";
import type { Component, Focusable } from "../component.ts";
import { CURSOR_MARKER, renderFakeCursor } from "../component.ts";
import { Text } from "../components/text.ts";
import { VirtualTerminal } from "../testing/index.ts";
import type { OverlayAnchor } from "./overlay-layout.ts";
import { TUI } from "./tui.ts";

class Field implements Component, Focusable {
  focused = false;
  readonly typed: string[] = [];
  wantsKeyRelease = false;
  readonly #lines: string[];

  constructor(...lines: string[]) {
    this.#lines = lines;
  }

  render(): string[] {
    return this.focused ? this.#lines.map((line) => line + CURSOR_MARKER) : this.#lines;
  }

  handleInput(data: string): void {
    this.typed.push(data);
  }

  invalidate(): void {}
}

async function open(columns = 20, rows = 6) {
  const terminal = await VirtualTerminal.create(columns, rows);
  const tui = new TUI(terminal);
  tui.start();
  return { terminal, tui };
}

const box = () => new Field("+--+", "|  |", "+--+");

describe("a frame", () => {
  test("that is forced, and the first one, are there in the next tick", async () => {
    const { terminal, tui } = await open();
    const nextTick = () => new Promise<void>((resolve) => process.nextTick(resolve));
    tui.addChild(new Text("one", 0, 0));
    await nextTick();
    expect(terminal.writes.join("")).toContain("one");
    terminal.writes.length = 0;
    tui.requestRender(true);
    tui.requestRender(true);
    tui.requestRender();
    await nextTick();
    expect(terminal.writes.join("").split("one")).toHaveLength(2);
    terminal.writes.length = 0;
    tui.requestRender(true);
    tui.stop();
    await nextTick();
    expect(terminal.writes.join("").split("one")).toHaveLength(2);
  });

  test("is drawn soon after it is asked for, once for all changes, in one write", async () => {
    const { terminal, tui } = await open();
    const text = new Text("one", 0, 0);
    tui.addChild(text);
    tui.renderNow();
    terminal.writes.length = 0;
    for (const word of ["two", "three", "four"]) {
      text.setText(word);
      tui.requestRender();
    }
    await expect.poll(async () => (await terminal.getViewport())[0]).toBe("four");
    expect(terminal.writes).toHaveLength(1);
    expect(terminal.writes[0]).toMatch(/^\x1b\[\?2026h.*\x1b\[\?2026l$/s);
    tui.stop();
  });

  test("in which nothing changed writes nothing", async () => {
    const { terminal, tui } = await open();
    tui.addChild(new Text("one", 0, 0));
    tui.renderNow();
    terminal.writes.length = 0;
    tui.renderNow();
    expect(terminal.writes).toEqual([]);
    tui.stop();
  });

  test("puts the cursor of the terminal where the component with the focus has its own", async () => {
    const { terminal, tui } = await open();
    const field = new Field("> 日本");
    tui.addChild(new Text("title", 0, 0));
    tui.addChild(field);
    tui.setFocus(field);
    tui.renderNow();
    expect(await terminal.getCursor()).toEqual({ x: 6, y: 1 });
    expect((await terminal.getViewport())[1]).toBe("> 日本");
    tui.stop();
  });

  test("has one cursor: that of the terminal if it is shown, else the one that the component draws", async () => {
    const { terminal, tui } = await open();
    const field = { focused: true, render: () => [`a${CURSOR_MARKER}${renderFakeCursor("b")}c`], invalidate: () => {} };
    tui.addChild(field);
    tui.renderNow();
    const isReversed = async () => {
      await terminal.flush();
      return [0, 1, 2].map((x) => terminal.getCell(x, 0)?.isInverse() !== 0);
    };
    expect(await isReversed()).toEqual([false, true, false]);
    tui.setShowHardwareCursor(true);
    tui.renderNow();
    expect([await isReversed(), (await terminal.getCursor()).x]).toEqual([[false, false, false], 1]);
    tui.setShowHardwareCursor(false);
    tui.renderNow();
    expect(await isReversed()).toEqual([false, true, false]);
    tui.stop();
  });

  test("counts as a full redraw at the start, after a resize, and when what is visible moves up", async () => {
    const { terminal, tui } = await open(20, 4);
    const counts: number[] = [];
    let shown = ["a", "b", "c", "d", "e", "f", "g", "h"];
    tui.addChild({ render: () => shown, invalidate: () => {} });
    tui.renderNow();
    const draw = (lines: string[]) => {
      shown = lines;
      tui.renderNow();
      counts.push(tui.fullRedraws);
    };
    draw(["a", "b", "c", "d", "e", "f", "g", "x"]);
    draw(["a", "b", "c", "d", "e", "f"]);
    draw(["a", "b"]);
    draw(["a", "b", "c"]);
    await terminal.resize(30, 4);
    draw(["a", "b", "c"]);
    draw(["a"]);
    tui.setClearOnShrink(true);
    draw(["a", "b"]);
    draw(["a"]);
    expect(counts).toEqual([1, 2, 3, 3, 4, 4, 4, 5]);
    expect(await terminal.getViewport()).toEqual(["─".repeat(30), "a", "", ""]);
    tui.stop();
  });

  test("that is forced draws all that is visible", async () => {
    const { terminal, tui } = await open();
    tui.addChild(new Text("one", 0, 0));
    tui.renderNow();
    terminal.write("garbage");
    tui.renderNow(true);
    expect(await terminal.getViewport()).toEqual(["one", "", "", "", "", ""]);
    tui.stop();
  });
});

describe("what is typed", () => {
  test("goes to the component with the focus, without releases of keys unless it wants them", async () => {
    const { terminal, tui } = await open();
    const field = new Field("field");
    tui.addChild(field);
    terminal.sendInput("lost");
    tui.setFocus(field);
    terminal.sendInput("a");
    terminal.sendInput("\x1b[97;1:3u");
    field.wantsKeyRelease = true;
    terminal.sendInput("\x1b[97;1:3u");
    expect(field.typed).toEqual(["a", "\x1b[97;1:3u"]);
    tui.stop();
  });

  test("passes all listeners first, which may change or take it", async () => {
    const { terminal, tui } = await open();
    const field = new Field("field");
    tui.setFocus(field);
    const remove = tui.addInputListener((data) => (data === "x" ? { consume: true } : { data: data.toUpperCase() }));
    terminal.sendInput("x");
    terminal.sendInput("y");
    remove();
    terminal.sendInput("z");
    expect(field.typed).toEqual(["Y", "z"]);
    tui.stop();
  });
});

describe("an overlay", () => {
  test.each<[OverlayAnchor, row: number, column: number]>([
    ["top-left", 0, 0],
    ["top-center", 0, 8],
    ["top-right", 0, 16],
    ["left-center", 1, 0],
    ["center", 1, 8],
    ["right-center", 1, 16],
    ["bottom-left", 3, 0],
    ["bottom-center", 3, 8],
    ["bottom-right", 3, 16],
  ])("anchored at %s begins in row %i and column %i", async (anchor, row, column) => {
    const { terminal, tui } = await open();
    const handle = tui.showOverlay(box(), { anchor, width: 4 });
    tui.renderNow();
    const lines = await terminal.getViewport();
    expect(lines.findIndex((line) => line.includes("+--+"))).toBe(row);
    expect(lines[row]?.indexOf("+--+")).toBe(column);
    expect(handle.getBounds()).toEqual({ row, col: column, width: 4, height: 3 });
    tui.stop();
  });

  test("covers what is below it and shows it again afterwards, also wide characters at its edges", async () => {
    const { terminal, tui } = await open();
    for (let index = 0; index < 6; index++) tui.addChild(new Text("日本語日本語日本語", 0, 0));
    tui.renderNow();
    const before = await terminal.getViewport();
    const handle = tui.showOverlay(box(), { row: 1, col: 3, width: 4 });
    tui.renderNow();
    expect((await terminal.getViewport())[1]?.trimEnd()).toBe("日 +--+ 本語日本語");
    handle.hide();
    tui.renderNow();
    expect(await terminal.getViewport()).toEqual(before);
    tui.stop();
  });

  test("never gets into the scrollback, whatever scrolls below it", async () => {
    const { terminal, tui } = await open();
    tui.showOverlay(box(), { anchor: "top-left", width: 4 });
    for (let index = 0; index < 20; index++) {
      tui.addChild(new Text(`line ${index}`, 0, 0));
      tui.renderNow();
    }
    expect(await terminal.getScrollback()).toEqual(Array.from({ length: 14 }, (_unused, index) => `line ${index}`));
    tui.stop();
  });

  test("takes the focus and gives it back, in any order of hiding", async () => {
    const { tui } = await open();
    const [base, first, second] = [new Field("base"), box(), box()];
    tui.setFocus(base);
    const lower = tui.showOverlay(first);
    const upper = tui.showOverlay(second);
    expect(upper.isFocused()).toBe(true);
    lower.hide();
    expect(second.focused).toBe(true);
    upper.hide();
    expect(base.focused).toBe(true);
    expect(tui.hasOverlay()).toBe(false);
    tui.stop();
  });

  test("that is hidden, or not visible at this size, gets no keys", async () => {
    const { terminal, tui } = await open();
    const [base, dialog] = [new Field("base"), box()];
    tui.setFocus(base);
    tui.showOverlay(dialog, { visible: (columns) => columns >= 20 });
    terminal.sendInput("a");
    await terminal.resize(10, 6);
    terminal.sendInput("b");
    expect([dialog.typed, base.typed]).toEqual([["a"], ["b"]]);
    tui.stop();
  });

  test("that does not capture leaves the focus alone until it is asked for", async () => {
    const { tui } = await open();
    const [base, hint] = [new Field("base"), box()];
    tui.setFocus(base);
    const handle = tui.showOverlay(hint, { nonCapturing: true });
    expect(base.focused).toBe(true);
    handle.focus();
    expect(hint.focused).toBe(true);
    handle.unfocus({ target: base });
    expect(base.focused).toBe(true);
    tui.stop();
  });
});

test("when it stops, the last frame stays, and the cursor is below it", async () => {
  const { terminal, tui } = await open();
  tui.addChild(new Text("bye", 0, 0));
  tui.stop();
  expect(await terminal.getViewport()).toEqual(["bye", "", "", "", "", ""]);
  expect(await terminal.getCursor()).toEqual({ x: 0, y: 1 });
});

describe("the first frame", () => {
  test("waits for what start is given, and keys are taken meanwhile", async () => {
    const terminal = await VirtualTerminal.create(20, 6);
    const tui = new TUI(terminal);
    const field = new Field("drawn");
    tui.addChild(field);
    tui.setFocus(field);
    let answer = () => {};
    tui.start(new Promise<void>((resolve) => (answer = resolve)));
    terminal.sendInput("k");
    tui.renderNow();
    expect(field.typed).toEqual(["k"]);
    expect((await terminal.getViewport())[0]).toBe("");
    answer();
    await expect.poll(async () => (await terminal.getViewport())[0]).toBe("drawn");
  });

  test("is never drawn if the interface is stopped before", async () => {
    const terminal = await VirtualTerminal.create(20, 6);
    const tui = new TUI(terminal);
    tui.addChild(new Field("drawn"));
    const ready = Promise.resolve();
    tui.start(ready);
    tui.stop();
    await ready;
    expect(terminal.writes.join("")).not.toContain("drawn");
  });
});

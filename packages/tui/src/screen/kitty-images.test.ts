import { afterEach, describe, expect, test } from "vitest";
import type { Component } from "../component.ts";
import { resetCapabilitiesCache, setCapabilities } from "../terminal/capabilities.ts";
import { deleteKittyImage, encodeKitty, getCellDimensions, setCellDimensions } from "../terminal/images.ts";
import { VirtualTerminal } from "../testing/index.ts";
import { findStaleImages } from "./kitty-images.ts";
import { toLine } from "./line.ts";
import { TuiMainScreen } from "./tui.ts";

const image = (id: number, rows: number) => encodeKitty("AAAA", { columns: 2, rows, imageId: id, moveCursor: false });
const [one, two] = [image(1, 2), image(2, 3)];

describe("an image is stale", () => {
  const toLines = (texts: readonly string[]) => texts.map((text) => toLine(text, 40));
  test.each<[string, string[], string[], ids: number[], rows: number[]]>([
    ["not while nothing changed", [one, "", "after"], [one, "", "after"], [], []],
    ["not if something below it changed", [one, "", "after"], [one, "", "other", "more"], [], []],
    ["not if something above it changed", ["before", one, ""], ["other", one, ""], [], []],
    ["if it is gone", [one, "", "after"], ["text", "", "after"], [1], []],
    ["if it moved", ["before", one, ""], [one, ""], [1], []],
    ["if its document became shorter", ["before", one, ""], ["before"], [1], []],
    ["if text covers one of its rows", [two, "", "", "after"], [two, "", "text", "after"], [2], [0]],
    ["if text covers a row above, to which it may have moved", ["", one, "x"], ["text", one, "x"], [1], [1]],
    ["if another one takes its place", [one, ""], [two, ""], [1], []],
  ])("%s", (_title, before, after, ids, rows) => {
    const stale = findStaleImages(toLines(before), toLines(after));
    expect([stale.bytes, [...stale.rows]]).toEqual([ids.map(deleteKittyImage).join(""), rows]);
  });
});

describe("on the screen", () => {
  const running: TuiMainScreen[] = [];
  const cell = getCellDimensions();
  afterEach(() => {
    for (const tui of running.splice(0)) tui.stop();
    resetCapabilitiesCache();
    setCellDimensions(cell);
  });

  async function open(lines: string[], rows = 6) {
    const terminal = await VirtualTerminal.create(20, rows);
    const tui = new TuiMainScreen(terminal);
    running.push(tui);
    const component: Component & { lines: string[] } = { lines, render: () => component.lines, invalidate: () => {} };
    tui.addChild(component);
    tui.start();
    tui.renderNow();
    const draw = (next: string[]) => {
      component.lines = next;
      terminal.writes.length = 0;
      tui.renderNow();
      return terminal.writes.join("");
    };
    return { terminal, tui, component, draw };
  }

  test("what is gone is taken away before anything is drawn", async () => {
    const { draw } = await open(["top", one, ""]);
    const bytes = draw([one, "", "below"]);
    expect(bytes.indexOf(deleteKittyImage(1))).toBeGreaterThan(-1);
    expect(bytes.indexOf(deleteKittyImage(1))).toBeLessThan(bytes.indexOf(one));
  });

  test("images are drawn after the text and the erasing of their rows", async () => {
    const { draw, terminal } = await open(["a", "bb", "ccc", "dddd"]);
    const bytes = draw(["a", two, "", "", "end"]);
    expect(bytes.lastIndexOf("\x1b[K")).toBeLessThan(bytes.indexOf(two));
    expect(await terminal.getViewport()).toEqual(["a", "", "", "", "end", ""]);
    expect((await terminal.getCursor()).y).toBe(4);
  });

  test("images that leave the screen at once are drawn on their way, and text goes on below", async () => {
    const { draw, terminal } = await open(["a"], 3);
    const bytes = draw(["a", one, "", "b", "c", "d", "e"]);
    expect(bytes.split(one)).toHaveLength(2);
    expect(await terminal.getViewport()).toEqual(["c", "d", "e"]);
    expect(await terminal.getScrollback()).toEqual(["a", "", "", "b"]);
  });

  test("a change elsewhere does not send an image again", async () => {
    const { draw } = await open([one, "", "working"]);
    expect(draw([one, "", "working."])).not.toContain("\x1b_G");
  });

  test("a forced frame and a resize take images away and draw them again", async () => {
    const { terminal, tui, draw } = await open([one, "", "after"]);
    terminal.writes.length = 0;
    tui.renderNow(true);
    const forced = terminal.writes.join("");
    expect(forced.indexOf(deleteKittyImage(1))).toBeLessThan(forced.indexOf(one));
    await terminal.resize(30, 6);
    const resized = draw([one, "", "after"]);
    expect(resized.indexOf(deleteKittyImage(1))).toBeGreaterThan(-1);
    expect(resized).toContain(one);
  });

  test("the terminal is asked for the size of its cells only if it shows images, and its answer is no key", async () => {
    const asked = async () => (await open(["text"])).terminal.writes.join("").includes("\x1b[16t");
    setCapabilities({ images: null, trueColor: true, hyperlinks: true });
    expect(await asked()).toBe(false);
    setCapabilities({ images: "kitty", trueColor: true, hyperlinks: true });
    expect(await asked()).toBe(true);
    const { terminal, tui, component } = await open(["text"]);
    const inputs: string[] = [];
    let invalidated = 0;
    component.invalidate = () => void invalidated++;
    tui.setFocus({ render: () => [], invalidate: () => {}, handleInput: (data) => void inputs.push(data) });
    for (const input of ["\x1b", "\x1b[6;20;10t", "\x1b[6;0;0t", "\x1b[6~", "q"]) terminal.sendInput(input);
    expect([inputs, getCellDimensions()]).toEqual([["\x1b", "\x1b[6~", "q"], { widthPx: 10, heightPx: 20 }]);
    expect(invalidated).toBe(1);
  });
});

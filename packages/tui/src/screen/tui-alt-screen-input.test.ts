/** Tests selected text, the search and the mouse on the alternate screen. */
import { describe, expect, test } from "vitest";
import type { Component } from "../component.ts";
import { Box } from "../components/box.ts";
import { Container } from "../components/container.ts";
import { Input } from "../components/input.ts";
import { MouseRegion } from "../components/mouse-region.ts";
import { Text } from "../components/text.ts";
import type { TuiMouseEvent } from "../mouse.ts";
import { hyperlink } from "../terminal/hyperlink.ts";
import type { VirtualTerminal } from "../testing/index.ts";
import { Lines, open, numbered, openDocument, mouse, send, click } from "../../test/alt-screen-kit.ts";

const getCopied = ({ terminal }: { terminal: VirtualTerminal }) =>
  terminal.writes.flatMap((bytes) =>
    [...bytes.matchAll(/\x1b\]52;c;([^\x07]*)\x07/g)].map(([, data]) => Buffer.from(data ?? "", "base64").toString()),
  );

describe("selected text", () => {
  test("is what is between press and release, without blanks at ends of lines, and is copied", async () => {
    const stage = await openDocument(20);
    send(stage, mouse(0, 1, 1), mouse(32, 3, 2));
    expect(stage.tui.hasActiveSelection()).toBe(true);
    await stage.terminal.flush();
    const isReversed = (x: number, y: number) => stage.terminal.getCell(x, y)?.isInverse() !== 0;
    expect([isReversed(0, 1), isReversed(1, 1), isReversed(29, 1), isReversed(3, 2), isReversed(4, 2)]).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    send(stage, mouse(0, 3, 2, "m"));
    expect(getCopied(stage)).toEqual(["ine 13\nline"]);
    send(stage, ...click(0, 0));
    expect(stage.tui.hasActiveSelection()).toBe(false);
  });

  test("is a word after two clicks and a line after three", async () => {
    const stage = await open(60, 4, { copyOnSelect: false });
    stage.tui.addChild(new Text("see /usr/lib/x.y, it's foo(bar)", 0, 0));
    stage.tui.start();
    stage.tui.renderNow();
    const copied = [];
    send(stage, ...click(6, 0), ...click(6, 0));
    copied.push(await stage.tui.copyActiveSelectionToClipboard());
    send(stage, ...click(6, 0));
    copied.push(await stage.tui.copyActiveSelectionToClipboard());
    expect(copied).toEqual([true, true]);
    expect(getCopied(stage)).toEqual(["/usr/lib/x.y", "see /usr/lib/x.y, it's foo(bar)"]);
  });

  test("stays where it is in the document when one scrolls, and reaches beyond the screen", async () => {
    const stage = await openDocument(40);
    send(stage, mouse(0, 0, 6), mouse(32, 6, 7));
    for (let count = 0; count < 10; count++) send(stage, mouse(64, 2, 2));
    send(stage, mouse(32, 0, 3), mouse(0, 0, 3, "m"));
    expect(getCopied(stage)[0]?.split("\n")).toEqual(["line 25", ...numbered(38).slice(26), "l"]);
  });

  test("scrolls by itself while the mouse is held at an edge", async () => {
    const stage = await openDocument(40);
    send(stage, mouse(0, 3, 4), mouse(32, 0, 0));
    await expect.poll(() => stage.tui.viewportTop).toBeLessThan(30);
    stage.tui.renderNow();
    send(stage, mouse(0, 0, 0, "m"));
    const [first] = getCopied(stage)[0]?.split("\n") ?? [];
    expect(first).toBe(`line ${stage.tui.viewportTop}`);
  });

  test("goes to the program's own clipboard if it has one, and a failure is shown", async () => {
    const copied: string[] = [];
    const copySelection = async (text: string) => copied.push(text) > 1 || "no clipboard here";
    const stage = await openDocument(20, { copySelection, copyOnSelect: false });
    send(stage, ...click(0, 0), ...click(0, 0));
    expect(await stage.tui.copyActiveSelectionToClipboard()).toBe(false);
    stage.tui.renderNow();
    expect((await stage.terminal.getViewport())[0]).toContain("no clipboard here");
    expect(await stage.tui.copyActiveSelectionToClipboard()).toBe(true);
    expect(copied).toEqual(["line", "line"]);
    expect(getCopied(stage)).toEqual([]);
  });
});

describe("the search", () => {
  const openSearch = "\x1b[102;6u";

  test("finds text in the whole document, goes through the matches and shows how many there are", async () => {
    const stage = await openDocument(100);
    send(stage, openSearch, "e", " ", "1", "5");
    expect((await stage.terminal.getViewport())[2]).toContain("1/1");
    expect(stage.tui.viewportTop).toBe(13);
    send(stage, "\x7f");
    // Lines 1 and 10 to 19: from the match that was shown on, the first in what is visible.
    expect((await stage.terminal.getViewport())[2]).toMatch(/5\/11|6\/11/);
    const before = (await stage.terminal.getViewport())[2];
    send(stage, "\r", "\x1b[13;2u");
    expect((await stage.terminal.getViewport())[2]).toBe(before);
    send(stage, "\x1b");
    expect((await stage.terminal.getViewport()).join("")).not.toContain("11");
    expect(stage.tui.hasOverlay()).toBe(false);
  });

  test("ignores case, and takes the end of a line for a blank", async () => {
    const stage = await open(20, 12);
    stage.tui.addChild(new Text("hello wonderful brave new world and\nthe Rest", 0, 0));
    stage.tui.start();
    for (const query of ["wonderful brave", "WORLD", "and the rest"]) {
      send(stage, openSearch, ...query);
      expect((await stage.terminal.getViewport())[2]).toContain("1/1");
      send(stage, openSearch);
    }
  });

  test("has buttons for the mouse", async () => {
    const stage = await openDocument(100);
    send(stage, openSearch, ..."line");
    const row = (await stage.terminal.getViewport())[3] ?? "";
    const count = async () => / (\d+)\/100/.exec((await stage.terminal.getViewport())[2] ?? "")?.[1];
    expect(await count()).toBe("93");
    send(stage, ...click(row.indexOf("↓"), 3));
    expect(await count()).toBe("94");
    send(stage, ...click(row.indexOf("↑"), 3));
    expect(await count()).toBe("93");
  });

  test("searches only what is visible in a frame", async () => {
    const stage = await open();
    const leaves = numbered(2_000).map((line) => new Lines([line]));
    for (const leaf of leaves) stage.tui.addChild(leaf);
    stage.tui.start();
    send(stage, openSearch, ..."line 19");
    const countRenders = () => leaves.reduce((sum, { renders }) => sum + renders, 0);
    const before = countRenders();
    stage.tui.renderNow();
    expect(countRenders() - before).toBeLessThan(500);
  });
});

describe("the mouse", () => {
  test("reaches components by their place: in containers, boxes and what is scrolled", async () => {
    const stage = await open(30, 6);
    const events: TuiMouseEvent[] = [];
    const region = (text: string) =>
      new MouseRegion(new Text(text, 0, 0), (event) => {
        events.push(event);
        return undefined;
      });
    const group = new Container();
    group.addChild(new Text("title", 0, 0));
    const box = new Box(2, 1);
    box.addChild(region("inside"));
    group.addChild(box);
    for (const line of numbered(10)) stage.tui.addChild(new Text(line, 0, 0));
    stage.tui.addChild(group);
    stage.tui.start();
    stage.tui.renderNow();
    send(stage, ...click(4, 4));
    expect(events.map(({ type, x, y, width, height }) => [type, x, y, width, height])).toEqual([
      ["press", 2, 0, 26, 1],
      ["release", 2, 0, 26, 1],
      ["click", 2, 0, 26, 1],
    ]);
  });

  test("stays with a component that captures it, which may take the focus", async () => {
    const stage = await open();
    const events: string[] = [];
    const field: Component & { focused: boolean } = {
      focused: false,
      render: () => ["field"],
      invalidate: () => {},
      handleMouse: (event) => {
        events.push(`${event.type} ${event.x} ${event.y}`);
        return { capture: true, focus: true };
      },
    };
    stage.tui.addChild(new Text("title", 0, 0));
    stage.tui.addChild(field);
    stage.tui.start();
    stage.tui.renderNow();
    send(stage, mouse(0, 2, 1), mouse(32, 9, 5), mouse(0, 9, 5, "m"));
    expect(events).toEqual(["press 2 0", "drag 9 4", "release 9 4"]);
    expect(stage.tui.getFocusedComponent()).toBe(field);
    expect(stage.tui.hasActiveSelection()).toBe(false);
  });

  test("opens a link instead of clicking what is around it", async () => {
    const opened: string[] = [];
    const stage = await open(30, 6, { openUrl: (url) => opened.push(url) });
    const clicks: number[] = [];
    stage.tui.addChild(
      new MouseRegion(new Text(`see ${hyperlink("here", "https://example.org/")} now`, 0, 0), ({ type, x }) => {
        if (type === "click") clicks.push(x);
        return undefined;
      }),
    );
    stage.tui.start();
    stage.tui.renderNow();
    send(stage, ...click(5, 0), ...click(10, 0));
    expect(opened).toEqual(["https://example.org/"]);
    expect(clicks).toEqual([10]);
  });

  test("reaches an overlay, which keeps the focus and hides what is behind it", async () => {
    const stage = await openDocument(20);
    const input = new Input();
    const dialog = new Box(0, 0);
    dialog.addChild(new Text("dialog", 0, 0));
    dialog.addChild(input);
    stage.tui.showOverlay(dialog, { width: 10, row: 2, col: 4 });
    stage.tui.setFocus(null);
    stage.tui.renderNow();
    const top = stage.tui.viewportTop;
    send(stage, mouse(64, 6, 2), ...click(6, 3));
    expect(stage.tui.viewportTop).toBe(top);
    expect(stage.tui.getFocusedComponent()).toBe(dialog);
  });
});

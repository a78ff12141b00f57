import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Container } from "../components/container.ts";
import { Input } from "../components/input.ts";
import { ScrollView } from "../components/scroll-view.ts";
import { SelectList } from "../components/select-list.ts";
import { Text } from "../components/text.ts";
import { VStack } from "../components/v-stack.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { VirtualTerminal } from "../testing/index.ts";
import { isViewportTUI, TuiAltScreen } from "./tui-alt-screen.ts";
import { TUI, TuiMainScreen } from "./tui.ts";
import { Lines, open, numbered, openDocument, mouse, send, click } from "../../test/alt-screen-kit.ts";

describe("the alternate screen", () => {
  test("is entered before the terminal starts and left after it stopped, with the main screen as it was", async () => {
    const terminal = await VirtualTerminal.create(30, 8);
    terminal.write("$ program\r\n");
    const order: string[] = [];
    const recorder: Terminal = {
      columns: 30,
      rows: 8,
      kittyProtocolActive: false,
      start: () => void order.push("start"),
      stop: () => void order.push("stop"),
      write: (data) => {
        for (const [, sign] of data.matchAll(/\x1b\[\?1049([hl])/g)) order.push(sign === "h" ? "enter" : "leave");
        terminal.write(data);
      },
      drainInput: async () => {},
      moveBy: () => {},
      hideCursor: () => {},
      showCursor: () => {},
      clearLine: () => {},
      clearFromCursor: () => {},
      clearScreen: () => {},
      setTitle: () => {},
      setProgress: () => {},
    };
    const tui = new TuiAltScreen(recorder);
    tui.addChild(new Text("one", 0, 0));
    tui.start();
    tui.renderNow();
    expect((await terminal.getViewport())[0]).toBe("one");
    tui.stop({ preserveScreen: true });
    expect(order).toEqual(["enter", "start", "stop", "leave"]);
    expect((await terminal.getViewport()).slice(0, 2)).toEqual(["$ program", ""]);
  });

  test("leaves the end of its document behind, in the scrollback too", async () => {
    const { terminal, tui } = await openDocument(20);
    tui.scrollToTop();
    tui.stop();
    const printed = [...(await terminal.getScrollback()), ...(await terminal.getViewport())];
    expect(printed).toEqual([...numbered(20), ""]);
  });

  test("prints no more than the last thousand lines when it is left, and asks no others", async () => {
    const { terminal, tui } = await open();
    const first = new Lines(["first"]);
    tui.addChild(first);
    for (const line of numbered(1_500)) tui.addChild(new Text(line, 0, 0));
    tui.start();
    tui.renderNow();
    tui.stop();
    const printed = [...(await terminal.getScrollback()), ...(await terminal.getViewport())];
    expect(printed).toEqual([...numbered(1_500).slice(500), ""]);
    expect(first.renders).toBe(0);
  });

  test("is left when the process ends without stop", async () => {
    const { terminal, tui } = await openDocument(3);
    terminal.writes.length = 0;
    for (const listener of process.listeners("exit").slice(-1)) listener(1);
    expect(terminal.writes.join("")).toMatch(/\x1b\[\?1000l.*\x1b\[\?1049l/s);
    tui.stop();
  });

  test("takes the mouse only if asked to", async () => {
    for (const isOn of [true, false]) {
      const { terminal } = await openDocument(3, { mouse: isOn });
      expect(terminal.writes.join("").includes("\x1b[?1006h")).toBe(isOn);
    }
  });

  test("is told from the main screen by its mode and as a viewport", async () => {
    const { tui, terminal } = await open();
    const main: TUI = new TUI(terminal);
    expect(tui.mode).toBe("fullscreen");
    expect(isViewportTUI(tui)).toBe(true);
    expect(main.mode).toBe("regular");
    expect(main).toBeInstanceOf(TuiMainScreen);
    expect(isViewportTUI(main)).toBe(false);
  });
});

describe("a frame", () => {
  test("writes only rows that changed, and nothing if none did", async () => {
    const stage = await openDocument(20);
    const { terminal, tui } = stage;
    terminal.writes.length = 0;
    tui.renderNow();
    expect(terminal.writes).toEqual([]);
    (tui.children[15] as Text).setText("changed");
    tui.renderNow();
    expect(terminal.writes.join("")).toContain("changed");
    expect(terminal.writes.join("")).not.toContain("line");
  });

  test("never clears the screen once it is drawn, also after a resize", async () => {
    const { terminal, tui } = await openDocument(20);
    terminal.writes.length = 0;
    await terminal.resize(20, 5);
    tui.renderNow();
    expect(terminal.writes.join("")).not.toMatch(/\x1b\[[0-3]?J/);
    expect(await terminal.getViewport()).toEqual(numbered(20).slice(15));
    expect(tui.fullRedraws).toBe(2);
  });

  test("costs the same however many lines are above, from the first on", async () => {
    const costs = [];
    for (const count of [1_000, 100_000]) {
      const { terminal, tui } = await open(30, 8);
      const transcript = new Container();
      const leaves = numbered(count).map((line) => new Lines([line.slice(0, 4)]));
      for (const leaf of leaves) transcript.addChild(leaf);
      tui.setLayoutRoot(
        new VStack([
          { component: new ScrollView(transcript, { follow: "end" }), basis: 0, grow: 1 },
          new Text("x", 0, 0),
        ]),
      );
      tui.start();
      tui.renderNow();
      const countRenders = () => leaves.reduce((sum, { renders }) => sum + renders, 0);
      const first = countRenders();
      terminal.writes.length = 0;
      const last = leaves.at(-1) as Lines;
      for (let step = 0; step < 10; step++) {
        last.lines = [`step ${step}`];
        tui.renderNow();
        tui.scrollBy(-1);
        tui.renderNow();
        tui.scrollToBottom();
        tui.renderNow();
      }
      costs.push({ first, later: countRenders() - first, bytes: terminal.writes.join("").length });
    }
    expect(costs[1]).toEqual(costs[0]);
    expect(costs[0]?.first).toBeLessThan(300);
  });

  test("shows the same lines while components above become known", async () => {
    const { terminal, tui } = await open(30, 8);
    // One line is what a component counts that nobody has asked.
    const texts = Array.from({ length: 2_000 }, (_unused, index) => [`${index} a`, `${index} b`, `${index} c`]);
    for (const lines of texts) tui.addChild(new Lines(lines));
    const all = texts.flat();
    tui.start();
    tui.renderNow();
    let expected = all.length - 8;
    for (let page = 0; page < 400; page++) {
      tui.scrollBy(-8);
      tui.renderNow();
      expected -= 8;
      if (page % 40 === 0) expect(await terminal.getViewport()).toEqual(all.slice(expected, expected + 8));
    }
  });
});

/** Actions of a person. */
type Step =
  | { kind: "add"; to: number; lines: string[] }
  | { kind: "change"; index: number; lines: string[] }
  | { kind: "remove"; index: number }
  | { kind: "repeat"; index: number }
  | { kind: "scroll"; lines: number }
  | { kind: "end" }
  | { kind: "resize"; columns: number; rows: number };

const lineText = fc.oneof(
  fc.stringMatching(/^[a-z ]{0,30}$/),
  fc.constantFrom("日本語 text", "\x1b[31mred\x1b[0m and plain", "👩‍👩‍👧 family", "", "tab\there"),
);
const content = fc.array(lineText, { maxLength: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), to: fc.nat(3), lines: content }),
  fc.record({ kind: fc.constant("change" as const), index: fc.nat(20), lines: content }),
  fc.record({ kind: fc.constantFrom("remove" as const, "repeat" as const), index: fc.nat(20) }),
  fc.record({ kind: fc.constant("scroll" as const), lines: fc.integer({ min: -12, max: 12 }) }),
  fc.constant<Step>({ kind: "end" }),
  fc.record({
    kind: fc.constant("resize" as const),
    columns: fc.integer({ min: 5, max: 40 }),
    rows: fc.integer({ min: 2, max: 12 }),
  }),
);

/** Each row with its colors. Whether a blank was written makes no difference. */
async function getCells(terminal: VirtualTerminal): Promise<string[]> {
  await terminal.flush();
  return Array.from({ length: terminal.rows }, (_row, y) =>
    Array.from({ length: terminal.columns }, (_column, x) => {
      const cell = terminal.getCell(x, y);
      const text = cell?.getChars() || " ";
      return text === " " ? " " : `${text}<${cell?.getFgColor()}>`;
    }).join(""),
  );
}

test("after any updates, scrolls and resizes the screen is that of a fresh interface at the same place", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const terminal = await VirtualTerminal.create(20, 6);
      const tui = new TuiAltScreen(terminal);
      const outer = new Container();
      const inner = new Container();
      const containers = [outer, inner, new Container(), tui];
      for (const container of [outer, containers[2] as Container]) tui.addChild(container);
      outer.addChild(inner);
      tui.start();
      for (const change of steps) {
        const children = containers.flatMap((container) => container.children.filter((child) => child instanceof Text));
        if (change.kind === "add") containers[change.to]?.addChild(new Text(change.lines.join("\n"), 0, 0));
        else if (change.kind === "scroll") tui.scrollBy(change.lines);
        else if (change.kind === "end") tui.scrollToBottom();
        else if (change.kind === "resize") await terminal.resize(change.columns, change.rows);
        else if (children.length > 0) {
          const child = children[change.index % children.length] as Text;
          const container = containers.find((candidate) => candidate.children.includes(child)) as Container;
          if (change.kind === "remove") container.removeChild(child);
          else if (change.kind === "repeat") container.addChild(child);
          else child.setText(change.lines.join("\n"));
        }
        tui.renderNow();
      }
      const other = await VirtualTerminal.create(terminal.columns, terminal.rows);
      const fresh = new TuiAltScreen(other);
      for (const child of tui.children) fresh.addChild(child);
      fresh.start();
      fresh.renderNow();
      if (!tui.isFollowingOutput) fresh.scrollBy(tui.viewportTop - fresh.viewportTop);
      fresh.renderNow();
      expect(await getCells(terminal)).toEqual(await getCells(other));
      tui.stop();
      fresh.stop();
    }),
    { numRuns: process.env["TAU_LONG"] ? 60 : 25 },
  );
});

describe("scrolling", () => {
  test("follows the end until one scrolls away, and again from the end on", async () => {
    const stage = await openDocument(20);
    const { terminal, tui } = stage;
    expect(tui.viewportTop).toBe(12);
    send(stage, mouse(64, 2, 2));
    tui.addChild(new Text("more", 0, 0));
    tui.renderNow();
    expect([tui.viewportTop, tui.isFollowingOutput]).toEqual([11, false]);
    send(stage, "\x1b[1;5F");
    tui.addChild(new Text("again", 0, 0));
    tui.renderNow();
    expect((await terminal.getViewport()).at(-1)).toBe("again");
  });

  test.each([
    ["a wheel, by a line", mouse(64, 2, 2), 11],
    ["a wheel with Alt, by five", mouse(64 + 8, 2, 2), 7],
    ["page up, with four lines that stay", "\x1b[5~", 8],
    ["Ctrl and Home, to the top", "\x1b[1;5H", 0],
    ["the key for the previous prompt", "\x1b[1;6A", 10],
  ])("by %s", async (_name, input, top) => {
    const stage = await open();
    for (const [index, line] of numbered(20).entries())
      stage.tui.addChild(new Text((index % 5 === 0 ? "\x1b]133;A\x07" : "") + line, 0, 0));
    stage.tui.start();
    stage.tui.renderNow();
    send(stage, input);
    expect(stage.tui.viewportTop).toBe(top);
  });

  test("goes from prompt to prompt in both directions", async () => {
    const stage = await open();
    for (const [index, line] of numbered(40).entries())
      stage.tui.addChild(new Text((index % 10 === 0 ? "\x1b]133;A\x07" : "") + line, 0, 0));
    stage.tui.start();
    stage.tui.renderNow();
    const tops = ["\x1b[1;6A", "\x1b[1;6A", "\x1b[1;6A", "\x1b[1;6B"].map((key) => {
      send(stage, key);
      return stage.tui.viewportTop;
    });
    expect(tops).toEqual([30, 20, 10, 20]);
  });

  test("takes several lines for a step of the wheel if asked to", async () => {
    const stage = await openDocument(20, { wheelScrollLines: 3 });
    send(stage, mouse(64, 2, 2));
    expect(stage.tui.viewportTop).toBe(9);
  });

  test("leaves the keys for pages to an overlay and to a list with the focus", async () => {
    const stage = await openDocument(40);
    const list = new SelectList(
      numbered(20).map((value) => ({ value, label: value })),
      5,
      { selectedPrefix: String, selectedText: String, description: String, scrollInfo: String, noMatch: String },
    );
    stage.tui.setFocus(list);
    const top = stage.tui.viewportTop;
    send(stage, "\x1b[6~");
    expect(stage.tui.viewportTop).toBe(top);
    expect(list.getSelectedItem()?.value).toBe("line 5");
    stage.tui.setFocus(null);
    stage.tui.showOverlay(new Input());
    send(stage, "\x1b[5~");
    expect(stage.tui.viewportTop).toBe(top);
  });

  test("by the scroll bar: a press jumps, a drag goes on, and the mouse over it shows it", async () => {
    const stage = await open(30, 10);
    const view = new ScrollView(new Lines(numbered(50)), { follow: "end", primary: true, scrollbar: "auto" });
    stage.tui.setLayoutRoot(new VStack([{ component: view, basis: 0, grow: 1 }, new Text("status", 0, 0)]));
    stage.tui.start();
    stage.tui.renderNow();
    expect((await stage.terminal.getViewport())[8]).toBe("line 49");
    send(stage, mouse(35, 29, 2));
    expect((await stage.terminal.getViewport())[8]).toBe("line 49                      █");
    send(stage, mouse(0, 29, 0));
    expect(view.scrollTop).toBe(0);
    send(stage, mouse(32, 29, 4), mouse(0, 29, 4, "m"));
    expect(view.scrollTop).toBe(18);
  });

  test("shows a label at the end of a view that is not at its end, and goes there by a click on it", async () => {
    const stage = await openDocument(20, { scrollToEndIndicator: () => "more below" });
    expect((await stage.terminal.getViewport())[7]).toBe("line 19");
    send(stage, mouse(64, 2, 2));
    expect((await stage.terminal.getViewport())[7]?.trimEnd()).toBe("line 18   more below");
    send(stage, ...click(12, 7));
    expect(stage.tui.isFollowingOutput).toBe(true);
  });
});

test("a flash goes away by itself and shows no control characters", async () => {
  const stage = await openDocument(20);
  stage.tui.flash("done\x1b[31m\x07 now", 5);
  stage.tui.renderNow();
  // Looked at in what was written: on a busy machine it is gone before the screen can be asked.
  expect(stage.terminal.writes.at(-1)).toContain(" done now ");
  await expect.poll(async () => (await stage.terminal.getViewport())[0]).toBe("line 12");
});

describe.each(["regular", "fullscreen"] as const)("in %s mode", (mode) => {
  const create = async () => {
    const terminal = await VirtualTerminal.create(30, 8);
    const tui: TUI = mode === "regular" ? new TUI(terminal) : new TuiAltScreen(terminal);
    tui.start();
    return { terminal, tui };
  };

  test("the terminal is asked for its colors, and its answers reach nobody else", async () => {
    const { terminal, tui } = await create();
    const input = new Input();
    tui.setFocus(input);
    const schemes: string[] = [];
    tui.onTerminalColorSchemeChange((scheme) => schemes.push(scheme));
    const background = tui.queryTerminalBackgroundColor({ timeoutMs: 10_000 });
    const scheme = tui.queryTerminalColorScheme({ timeoutMs: 10_000 });
    expect(terminal.writes.join("")).toContain("\x1b]11;?\x07\x1b[?996n");
    terminal.sendInput("\x1b]11;rgb:ffff/0000/8080\x07");
    terminal.sendInput("\x1b[?997;2n");
    expect(await background).toEqual({ r: 255, g: 0, b: 128 });
    expect(await scheme).toBe("light");
    expect(schemes).toEqual(["light"]);
    expect(input.getValue()).toBe("");
    expect(await tui.queryTerminalBackgroundColor({ timeoutMs: 1 })).toBeUndefined();
    // The answer to that question comes late; one that nobody asked for is for the component.
    const inputs: string[] = [];
    tui.setFocus({ render: () => [], invalidate: () => {}, handleInput: (data) => void inputs.push(data) });
    const report = "\x1b]11;rgb:0000/0000/0000\x07";
    terminal.sendInput(report);
    expect(inputs).toEqual([]);
    terminal.sendInput(report);
    expect(inputs).toEqual([report]);
    tui.stop();
  });

  test("changes between light and dark are reported while it runs", async () => {
    const { terminal, tui } = await create();
    tui.setTerminalColorSchemeNotifications(true);
    tui.stop();
    expect(terminal.writes.join("")).toMatch(/\x1b\[\?2031h.*\x1b\[\?2031l/s);
  });

  test("the key for debugging reaches only its callback", async () => {
    const { terminal, tui } = await create();
    const input = new Input();
    tui.setFocus(input);
    let count = 0;
    tui.onDebug = () => count++;
    terminal.sendInput("\x1b[100;6u");
    expect(count).toBe(1);
    tui.stop();
  });
});

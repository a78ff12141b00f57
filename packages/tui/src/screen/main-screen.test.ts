/** Tests the screen after any frames and resizes, and the scrollback. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Component } from "../component.ts";
import { Container } from "../components/container.ts";
import { VirtualTerminal } from "../testing/index.ts";
import { MainScreen } from "./main-screen.ts";
import type { Size } from "./resize.ts";

class Lines implements Component {
  lines: string[];
  renders = 0;

  constructor(lines: string[]) {
    this.lines = lines;
  }

  set(lines: string[]): void {
    this.lines = lines;
  }

  render(): string[] {
    this.renders++;
    return this.lines;
  }

  invalidate(): void {}
}

class Stage {
  readonly terminal: VirtualTerminal;
  /** Milliseconds. Each frame is long after the one before it. */
  #time = 0;
  readonly screen = new MainScreen(false, () => this.#time);
  readonly transcript = new Container();
  readonly status = new Lines(["status"]);

  private constructor(terminal: VirtualTerminal) {
    this.terminal = terminal;
  }

  static async open(columns = 20, rows = 6): Promise<Stage> {
    return new Stage(await VirtualTerminal.create(columns, rows));
  }

  wait(ms: number): void {
    this.#time += ms;
  }

  draw({ columns, rows }: Size = this.terminal, afterMs = 1_000): string {
    this.#time += afterMs;
    const bytes = this.screen.draw([this.transcript, this.status], { columns, rows });
    if (bytes !== "") this.terminal.write(bytes);
    return bytes;
  }

  add(...lines: string[]): Lines {
    const component = new Lines(lines);
    this.transcript.addChild(component);
    return component;
  }
}

const numbered = (count: number, start = 1) =>
  Array.from({ length: count }, (_unused, index) => `line ${start + index}`);

/** Draws a document at once on a terminal of this size. */
function fresh(lines: readonly string[], rows: number): string[] {
  const shown = lines.slice(-rows);
  return [...shown, ...Array.from({ length: rows - shown.length }, () => "")];
}

describe("the main screen", () => {
  test("shows the end of the document, and the terminal keeps the rest", async () => {
    const stage = await Stage.open();
    stage.add(...numbered(10));
    stage.draw();
    expect(await stage.terminal.getViewport()).toEqual(["line 6", "line 7", "line 8", "line 9", "line 10", "status"]);
    expect(await stage.terminal.getScrollback()).toEqual(numbered(5));
  });

  test("writes nothing if nothing changed", async () => {
    const stage = await Stage.open();
    stage.add(...numbered(10));
    stage.draw();
    expect(stage.draw()).toBe("");
  });

  test("writes only the end of a line that grew", async () => {
    const stage = await Stage.open();
    const open = stage.add("Hello");
    stage.draw();
    open.set(["Hello, world"]);
    const bytes = stage.draw();
    expect(bytes).toContain(", world");
    expect(bytes).not.toContain("Hello");
    expect((await stage.terminal.getViewport())[0]).toBe("Hello, world");
  });

  test("never asks a component again that has left the screen", async () => {
    const stage = await Stage.open();
    const first = stage.add("first");
    for (let index = 0; index < 100; index++) {
      stage.add(`entry ${index}`);
      stage.draw();
    }
    const { renders } = first;
    stage.add("last");
    stage.draw();
    expect(first.renders).toBe(renders);
    expect(renders).toBeLessThan(10);
  });

  test("never erases the scrollback nor the whole screen while it grows", async () => {
    const stage = await Stage.open();
    let bytes = "";
    for (let index = 0; index < 30; index++) {
      stage.add(`entry ${index}`);
      bytes += stage.draw();
    }
    expect(bytes).not.toContain("\x1b[3J");
    expect(bytes).not.toContain("\x1b[2J");
    expect(bytes).not.toContain("\x1b[J");
  });

  test("never erases from the first cell on, since tmux would move the whole screen into its scrollback", async () => {
    const stage = await Stage.open();
    stage.add(...numbered(3));
    stage.draw();
    for (const rows of [8, 4, 6]) {
      await stage.terminal.resize(30, rows);
      const bytes = stage.draw();
      expect(bytes).toContain("\x1b[C\x1b[J");
      expect(bytes).not.toMatch(/(?:\r|\x1b\[H|\x1b\[\d+A)\x1b\[J/);
    }
    expect(stage.screen.forget()).not.toMatch(/\r\x1b\[J/);
  });

  test("what was drawn for a size that was not there any more, and is there again, is drawn again", async () => {
    const stage = await Stage.open(20, 10);
    stage.add(...numbered(3));
    stage.status.set(["a", "b", "c", "d"]);
    stage.draw();
    const { columns, rows } = stage.terminal;
    await stage.terminal.resize(columns, 3);
    stage.add(...numbered(10, 4));
    stage.draw({ columns, rows });
    await stage.terminal.resize(columns, rows);
    const printed = async () => [...(await stage.terminal.getScrollback()), ...(await stage.terminal.getViewport())];
    expect(await printed()).not.toEqual(expect.arrayContaining(numbered(13)));
    expect(stage.screen.noteSize({ columns, rows })).toBe(true);
    stage.draw({ columns, rows }, 100);
    expect(await printed()).toEqual(expect.arrayContaining(numbered(13)));
    expect(await stage.terminal.getViewport()).toEqual([...numbered(6, 8), ...stage.status.lines]);
    // Where nothing was drawn meanwhile, the screen is as it was.
    stage.wait(1_000);
    expect(stage.screen.noteSize({ columns, rows })).toBe(false);
    expect(stage.draw()).toBe("");
  });

  test("a change above the screen stays invisible, and nothing is printed twice", async () => {
    const stage = await Stage.open();
    const first = stage.add("first");
    stage.add(...numbered(10));
    stage.draw();
    first.set(["first", "changed", "grown"]);
    stage.draw();
    stage.add("last");
    stage.draw();
    expect(await stage.terminal.getViewport()).toEqual(["line 7", "line 8", "line 9", "line 10", "last", "status"]);
    expect(await stage.terminal.getScrollback()).toEqual(["first", ...numbered(6)]);
  });

  test("a document that shrinks shows again what had left, and later does not print it twice", async () => {
    const stage = await Stage.open();
    stage.add(...numbered(10));
    const dialog = stage.add("a", "b", "c");
    stage.draw();
    dialog.set([]);
    stage.draw();
    expect(await stage.terminal.getViewport()).toEqual([...numbered(5, 6), "status"]);
    stage.add(...numbered(10, 11));
    stage.draw();
    expect(await stage.terminal.getViewport()).toEqual([...numbered(5, 16), "status"]);
    expect(await stage.terminal.getScrollback()).toEqual(numbered(15));
  });

  test("what is ephemeral never gets into the scrollback, also if it is higher than the screen", async () => {
    const stage = await Stage.open();
    stage.add(...numbered(3));
    const open = stage.add("open");
    const dialog = new Lines(Array.from({ length: 9 }, (_unused, index) => `dialog ${index}`));
    Object.assign(dialog, { isEphemeral: true });
    stage.transcript.addChild(dialog);
    stage.draw();
    // It is in the way, and what grows above it is printed nevertheless.
    open.set(["open", ...numbered(9, 4)]);
    stage.draw();
    expect((await stage.terminal.getViewport())[0]).toBe("dialog 4");
    stage.transcript.removeChild(dialog);
    stage.draw();
    expect(await stage.terminal.getViewport()).toEqual([...numbered(5, 8), "status"]);
    expect(await stage.terminal.getScrollback()).toEqual([...numbered(3), "open", ...numbered(9, 4)]);
  });
});

describe("after any", () => {
  type Step =
    | { kind: "add"; count: number }
    | { kind: "status"; count: number }
    | { kind: "resize"; columns: number; rows: number };
  const add = fc.record({ kind: fc.constant("add" as const), count: fc.integer({ min: 1, max: 9 }) });
  const status = fc.record({ kind: fc.constant("status" as const), count: fc.integer({ min: 0, max: 4 }) });
  const resize = fc.record({
    kind: fc.constant("resize" as const),
    columns: fc.integer({ min: 12, max: 40 }),
    rows: fc.integer({ min: 3, max: 12 }),
  });

  /** Returns all lines that were added, the screen, and those of them that are in the scrollback. */
  async function play(steps: readonly Step[]) {
    const stage = await Stage.open(20, 6);
    let printed = 0;
    stage.draw();
    for (const action of steps) {
      if (action.kind === "add") {
        stage.add(...numbered(action.count, printed + 1));
        printed += action.count;
      } else if (action.kind === "status") stage.status.set(numbered(action.count, 1000));
      else await stage.terminal.resize(action.columns, action.rows);
      stage.draw();
    }
    const lines = numbered(printed);
    const viewport = await stage.terminal.getViewport();
    // After another width, what is drawn again begins below a rule.
    const drawn = viewport.slice(viewport.findLastIndex((line) => /^─+$/.test(line)) + 1);
    const expected = fresh([...lines, ...stage.status.lines], stage.terminal.rows);
    expect(drawn).toEqual(expected.slice(0, drawn.length));
    expect(expected.slice(drawn.length).every((line) => line === "")).toBe(true);
    const isFinished = (line: string) => /^line \d{1,3}$/.test(line);
    return { lines, viewport, scrollback: (await stage.terminal.getScrollback()).filter(isFinished) };
  }

  const steps = (...kinds: fc.Arbitrary<Step>[]) => fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 12 });

  test.each([
    ["additions and resizes", steps(add, resize)],
    ["additions, growth and shrinking", steps(add, status)],
  ])(
    "%s the screen is that of a fresh terminal, and the scrollback has every line exactly once",
    async (_name, all) => {
      await fc.assert(
        fc.asyncProperty(all, async (actions) => {
          const { lines, viewport, scrollback } = await play(actions);
          expect(scrollback).toEqual(lines.slice(0, scrollback.length));
          expect([...scrollback, ...viewport]).toEqual(expect.arrayContaining(lines));
        }),
        { numRuns: process.env["TAU_LONG"] ? 60 : 25 },
      );
    },
  );

  // A terminal that becomes smaller may push lines out that are shown for the second time.
  test("changes and resizes the screen is that of a fresh terminal, and no line is lost", async () => {
    await fc.assert(
      fc.asyncProperty(steps(add, status, resize), async (actions) => {
        const { lines, viewport, scrollback } = await play(actions);
        expect([...scrollback, ...viewport]).toEqual(expect.arrayContaining(lines));
      }),
      { numRuns: process.env["TAU_LONG"] ? 60 : 25 },
    );
  });
});

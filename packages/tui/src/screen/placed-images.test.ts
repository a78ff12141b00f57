import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Component } from "../component.ts";
import { Image } from "../components/image.ts";
import {
  getCapabilities,
  resetCapabilitiesCache,
  setCapabilities,
  setCapabilityOverrides,
} from "../terminal/capabilities.ts";
import { deleteKittyImage, encodeKitty } from "../terminal/images.ts";
import { VirtualTerminal } from "../testing/index.ts";
import type { OverlayHandle } from "./overlays.ts";
import { TuiAltScreen } from "./tui-alt-screen.ts";

const running: TuiAltScreen[] = [];
beforeEach(() => setCapabilities({ images: "kitty", trueColor: true, hyperlinks: true }));
afterEach(() => {
  for (const tui of running.splice(0)) tui.stop();
  resetCapabilitiesCache();
});

class Lines implements Component {
  lines: string[];

  constructor(lines: string[]) {
    this.lines = lines;
  }

  render = () => this.lines;
  invalidate = () => {};
}

/** The first bytes of a PNG with ten pixels for each column and twenty for each row. */
function createPng(columns: number, rows: number): string {
  const file = Buffer.alloc(24);
  file.write("89504e470d0a1a0a", "hex");
  file.writeUInt32BE(columns * 10, 16);
  file.writeUInt32BE(rows * 20, 20);
  return file.toString("base64");
}

const drawImage = (id: number, columns: number, rows: number): string[] => [
  encodeKitty(createPng(columns, rows), { columns, rows, imageId: id, moveCursor: false }),
  ...Array.from({ length: rows - 1 }, () => ""),
];

interface ShownPart {
  row: number;
  column: number;
  keys: Map<string, number>;
}

/** Models what a terminal with Kitty's protocol has and shows after these bytes. */
class KittyModel {
  readonly data = new Map<number, string>();
  readonly parts = new Map<string, ShownPart>();
  /** How many characters of data were sent. */
  received = 0;

  write(bytes: string): void {
    const commands = /(?:\x1b\[(\d+);(\d+)H)?\x1b_G([^;\x1b]*)(?:;([^\x1b]*))?\x1b\\/g;
    for (const [, row, column, control = "", payload = ""] of bytes.matchAll(commands)) {
      const pairs = new Map(control.split(",").map((pair) => [pair.slice(0, 1), pair.slice(2)]));
      const id = Number(pairs.get("i"));
      const key = `${id}/${pairs.get("p")}`;
      if (pairs.get("a") === "t") {
        this.#delete(id);
        this.data.set(id, payload);
        this.received += payload.length;
      } else if (pairs.get("a") === "p") {
        if (!this.data.has(id)) throw new Error(`There is no data of image ${id}.`);
        const keys = new Map([...pairs].map(([name, value]) => [name, Number(value)]));
        this.parts.set(key, { row: Number(row) - 1, column: Number(column) - 1, keys });
      } else if (pairs.get("d") === "i") this.parts.delete(key);
      else if (pairs.get("d") === "I") this.#delete(id);
      else throw new Error(`The command ${control} is not known.`);
    }
  }

  /** For each cell with an image: which one, and the first pixel of it that is there. */
  get cells(): string[] {
    const cells: string[] = [];
    for (const [key, { row, column, keys }] of this.parts) {
      const get = (name: string) => keys.get(name) ?? 0;
      for (let y = 0; y < get("r"); y++) {
        for (let x = 0; x < get("c"); x++) {
          // Parts have ten pixels in each column and twenty in each row, or are whole images, which have too.
          cells.push(`${row + y},${column + x}: ${key.split("/")[0]} ${get("x") + x * 10},${get("y") + y * 20}`);
        }
      }
    }
    return cells.sort();
  }

  #delete(id: number): void {
    this.data.delete(id);
    for (const key of this.parts.keys()) if (key.startsWith(`${id}/`)) this.parts.delete(key);
  }
}

async function open(lines: string[], rows = 6) {
  const terminal = await VirtualTerminal.create(20, rows);
  const tui = new TuiAltScreen(terminal);
  running.push(tui);
  const component = new Lines(lines);
  tui.addChild(component);
  tui.start();
  const model = new KittyModel();
  const draw = () => {
    tui.renderNow();
    const bytes = terminal.writes.splice(0).join("");
    model.write(bytes);
    return bytes;
  };
  draw();
  return { terminal, tui, component, model, draw };
}

/** The cells of an image at a place, of which rows `from` to `to` are seen. */
const toCells = (id: number, { row, column = 0, columns, from = 0, to }: CellRange): string[] =>
  Array.from({ length: to - from }, (_unused, y) =>
    Array.from({ length: columns }, (_same, x) => `${row + y},${column + x}: ${id} ${x * 10},${(from + y) * 20}`),
  )
    .flat()
    .sort();

interface CellRange {
  row: number;
  column?: number;
  columns: number;
  from?: number;
  to: number;
}

const document = ["top", ...drawImage(7, 4, 3), "a", "b", "c", "d", "e", "f"];

describe("in the full screen, an image", () => {
  test("is cut where it is scrolled over an edge, and its data is sent only once", async () => {
    const { tui, model, draw } = await open(document, 4);
    expect([model.cells, model.received]).toEqual([[], 0]);
    const { length } = createPng(4, 3);
    for (const [top, range] of [
      [3, { row: 0, columns: 4, from: 2, to: 3 }],
      [2, { row: 0, columns: 4, from: 1, to: 3 }],
      [1, { row: 0, columns: 4, to: 3 }],
      [0, { row: 1, columns: 4, to: 3 }],
      [2, { row: 0, columns: 4, from: 1, to: 3 }],
    ] as const) {
      tui.scrollBy(top - tui.viewportTop);
      draw();
      expect([top, model.cells, model.received]).toEqual([top, toCells(7, range), length]);
    }
    tui.scrollToBottom();
    const bytes = draw();
    expect([model.cells, model.parts.size, model.data.size]).toEqual([[], 0, 1]);
    expect(bytes).not.toContain("a=t");
    tui.scrollToTop();
    draw();
    expect([model.cells, model.received]).toEqual([toCells(7, { row: 1, columns: 4, to: 3 }), length]);
  });

  test("is cut at the bottom of the screen", async () => {
    const { tui, model, draw } = await open(document, 3);
    tui.scrollToTop();
    draw();
    expect(model.cells).toEqual(toCells(7, { row: 1, columns: 4, to: 2 }));
  });

  test("is taken away before text is written, and placed after it", async () => {
    const { tui, draw } = await open(document, 4);
    tui.scrollToTop();
    draw();
    tui.scrollBy(1);
    const bytes = draw();
    const [removed, erased, placed] = ["a=d,d=i", "\x1b[K", "a=p"].map((part) => bytes.indexOf(part));
    expect(removed).toBeGreaterThan(-1);
    expect(erased).toBeGreaterThan(removed as number);
    expect(bytes.lastIndexOf("\x1b[K")).toBeLessThan(placed as number);
  });

  test("costs nothing while its rows stay as they are, and leaves the cursor where it was", async () => {
    const { tui, component, draw, terminal } = await open(document, 8);
    tui.scrollToTop();
    draw();
    expect(draw()).toBe("");
    const before = await terminal.getCursor();
    component.lines = component.lines.with(4, "changed");
    expect(draw()).not.toContain("\x1b_G");
    expect((await terminal.getViewport())[4]).toBe("changed");
    component.lines = ["other", ...component.lines.slice(1)];
    draw();
    expect(await terminal.getCursor()).toEqual(before);
    expect(await terminal.getViewport()).toEqual(["other", "", "", "", "changed", "b", "c", "d"]);
  });

  test("is shown around what covers it, and whole again without it", async () => {
    const { tui, model, draw } = await open([...drawImage(1, 6, 4), "text"]);
    const whole = model.cells;
    expect(whole).toEqual(toCells(1, { row: 0, columns: 6, to: 4 }));
    // In two rows, with blanks in it.
    const overlay = tui.showOverlay(new Lines(["x ", "  "]), { row: 1, col: 2, width: 2 });
    draw();
    const isCovered = (cell: string) => /^[12],[23]:/.test(cell);
    expect(model.cells).toEqual(whole.filter((cell) => !isCovered(cell)));
    overlay.setHidden(true);
    draw();
    expect(model.cells).toEqual(whole);
    tui.flash("!", 60_000);
    draw();
    expect(model.cells).toEqual(whole);
    tui.flash("so long a flash", 60_000);
    draw();
    expect(model.cells.length).toBeLessThan(whole.length);
  });

  test("may be in an overlay, which others cover", async () => {
    const { tui, model, draw } = await open(["text"]);
    tui.showOverlay(new Lines(drawImage(3, 4, 2)), { row: 2, col: 5, width: 4 });
    draw();
    const whole = toCells(3, { row: 2, column: 5, columns: 4, to: 2 });
    expect(model.cells).toEqual(whole);
    const front = tui.showOverlay(new Lines(["cover"]), { row: 3, col: 0, width: 20 });
    draw();
    expect(model.cells).toEqual(whole.filter((cell) => cell.startsWith("2,")));
    front.hide();
    draw();
    expect(model.cells).toEqual(whole);
  });

  test("is placed again after a resize, without its data, and sent again after a forced frame", async () => {
    const { terminal, tui, model, draw } = await open(document, 8);
    tui.scrollToTop();
    draw();
    const { received } = model;
    await terminal.resize(30, 4);
    expect(draw()).toContain("a=p");
    expect([model.cells, model.received]).toEqual([toCells(7, { row: 1, columns: 4, to: 3 }), received]);
    tui.renderNow(true);
    draw();
    expect([model.cells, model.received]).toEqual([toCells(7, { row: 1, columns: 4, to: 3 }), 2 * received]);
  });

  test("is replaced where its data changed", async () => {
    const { component, model, draw } = await open(drawImage(1, 4, 3));
    component.lines = drawImage(1, 4, 2);
    draw();
    expect([model.cells, model.data.get(1)]).toEqual([toCells(1, { row: 0, columns: 4, to: 2 }), createPng(4, 2)]);
    component.lines = [];
    draw();
    expect(model.parts.size).toBe(0);
  });

  test("without an id is sent once, and one of unknown size is shown only as a whole", async () => {
    const withoutId = encodeKitty(createPng(2, 2), { columns: 2, rows: 2, moveCursor: false });
    const unknown = encodeKitty("AAAA", { columns: 2, rows: 2, imageId: 5, moveCursor: false });
    const { tui, model, draw } = await open([withoutId, "", unknown, "", "a", "b", "c"], 4);
    tui.scrollToTop();
    draw();
    expect([model.cells.length, model.data.size]).toEqual([8, 2]);
    tui.scrollBy(1);
    draw();
    expect([model.cells.length, model.data.size]).toEqual([6, 2]);
    tui.scrollBy(2);
    draw();
    expect([model.cells, model.data.size]).toEqual([[], 2]);
  });

  test("of hostile data is not sent, and other commands in lines are left out", async () => {
    const hostile = "\x1b_Ga=T,f=100,c=2,r=1,i=1;AA\x1b]52;c;AA\x07\x1b\\";
    const { terminal } = await open([hostile, "\x1b_Ga=d,d=A\x1b\\text", "\x1b_Ga=T,c=1,r=1;AA"]);
    expect(terminal.writes.join("")).not.toMatch(/\x1b_G|\x1b]52/);
    expect((await terminal.getViewport()).slice(0, 2)).toEqual(["", "text"]);
  });

  test("is deleted with its data before the screen is left, and printed as text", async () => {
    const { terminal, tui } = await open([]);
    tui.addChild(new Image(createPng(4, 3), "image/png", { fallbackColor: (text) => text }, { imageId: 9 }));
    tui.renderNow();
    terminal.writes.length = 0;
    tui.stop();
    const bytes = terminal.writes.join("");
    expect(bytes.indexOf(deleteKittyImage(9))).toBeGreaterThan(-1);
    expect(bytes.indexOf(deleteKittyImage(9))).toBeLessThan(bytes.indexOf("\x1b[?1049l"));
    expect(bytes.slice(bytes.indexOf("\x1b[?1049l"))).not.toContain("\x1b_G");
    expect((await terminal.getViewport())[0]).toBe("[Image: [image/pn...");
    terminal.writes.length = 0;
    tui.start();
    tui.renderNow();
    expect(terminal.writes.join("")).toContain("a=p,q=2,C=1,i=9");
  });

  test("is deleted if the process ends without stop", async () => {
    const { terminal } = await open(drawImage(1, 4, 3));
    terminal.writes.length = 0;
    for (const listener of process.listeners("exit").slice(-1)) listener(1);
    expect(terminal.writes.join("")).toMatch(/a=d,d=I,i=1,.*\x1b\[\?1049l/s);
  });

  test.each([null, "iterm2"] as const)("is text where the protocol is %s", async (images) => {
    setCapabilities({ images, trueColor: true, hyperlinks: true });
    const { terminal, tui } = await open([]);
    tui.addChild(new Image("AAAA", "image/png", { fallbackColor: (text) => text }, {}, { widthPx: 4, heightPx: 4 }));
    tui.renderNow();
    expect((await terminal.getViewport())[0]).toBe("[Image: [image/pn...");
    expect(terminal.writes.join("")).not.toMatch(/\x1b_G|\x1b]1337/);
  });

  test("stays text when the user changes what the terminal can do, and the change counts at once", async () => {
    resetCapabilitiesCache();
    setCapabilityOverrides({ images: "iterm2", hyperlinks: true });
    onTestFinished(() => setCapabilityOverrides({}));
    const { tui } = await open([]);
    setCapabilityOverrides({ images: "iterm2", hyperlinks: false });
    expect(getCapabilities()).toMatchObject({ images: null, hyperlinks: false });
    tui.stop();
    expect(getCapabilities()).toMatchObject({ images: "iterm2", hyperlinks: false });
    setCapabilityOverrides({ images: null, hyperlinks: true });
    expect(getCapabilities()).toMatchObject({ images: null, hyperlinks: true });
  });
});

type Act = ["scroll", number] | ["resize", number] | ["overlay", number, number, number] | ["insert", number];

const anyAct: fc.Arbitrary<Act> = fc.oneof(
  fc.tuple(fc.constant("scroll" as const), fc.integer({ min: -8, max: 8 })),
  fc.tuple(fc.constant("resize" as const), fc.integer({ min: 2, max: 12 })),
  fc.tuple(fc.constant("overlay" as const), fc.nat(8), fc.nat(8), fc.integer({ min: 1, max: 4 })),
  fc.tuple(fc.constant("insert" as const), fc.nat(3)),
);

test("after whatever happens, the images are where a new screen would show them", async () => {
  const acts = fc.array(anyAct, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(acts, async (list) => {
      const lines = ["0", ...drawImage(1, 6, 4), "5", ...drawImage(2, 3, 2), "8", "9", ...drawImage(1, 6, 4), "14"];
      const { terminal, tui, component, model, draw } = await open(lines);
      let overlay: OverlayHandle | undefined;
      for (const [kind, ...values] of list) {
        const [first = 0, second = 0, third = 0] = values;
        if (kind === "scroll") tui.scrollBy(first);
        else if (kind === "resize") await terminal.resize(20, first);
        else if (kind === "insert") component.lines = [...Array<string>(first).fill("+"), ...component.lines];
        else {
          overlay?.hide();
          const cover = new Lines(Array<string>(third).fill("#"));
          overlay = tui.showOverlay(cover, { row: first, col: second, width: 3 });
        }
        draw();
      }
      const bounds = overlay?.getBounds();
      const isCovered = (row: number, column: number) =>
        bounds !== undefined &&
        row >= bounds.row &&
        row < bounds.row + bounds.height &&
        column >= bounds.col &&
        column < bounds.col + bounds.width;
      const expected: string[] = [];
      for (const [index, line] of component.lines.entries()) {
        const [, columns, rows, id] = /c=(\d+),r=(\d+),i=(\d+)/.exec(line)?.map(Number) ?? [];
        if (!columns || !rows) continue;
        for (let y = 0; y < rows; y++) {
          for (let x = 0; x < columns; x++) {
            const row = index + y - tui.viewportTop;
            if (row < 0 || row >= terminal.rows || isCovered(row, x)) continue;
            expected.push(`${row},${x}: ${id} ${x * 10},${y * 20}`);
          }
        }
      }
      tui.stop();
      expect(model.cells).toEqual(expected.sort());
    }),
    { numRuns: process.env["TAU_LONG"] ? 50 : 20 },
  );
});

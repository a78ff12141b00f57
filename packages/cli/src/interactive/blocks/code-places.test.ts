import type { CodePlace, DebuggerStop } from "@tau/protocol/surface";
import { setKeybindings, stripTerminalSequences, visibleWidth } from "@tau/tui";
import { beforeEach, describe, expect, test } from "vitest";
import { createKeybindings } from "../keybindings.ts";
import { Themes } from "../themes.ts";
import { drawCode } from "./cell.ts";
import { drawOutput, type ToolOutput } from "./tool-result.ts";

const { theme } = new Themes({ mode: "truecolor", files: [] });

beforeEach(() => setKeybindings(createKeybindings()));

interface Wish {
  expanded?: boolean;
  width?: number;
}

const drawRaw = (
  shows: Parameters<typeof drawOutput>[0],
  output: Partial<ToolOutput>,
  { expanded = false, width = 60 }: Wish = {},
): string[] =>
  drawOutput(shows, { text: "", details: undefined, isError: false, ...output }, { theme, expanded, width });

const draw = (...args: Parameters<typeof drawRaw>): string[] => drawRaw(...args).map(stripTerminalSequences);

const problem: CodePlace = {
  path: "src/a.ts",
  line: 12,
  column: 5,
  severity: "error",
  message: "Type 'string' is not a number.",
  source: "ts 2322",
  excerpt: { firstLine: 9, lines: ["function f() {", "\tconst a = 1;", "", "\tconst b: number = a;", "}"] },
};

describe("places", () => {
  test("are one line each, with the severity as a word and a color", () => {
    const places: CodePlace[] = [
      problem,
      { path: "src/b.ts", line: 3, severity: "warning", message: "Unused." },
      { path: "src/b.ts", line: 4, severity: "info", message: "Try it." },
      { path: "src/b.ts", line: 5, severity: "hint", message: "Shorter." },
      { path: "src/c.ts", line: 7, column: 10, name: "run", kind: "function" },
    ];
    const drawn = drawRaw("places", { text: "for the model", details: { places } });
    expect(drawn.map(stripTerminalSequences)).toEqual([
      "src/a.ts:12:5 error Type 'string' is not a number. (ts 2322)",
      "src/b.ts:3 warning Unused.",
      "src/b.ts:4 info Try it.",
      "src/b.ts:5 hint Shorter.",
      "src/c.ts:7:10 function run",
      "… show the code (ctrl+o)",
    ]);
    const colors = (["error", "warning", "accent", "muted"] as const).map((color) => theme.getFgAnsi(color));
    expect(new Set(colors).size).toBe(4);
    for (const [index, color] of colors.entries()) expect(drawn[index]).toContain(color);
  });

  test("have their code when they are expanded, with the line marked", () => {
    expect(draw("places", { details: { places: [problem] } }, { expanded: true })).toEqual([
      "src/a.ts:12:5 error Type 'string' is not a number. (ts 2322)",
      "   9 function f() {",
      "  10 \tconst a = 1;",
      "  11 ",
      "> 12 \tconst b: number = a;",
      "  13 }",
    ]);
  });

  test("are folded after six, and counted beyond what is kept of them", () => {
    const places = Array.from({ length: 2_500 }, (_, index) => ({ path: "a", line: index + 1 }));
    expect(draw("places", { details: { places } })).toEqual([
      "a:1",
      "a:2",
      "a:3",
      "a:4",
      "a:5",
      "a:6",
      "… 2494 more places (ctrl+o)",
    ]);
    const expanded = draw("places", { details: { places } }, { expanded: true });
    expect(expanded).toHaveLength(1_001);
    expect(expanded.at(-1)).toBe("… 1500 more places");
  });

  test("that are none leave the text, and a call that failed says why", () => {
    expect(draw("places", { text: "No problems.", details: { places: [] } })).toEqual(["No problems."]);
    expect(draw("places", { text: "No problems." })).toEqual(["No problems."]);
    expect(draw("places", { text: "No server.", isError: true, details: { places: [problem] } })).toEqual([
      "No server.",
    ]);
  });

  test.each([1, 2, 8, 20])("take two rows each in %i columns, and no row is wider", (width) => {
    const long = { ...problem, path: `${"very/".repeat(50)}long.ts`, message: "word ".repeat(500) };
    const drawn = drawRaw("places", { details: { places: [long, long] } }, { width });
    for (const row of drawn.slice(0, -1)) expect(visibleWidth(row)).toBeLessThanOrEqual(width);
    expect(drawn).toHaveLength(5);
    const expanded = drawRaw("places", { details: { places: [long] } }, { width, expanded: true });
    for (const row of expanded) expect(visibleWidth(row)).toBeLessThanOrEqual(Math.max(width, 2));
  });
});

const stop: DebuggerStop = {
  reason: "breakpoint",
  place: { path: "a.py", line: 5, excerpt: { firstLine: 1, lines: ["one", "two", "three", "four", "five", "six"] } },
  frames: [{ name: "inner", place: { path: "a.py", line: 5 } }, { name: "<module>" }],
  variables: Array.from({ length: 9 }, (_, index) => ({ name: `v${index}`, value: String(index), type: "int" })),
  output: "hello\nworld\n",
};

describe("a stop of a debugger", () => {
  test("is folded to where it is, a few lines and a few variables", () => {
    expect(draw("step", { text: "for the model", details: { stop } })).toEqual([
      "breakpoint at a.py:5 in inner",
      "  3 three",
      "  4 four",
      "> 5 five",
      "  6 six",
      "v0: int = 0",
      "v1: int = 1",
      "v2: int = 2",
      "v3: int = 3",
      "v4: int = 4",
      "v5: int = 5",
      "… 3 more variables, 2 frames, 2 lines of output (ctrl+o)",
    ]);
  });

  test("has all of it when it is expanded", () => {
    const drawn = draw("step", { details: { stop } }, { expanded: true });
    expect(drawn.slice(0, 3)).toEqual(["breakpoint at a.py:5 in inner", "  1 one", "  2 two"]);
    expect(drawn.slice(drawn.indexOf("v8: int = 8"))).toEqual([
      "v8: int = 8",
      "Stack",
      "inner a.py:5",
      "<module>",
      "Output",
      "hello",
      "world",
    ]);
  });

  test("that has none leaves the text", () => {
    expect(draw("step", { text: "The program ended.", details: {} })).toEqual(["The program ended."]);
  });
});

describe("a cell", () => {
  const code = Array.from({ length: 20 }, (_, index) => `line${index}`).join("\n");

  test("shows the beginning of its code, and the end of code that arrives", () => {
    const options = { theme, expanded: false, width: 40 };
    const cell = { code, language: "python" };
    const whole = drawCode({ ...cell, isArriving: false }, options).map(stripTerminalSequences);
    expect([whole[0], whole.at(-1)]).toEqual(["│ line0", "… 8 more lines (ctrl+o)"]);
    const arriving = drawCode({ ...cell, isArriving: true }, options).map(stripTerminalSequences);
    expect([arriving[0], arriving.at(-1)]).toEqual(["… 8 more lines (ctrl+o)", "│ line19"]);
    expect(drawCode({ ...cell, isArriving: false }, { ...options, expanded: true })).toHaveLength(20);
    expect(drawCode({ code: " \n", language: "", isArriving: false }, options)).toEqual([]);
  });

  test("shows the end of its output, and its value below it", () => {
    const text = Array.from({ length: 9 }, (_, index) => `out${index}`).join("\n");
    expect(draw("cell", { text, details: { result: "42" } })).toEqual([
      "… 3 more lines (ctrl+o)",
      "out3",
      "out4",
      "out5",
      "out6",
      "out7",
      "out8",
      "→ 42",
    ]);
    expect(draw("cell", { text: "out\n42\n", details: { result: "42" } })).toEqual(["out", "42"]);
    expect(draw("cell", { text: "", details: { result: "[1,\n 2]" } })).toEqual(["→ [1,", "   2]"]);
  });
});

test("no control character of a place, a stop or a cell is drawn, and none of its texts begins a line", () => {
  const hostile = "\x1b]52;c;aGk=\x07te\rxt\x1b[2J\n\x9b2Jmore";
  const bad: CodePlace = {
    path: hostile,
    line: 1,
    severity: "error",
    message: hostile,
    source: hostile,
    name: hostile,
    kind: hostile,
    excerpt: { firstLine: 1, lines: [hostile, hostile] },
  };
  const details = {
    places: [bad],
    stop: {
      reason: hostile,
      place: bad,
      frames: [{ name: hostile, place: bad }],
      variables: [{ name: hostile, value: hostile, type: hostile }],
      output: hostile,
    },
    result: hostile,
  };
  const drawn = (["places", "step", "cell"] as const).flatMap((shows) =>
    [false, true].flatMap((expanded) => drawRaw(shows, { text: hostile, details }, { expanded, width: 200 })),
  );
  const code = drawCode({ code: hostile, language: hostile, isArriving: true }, { theme, expanded: true, width: 80 });
  const all = [...drawn, ...code];
  expect(all.length).toBeGreaterThan(20);
  for (const line of all) {
    // oxlint-disable-next-line no-control-regex -- only colors are ours
    expect(line.replaceAll(/\x1b\[[\d;]*m/g, "")).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  }
});

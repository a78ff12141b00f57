import { describe, expect, test } from "vitest";
import {
  type CodePlace,
  countPlaces,
  describePlace,
  formatPlace,
  getCellResult,
  describeStop,
  formatVariable,
  listExcerptLines,
  parsePlaces,
  parseStop,
} from "./code-places.ts";

const place: CodePlace = {
  path: "src/a.ts",
  line: 12,
  column: 5,
  endLine: 13,
  severity: "error",
  message: "Type 'string' is not assignable to type 'number'.",
  source: "ts 2322",
  name: "width",
  kind: "variable",
  excerpt: { firstLine: 11, lines: ["const a = 1;", 'const width: number = "x";'], current: 12 },
};

describe("places", () => {
  test("stay as they are", () => {
    expect(parsePlaces({ places: [place] })).toEqual({ places: [place], omitted: 0 });
  });

  test.each([
    ["no details", undefined],
    ["a text", "places"],
    ["places that are no list", { places: { 0: place } }],
    ["null", { places: [null] }],
    ["a place without a path", { places: [{ line: 1 }] }],
    ["a path that is no text", { places: [{ path: {}, line: 1 }] }],
    ["line 0", { places: [{ path: "a", line: 0 }] }],
    ["a line that is text", { places: [{ path: "a", line: "1" }] }],
    ["a part of a line", { places: [{ path: "a", line: 1.5 }] }],
    ["a line that is no number", { places: [{ path: "a", line: NaN }] }],
    ["a line after the largest file", { places: [{ path: "a", line: 1e300 }] }],
  ])("are left out: %s", (_what, details) => expect(parsePlaces(details)).toEqual({ places: [], omitted: 0 }));

  test("keep what is right of them", () => {
    const wrong = {
      column: -1,
      endLine: "9",
      severity: "fatal",
      message: 7,
      source: [],
      name: "",
      kind: null,
      excerpt: { firstLine: 1, lines: "all" },
      extra: "x",
    };
    expect(parsePlaces({ places: [{ path: "a", line: 1, ...wrong }] }).places).toEqual([{ path: "a", line: 1 }]);
  });

  test("are bounded in number and in each of their texts", () => {
    const long = "x".repeat(100_000);
    const lines = Array.from({ length: 5_000 }, () => long);
    const huge = { ...place, path: long, message: long, source: long, name: long, kind: long };
    const places = Array.from({ length: 3_000 }, () => ({ ...huge, excerpt: { firstLine: 1, lines } }));
    const parsed = parsePlaces({ places });
    expect(parsed.places).toHaveLength(1_000);
    expect(parsed.omitted).toBe(2_000);
    expect(JSON.stringify(parsed.places[0]).length).toBeLessThan(30_000);
    expect(parsed.places[0]!.message).toMatch(/x…$/);
    expect(parsed.places.filter(({ excerpt }) => excerpt)).toHaveLength(50);
  });

  test("never end in one half of a character", () => {
    const [cut] = parsePlaces({
      places: [{ path: "a", line: 1, name: `${"x".repeat(198)}😀y`, message: "\ud800" }],
    }).places;
    expect(cut!.name).toBe(`${"x".repeat(198)}…`);
    expect(cut!.message).toBe("\ufffd");
  });

  test("are named in the form that terminals and editors open", () => {
    expect(formatPlace(place)).toBe("src/a.ts:12:5");
    expect(formatPlace({ path: "a", line: 3 })).toBe("a:3");
  });

  test.each([
    [{ message: "Unused." }, "Unused."],
    [{ message: "Unused.", source: "ts 6133" }, "Unused. (ts 6133)"],
    [{ name: "run", kind: "function" }, "function run"],
    [{ name: "run", message: "Unused." }, "run: Unused."],
    [{}, ""],
  ])("are described by what is known of them: %j", (known, text) =>
    expect(describePlace({ path: "a", line: 1, ...known })).toBe(text),
  );

  test("mark the line of the place, unless the excerpt says which", () => {
    const listMarked = (current?: number) =>
      listExcerptLines({
        path: "a",
        line: 8,
        excerpt: { firstLine: 7, lines: ["a", "b", "c"], ...(current && { current }) },
      })
        .filter(({ isCurrent }) => isCurrent)
        .map(({ number, text }) => `${number} ${text}`);
    expect([listMarked(), listMarked(9), listMarked(1_000)]).toEqual([["8 b"], ["9 c"], []]);
    expect(listExcerptLines({ path: "a", line: 8 })).toEqual([]);
  });

  test("show the lines around the marked one where there is little room", () => {
    const lines = Array.from({ length: 20 }, (_, index) => String(index + 1));
    const list = (line: number) =>
      listExcerptLines({ path: "a", line, excerpt: { firstLine: 1, lines } }, 1).map(({ text }) => text);
    expect([list(10), list(1), list(99)]).toEqual([
      ["9", "10", "11"],
      ["1", "2"],
      ["1", "2"],
    ]);
  });

  test.each([
    [["error", "error", "warning"], 0, "2 errors, 1 warning"],
    [["info", "info", "hint"], 0, "2 info, 1 hint"],
    [[undefined], 0, "1 place"],
    [[undefined, undefined], 0, "2 places"],
    [["error"], 4, "5 places"],
  ] as const)("are counted by their severity: %j and %i more", (severities, omitted, text) => {
    const places = severities.map((severity) => ({ path: "a", line: 1, ...(severity && { severity }) }));
    expect(countPlaces({ places, omitted })).toBe(text);
  });
});

describe("a stop of a debugger", () => {
  test("stays as it is", () => {
    const stop = {
      reason: "breakpoint",
      place,
      frames: [{ name: "main", place: { path: "a.py", line: 3 } }, { name: "<module>" }],
      variables: [
        { name: "x", value: "1", type: "int" },
        { name: "empty", value: "" },
      ],
      output: "hello\n",
    };
    expect(parseStop({ stop })).toEqual(stop);
  });

  test.each([undefined, {}, { stop: "breakpoint" }, { stop: {} }, { stop: { reason: 1 } }])("is not in %j", (details) =>
    expect(parseStop(details)).toBeUndefined(),
  );

  test("keeps what is right of it, and the end of long output", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `n${index}`, value: "v".repeat(10_000) }));
    const output = `${"o".repeat(1_000_000)}end`;
    const stop = parseStop({ stop: { reason: "step", place: 1, frames: many, variables: [null, ...many], output } })!;
    expect(stop.place).toBeUndefined();
    expect(stop.frames).toHaveLength(100);
    expect(stop.variables).toHaveLength(199);
    expect(stop.output).toMatch(/^o+end$/);
    expect(JSON.stringify(stop).length).toBeLessThan(200_000);
  });
});

test.each([
  [{ reason: "exited" }, "exited"],
  [{ reason: "step", place: { path: "a.py", line: 3 } }, "step at a.py:3"],
  [{ reason: "step", frames: [{ name: "main", place: { path: "a.py", line: 3 } }] }, "step at a.py:3 in main"],
])("a stop is described in one line: %j", (stop, text) => expect(describeStop(stop)).toBe(text));

test("a variable is shown with its type if that is known", () => {
  expect(formatVariable({ name: "x", value: "1", type: "int" })).toBe("x: int = 1");
  expect(formatVariable({ name: "x", value: "1" })).toBe("x = 1");
});

test("the value of a cell is a text that is not empty", () => {
  expect(getCellResult({ result: "42" })).toBe("42");
  expect([undefined, {}, { result: "" }, { result: 42 }].map(getCellResult)).toEqual(Array(4).fill(undefined));
});

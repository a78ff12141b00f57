import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RgbColor } from "../terminal/colors.ts";
import {
  type ColorMode,
  decideColorMode,
  findNearestIndex,
  getContrast,
  getLuminance,
  getPaletteColor,
} from "./color.ts";
import { mixColors, parseColor, toEscape, toHex } from "./color.ts";
import { fromOklch, toOklch } from "./oklab.ts";

const byte = fc.integer({ min: 0, max: 255 });
const anyColor: fc.Arbitrary<RgbColor> = fc.record({ r: byte, g: byte, b: byte });
const rgb = (hex: string) => parseColor(hex) as RgbColor;

describe("a color is written as", () => {
  test.each([
    ["#fff", "#ffffff"],
    ["#0af", "#00aaff"],
    ["#00AAFF", "#00aaff"],
    // Definitions of CSS Color 4: red, green and blue of sRGB.
    ["oklch(62.796% 0.25768 29.234)", "#ff0000"],
    ["oklch(51.975% 0.17686 142.495)", "#008000"],
    ["oklch(0.45201 0.31321 264.052)", "#0000ff"],
    ["OKLCH( 100% 0 0deg )", "#ffffff"],
    ["oklch(0% 0.1 200)", "#000000"],
    // 100% of chroma is 0.4.
    ["oklch(62.796% 64.42% 29.234)", "#ff0000"],
    // The hue goes around.
    ["oklch(62.796% 0.25768 -330.766)", "#ff0000"],
    // Published by ColorAide for red and orange.
    ["okhsl(29.234 100% 56.808%)", "#ff0000"],
    ["okhsl(70.67 100% 75.883%)", "#ffa500"],
    // Computed with a port of the reference program of the definition.
    ["okhsl(137 13% 37%)", "#515a4e"],
    ["okhsl(0 50% 50%)", "#aa5a74"],
    ["okhsl(120 90% 75%)", "#abc824"],
    ["okhsl(240 20% 30%)", "#394853"],
    ["okhsl(300 80% 25%)", "#481c79"],
    ["okhsl(10 0% 50%)", "#777777"],
    ["okhsl(10 100% 0%)", "#000000"],
    ["okhsl(10 100% 100%)", "#ffffff"],
  ])("%s, which is %s", (text, hex) => {
    expect(toHex(rgb(text))).toBe(hex);
  });

  test.each([[0], [39], [255], [""]])("%j, which the terminal defines", (value) => {
    expect(parseColor(value)).toBe(value);
  });
});

test.each([
  ["#ff"],
  ["#ffff"],
  ["#ggg"],
  ["red"],
  [" #fff"],
  [256],
  [-1],
  [1.5],
  [Number.NaN],
  ["39"],
  [null],
  [{ r: 0, g: 0, b: 0 }],
  ["oklch(62% 0.1)"],
  ["oklch(101% 0.1 200)"],
  ["oklch(62% -0.1 200)"],
  ["oklch(62% 0.1 200 / 50%)"],
  ["okhsl(250 60 55)"],
  ["okhsl(250 101% 55%)"],
])("%j is not a color", (value) => {
  expect(parseColor(value)).toBeUndefined();
});

test("a color keeps its value on the way through OKLCH and back", () => {
  fc.assert(
    fc.property(anyColor, (color) => {
      expect(fromOklch(toOklch(color))).toEqual(color);
    }),
  );
});

test("OKLCH beyond sRGB keeps lightness and hue", () => {
  const limits = {
    l: fc.double({ min: 0.1, max: 0.95, noNaN: true }),
    h: fc.double({ min: 0, max: 359, noNaN: true }),
  };
  fc.assert(
    fc.property(fc.record(limits), ({ l, h }) => {
      const color = toOklch(fromOklch({ l, c: 0.5, h }));
      expect(color.l).toBeCloseTo(l, 1.7);
      const turn = Math.abs(((color.h - h + 540) % 360) - 180);
      // Rounded to 8 bits, the hue of a color with little chroma is not exact.
      expect(turn * color.c).toBeLessThan(0.6);
    }),
  );
});

describe("the contrast of WCAG 2", () => {
  test.each([
    ["#000000", "#ffffff", 21],
    ["#ffffff", "#ffffff", 1],
    // The grays next to 4.5:1 on white.
    ["#767676", "#ffffff", 4.54],
    ["#777777", "#ffffff", 4.48],
    // (0.2126 + 0.05) / 0.05, (0.7152 + 0.05) / 0.05, (0.0722 + 0.05) / 0.05
    ["#ff0000", "#000000", 5.252],
    ["#00ff00", "#000000", 15.304],
    ["#0000ff", "#000000", 2.444],
  ])("of %s on %s is %d", (first, second, ratio) => {
    expect(getContrast(rgb(first), rgb(second))).toBeCloseTo(ratio, 2);
    expect(getContrast(rgb(second), rgb(first))).toBeCloseTo(ratio, 2);
  });

  test("rests on a luminance of 0.2126, 0.7152 and 0.0722 for the primaries", () => {
    expect(["#f00", "#0f0", "#00f"].map((color) => getLuminance(rgb(color)))).toEqual([0.2126, 0.7152, 0.0722]);
  });
});

describe("the palette of xterm", () => {
  test.each([
    [1, "#cd0000"],
    [15, "#ffffff"],
    [16, "#000000"],
    [21, "#0000ff"],
    [67, "#5f87af"],
    [196, "#ff0000"],
    [231, "#ffffff"],
    [232, "#080808"],
    [255, "#eeeeee"],
  ])("has at %d the color %s", (index, hex) => {
    expect(toHex(getPaletteColor(index))).toBe(hex);
  });

  test("is the nearest of its own colors", () => {
    for (let index = 16; index < 256; index++) {
      const nearest = findNearestIndex(getPaletteColor(index), "256color", "foreground");
      expect(getPaletteColor(nearest)).toEqual(getPaletteColor(index));
    }
    for (let index = 0; index < 16; index++) {
      expect(findNearestIndex(getPaletteColor(index), "16color", "foreground")).toBe(index);
    }
  });

  test.each([
    // By distance in sRGB, 31 of 256 would be nearer.
    ["#1c989e", 30, 6],
    ["#ffa500", 214, 3],
    ["#c0c0c0", 250, 7],
    ["#2a2a2e", 235, 0],
    // By distance in sRGB, 7 and 8 of 16 would be nearer, which are gray.
    ["#88c0d0", 110, 6],
    ["#bf616a", 131, 1],
  ])("has for %s the nearest colors %d of 256 and %d of 16", (hex, of256, of16) => {
    expect(findNearestIndex(rgb(hex), "256color", "foreground")).toBe(of256);
    expect(findNearestIndex(rgb(hex), "16color", "foreground")).toBe(of16);
  });

  test("does not give gray as one of 16 backgrounds, because gray text is drawn on them", () => {
    expect(findNearestIndex(rgb("#7f7f7f"), "16color", "foreground")).toBe(8);
    expect(findNearestIndex(rgb("#343541"), "16color", "background")).toBe(0);
  });
});

describe("the escape sequence of a color", () => {
  const table: [string | number, ColorMode, string, string][] = [
    ["#ff8000", "truecolor", "38;2;255;128;0", "48;2;255;128;0"],
    ["#ff0000", "256color", "38;5;196", "48;5;196"],
    ["#ff0000", "16color", "91", "101"],
    ["#cd0000", "16color", "31", "41"],
    [39, "truecolor", "38;5;39", "48;5;39"],
    [39, "256color", "38;5;39", "48;5;39"],
    [9, "16color", "91", "101"],
    [8, "16color", "90", "100"],
    [196, "16color", "91", "101"],
    ["", "truecolor", "39", "49"],
    ["", "16color", "39", "49"],
  ];
  test.each(table)("%j in the mode %s has the parameters %s and %s", (input, mode, foreground, background) => {
    const value = parseColor(input) as RgbColor;
    expect(toEscape(value, "foreground", mode)).toBe(`\x1b[${foreground}m`);
    expect(toEscape(value, "background", mode)).toBe(`\x1b[${background}m`);
  });

  test("is empty without colors", () => {
    for (const value of [rgb("#fff"), 39, ""] as const) expect(toEscape(value, "foreground", "none")).toBe("");
  });
});

test.each([
  [{ NO_COLOR: "1", TERM: "xterm-256color" }, true, "none"],
  [{ NO_COLOR: "", TERM: "xterm-256color" }, true, "truecolor"],
  [{ TERM: "dumb" }, true, "none"],
  [{ TERM: "xterm" }, false, "256color"],
  [{}, false, "256color"],
  [{ TERM: "linux" }, false, "16color"],
  [{ TERM: "vt220" }, false, "16color"],
  [{ TERM: "xterm-16color" }, false, "16color"],
  [{ TERM: "linux" }, true, "truecolor"],
])("with %j and true color %s the mode is %s", (env, hasTrueColor, mode) => {
  expect(decideColorMode(env, { hasTrueColor })).toBe(mode);
});

test("a mixture goes from the first color to the second", () => {
  fc.assert(
    fc.property(anyColor, anyColor, (first, second) => {
      expect(mixColors(first, second, 0)).toEqual(first);
      expect(mixColors(first, second, 1)).toEqual(second);
    }),
  );
  // Half of the lightness of white in OKLab: 0.5³ of its light.
  expect(toHex(mixColors(rgb("#000"), rgb("#fff")))).toBe("#636363");
});

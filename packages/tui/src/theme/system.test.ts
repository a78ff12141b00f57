import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ColorReport, parseColorReport, type RgbColor } from "../terminal/colors.ts";
import { getContrast, parseColor } from "./color.ts";
import { toOklch } from "./oklab.ts";
import { addColorReport, createSystemTheme, type TerminalColors } from "./system.ts";
import { createTheme } from "./theme.ts";
import { backgroundTokens, foregroundTokens, lineTokens } from "./tokens.ts";

const byte = fc.integer({ min: 0, max: 255 });
const anyColor: fc.Arbitrary<RgbColor> = fc.record({ r: byte, g: byte, b: byte });
const rgb = (hex: string) => parseColor(hex) as RgbColor;

const textTokens = foregroundTokens.filter((token) => !lineTokens.has(token) && token !== "searchMatchText");
const panelTokens = backgroundTokens.filter((token) => token !== "searchMatchBg");

function findUnreadable(terminal: TerminalColors & { background: RgbColor }, min = 4.5): string[] {
  const { foreground, background } = terminal;
  const { colors } = createTheme(createSystemTheme(terminal), "truecolor", {
    terminal: { background, ...(foreground && { foreground }) },
  });
  const panels = panelTokens.map((token) => [token, colors[token]] as const);
  const pairs = textTokens.flatMap((token) =>
    [["page", background] as const, ...panels].map(([name, surface]) => ({
      name: `${token} on ${name}`,
      contrast: getContrast(colors[token], surface),
    })),
  );
  const match = getContrast(colors["searchMatchText"], colors["searchMatchBg"]);
  return [...pairs, { name: "match", contrast: match }]
    .filter(({ contrast }) => contrast < min)
    .map(({ name }) => name);
}

test("text can be read on the background and on every panel, whatever colors the terminal has", () => {
  const terminal = fc.record(
    { background: anyColor, foreground: anyColor, palette: fc.array(fc.option(anyColor, { nil: undefined })) },
    { requiredKeys: ["background"] },
  );
  fc.assert(
    fc.property(terminal, (colors) => {
      expect(findUnreadable(colors)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("text can be read on all grays", () => {
  for (let level = 0; level < 256; level += 5) {
    expect({ level, unreadable: findUnreadable({ background: { r: level, g: level, b: level } }) }).toEqual({
      level,
      unreadable: [],
    });
  }
});

describe("with a palette and a background", () => {
  const palette = "#1d1f21 #cc6666 #b5bd68 #f0c674 #81a2be #b294bb #8abeb7 #c5c8c6".split(" ").map(rgb);
  const definition = createSystemTheme({ background: rgb("#1d1f21"), foreground: rgb("#c5c8c6"), palette });

  test("the terminal's own text and those of its colors that can be read are kept", () => {
    expect(definition.colors).toMatchObject({
      text: "",
      warning: "#f0c674",
      accent: "#8abeb7",
    });
    expect(definition).toMatchObject({ name: "system", appearance: "dark" });
  });

  test("a color that is too dark keeps its hue and becomes lighter", () => {
    const dim = createSystemTheme({ background: rgb("#000000"), palette: [undefined, rgb("#800000")] as RgbColor[] });
    const error = toOklch(rgb(dim.colors.error as string));
    const own = toOklch(rgb("#800000"));
    expect(error.l).toBeGreaterThan(own.l);
    expect(Math.abs(error.h - own.h)).toBeLessThan(3);
  });

  test("a light background has dark text", () => {
    const light = createSystemTheme({ background: rgb("#fdf6e3"), foreground: rgb("#657b83") });
    expect(light.appearance).toBe("light");
    expect(toOklch(rgb(light.colors.error as string)).l).toBeLessThan(0.6);
  });

  test("panels differ from the background a little", () => {
    const { colors } = createTheme(definition, "truecolor");
    const contrasts = panelTokens.map((token) => getContrast(colors[token], rgb("#1d1f21")));
    expect(Math.min(...contrasts)).toBeGreaterThan(1.05);
    expect(Math.max(...contrasts)).toBeLessThan(1.8);
  });
});

describe.each([
  ["with nothing known", createSystemTheme({})],
  ["without a background", createSystemTheme({ foreground: rgb("#fff"), palette: [rgb("#000")] })],
  ["with 16 colors", createSystemTheme({ background: rgb("#000") }, "16color")],
])("%s", (_, definition) => {
  test("colors are ANSI indices and the terminal's defaults", () => {
    const values = Object.values(definition.colors);
    expect(values.filter((value) => value !== "" && !(typeof value === "number" && value < 16))).toEqual([]);
    expect(definition.colors).toMatchObject({ text: "", error: 1, success: 2, mdLink: 4 });
  });

  test("panels have no background, weak text is faint, and a match of a search is still visible", () => {
    expect(panelTokens.map((token) => definition.colors[token])).toEqual(panelTokens.map(() => ""));
    expect(definition.faint).toEqual(expect.arrayContaining(["muted", "dim", "thinkingText", "syntaxComment"]));
    expect(definition.colors.searchMatchBg).not.toBe("");
  });

  test("the appearance is that of the terminal", () => {
    expect(createTheme(definition, "truecolor", { terminal: { appearance: "light" } }).appearance).toBe("light");
  });
});

test("answers add up, in any order, and a later one counts", () => {
  const answers = ["11;#000000", "4;1;#ff0000", "10;#ffffff", "4;17;#112233", "4;1;#ff8000"].map(
    (answer) => parseColorReport(`\x1b]${answer}\x07`) as ColorReport,
  );
  const colors = answers.reduce(addColorReport, {} as TerminalColors);
  expect(colors).toMatchObject({ background: { r: 0, g: 0, b: 0 }, foreground: { r: 255, g: 255, b: 255 } });
  expect(colors.palette?.filter((color) => color !== undefined)).toEqual([{ r: 255, g: 128, b: 0 }]);
  expect(colors.palette?.[1]).toEqual({ r: 255, g: 128, b: 0 });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VirtualTerminal } from "../testing/virtual-terminal.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { builtInThemes } from "./built-in.ts";
import { type ColorMode, toHex } from "./color.ts";
import { createTheme, Theme } from "./theme.ts";
import { backgroundTokens, foregroundTokens, type ThemeDefinition, themeTokens, type ThemeToken } from "./tokens.ts";

const define = (colors: Partial<Record<ThemeToken, string | number>>, fields: Partial<ThemeDefinition> = {}) => ({
  name: "test",
  ...fields,
  colors: { ...(Object.fromEntries(themeTokens.map((token) => [token, ""])) as ThemeDefinition["colors"]), ...colors },
});

const create = (colors: Partial<Record<ThemeToken, string | number>>, mode: ColorMode = "truecolor") =>
  createTheme(define(colors), mode);

const colorful = create({ accent: "#ff8000", error: 9, selectedBg: "#000080" });

describe("a style ends with its own end code", () => {
  test.each([
    ["fg", colorful.fg("accent", "x"), "\x1b[38;2;255;128;0mx\x1b[39m"],
    ["fg of an index", colorful.fg("error", "x"), "\x1b[38;5;9mx\x1b[39m"],
    ["fg of the default", colorful.fg("text", "x"), "\x1b[39;39mx\x1b[39m"],
    ["bg", colorful.bg("selectedBg", "x"), "\x1b[48;2;0;0;128mx\x1b[49m"],
    ["bg of the default", colorful.bg("toolErrorBg", "x"), "\x1b[49;49mx\x1b[49m"],
    ["bold", colorful.bold("x"), "\x1b[1mx\x1b[22m"],
    ["italic", colorful.italic("x"), "\x1b[3mx\x1b[23m"],
    ["underline", colorful.underline("x"), "\x1b[4mx\x1b[24m"],
    ["inverse", colorful.inverse("x"), "\x1b[7mx\x1b[27m"],
    ["strikethrough", colorful.strikethrough("x"), "\x1b[9mx\x1b[29m"],
    ["a border", colorful.getBashModeBorderColor()("x"), "\x1b[39;39mx\x1b[39m"],
    [
      "style",
      colorful.style("x", { fg: { r: 1, g: 2, b: 3 }, bold: true }),
      "\x1b[38;2;1;2;3m\x1b[1mx\x1b[22m\x1b[39m",
    ],
  ])("%s", (_, text, expected) => {
    expect(text).toBe(expected);
  });
});

test("a style continues after one of the same kind inside it", () => {
  const { fg, bold } = { fg: colorful.fg.bind(colorful), bold: colorful.bold.bind(colorful) };
  expect(fg("accent", `a${fg("error", "b")}c`)).toBe(
    "\x1b[38;2;255;128;0ma\x1b[38;5;9mb\x1b[39m\x1b[38;2;255;128;0mc\x1b[39m",
  );
  expect(bold(`a${bold("b")}c`)).toBe("\x1b[1ma\x1b[1mb\x1b[22m\x1b[1mc\x1b[22m");
});

describe("on a terminal, styles nest as their calls do", () => {
  const styles = {
    accent: { apply: (text: string) => colorful.fg("accent", text), look: { fg: 0xff8000 } },
    error: { apply: (text: string) => colorful.fg("error", text), look: { fg: 9 } },
    text: { apply: (text: string) => colorful.fg("text", text), look: { fg: -1 } },
    selected: { apply: (text: string) => colorful.bg("selectedBg", text), look: { bg: 0x000080 } },
    plain: { apply: (text: string) => colorful.bg("toolErrorBg", text), look: { bg: -1 } },
    bold: { apply: (text: string) => colorful.bold(text), look: { bold: true } },
    underline: { apply: (text: string) => colorful.underline(text), look: { underline: true } },
  };
  type Look = { fg: number; bg: number; bold: boolean; underline: boolean };
  type Tree = "x" | { style: keyof typeof styles; children: Tree[] };

  const write = (tree: Tree): string =>
    tree === "x" ? tree : styles[tree.style].apply(tree.children.map(write).join(""));
  const look = (tree: Tree, around: Look): Look[] =>
    tree === "x" ? [around] : tree.children.flatMap((child) => look(child, { ...around, ...styles[tree.style].look }));

  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constant("x" as const),
      fc.record({
        style: fc.constantFrom(...(Object.keys(styles) as (keyof typeof styles)[])),
        children: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }),
      }),
    ),
  }));

  test("each character looks as the calls around it say", async () => {
    const terminal = await VirtualTerminal.create(200, 4);
    await fc.assert(
      fc.asyncProperty(tree, async (root) => {
        terminal.write(`\x1bc${write(root)}.`);
        await terminal.flush();
        const start: Look = { fg: -1, bg: -1, bold: false, underline: false };
        const cells = [...look(root, start), start].map((_, x) => {
          const cell = terminal.getCell(x, 0);
          const isBold = Boolean(cell?.isBold());
          return {
            fg: cell?.getFgColor(),
            bg: cell?.getBgColor(),
            bold: isBold,
            underline: Boolean(cell?.isUnderline()),
          };
        });
        expect(cells).toEqual([...look(root, start), start]);
      }),
    );
  });
});

test("what is not a text is written as one", () => {
  expect(colorful.fg("error", 5 as unknown as string)).toBe("\x1b[38;5;9m5\x1b[39m");
  expect(create({}, "none").fg("error", undefined as unknown as string)).toBe("undefined");
});

test("the sequences of a color are those with which a text is styled", () => {
  const theme = createTheme(builtInThemes[0] as ThemeDefinition, "truecolor");
  for (const token of foregroundTokens) expect(theme.fg(token, "x")).toBe(`${theme.getFgAnsi(token)}x\x1b[39m`);
  for (const token of backgroundTokens) expect(theme.bg(token, "x")).toBe(`${theme.getBgAnsi(token)}x\x1b[49m`);
});

test("in every mode the text is the same without its escape sequences, and without colors there are only attributes", () => {
  for (const mode of ["truecolor", "256color", "16color", "none"] as const) {
    const theme = createTheme(builtInThemes[1] as ThemeDefinition, mode);
    const text = theme.style("text", { fg: "error", bg: "selectedBg", underline: true });
    expect(stripTerminalSequences(text)).toBe("text");
    expect(theme.getColorMode()).toBe(mode);
    if (mode === "none") expect(text).toBe("\x1b[4mtext\x1b[24m");
  }
});

describe("a faint color", () => {
  const theme = createTheme(define({ error: 1 }, { faint: ["muted", "error"] }), "truecolor", {
    terminal: { foreground: { r: 255, g: 255, b: 255 }, background: { r: 0, g: 0, b: 0 } },
  });

  test("is switched on and off with its color", () => {
    expect(theme.getFgAnsi("error")).toBe("\x1b[2m\x1b[38;5;1m");
    expect(theme.fg("error", "x")).toBe("\x1b[2m\x1b[38;5;1mx\x1b[39m\x1b[22m");
  });

  test("leaves bold text around it bold", () => {
    expect(theme.bold(`a${theme.fg("muted", "b")}c`)).toContain("\x1b[22m\x1b[1mc\x1b[22m");
  });

  test("is computed as a mixture with the background", () => {
    expect(toHex(theme.colors.muted)).toBe("#636363");
  });
});

test("the border of the editor shows the level of thinking", () => {
  const theme = create({
    thinkingOff: 1,
    thinkingMinimal: 2,
    thinkingLow: 3,
    thinkingMedium: 4,
    thinkingHigh: 5,
    thinkingXhigh: 6,
    thinkingMax: 7,
  });
  const levels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
  expect(levels.map((level) => theme.getThinkingBorderColor(level)("x"))).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((index) => `\x1b[38;5;${index}mx\x1b[39m`),
  );
  expect(theme.getThinkingBorderColor("constructor" as "off")("x")).toBe("\x1b[38;5;1mx\x1b[39m");
});

test("a color that no theme has is a mistake of the caller", () => {
  expect(() => colorful.fg("acent" as "accent", "x")).toThrow('A theme has no color "acent". It has: accent, ');
  expect(() => colorful.fg("selectedBg" as "accent", "x")).toThrow('no color "selectedBg"');
  expect(() => colorful.bg("accent" as "selectedBg", "x")).toThrow('no background color "accent"');
  expect(() => colorful.getFgAnsi("toString" as "accent")).toThrow('no color "toString"');
  expect(() => create({ accent: "variable" })).toThrow('The color "accent" of a theme is not valid: "variable".');
});

test("a theme is made from its colors of text and of backgrounds, and optional ones may be missing", () => {
  const { thinkingMax, searchMatchBg, ...colors } = define({ thinkingXhigh: 6, selectedBg: 4 }).colors;
  const theme = new Theme(
    colors as typeof colors & { thinkingMax: string },
    colors as typeof colors & { searchMatchBg: string },
    "256color",
    { name: "made" },
  );
  expect([thinkingMax, searchMatchBg]).toEqual(["", ""]);
  expect(theme.name).toBe("made");
  expect(theme.getFgAnsi("thinkingMax")).toBe("\x1b[38;5;6m");
  expect(theme.getBgAnsi("searchMatchBg")).toBe("\x1b[48;5;4m");
});

describe("the appearance of a theme", () => {
  test.each([
    ["is what it declares", define({ userMessageBg: "#000" }, { appearance: "light" }), "light"],
    ["is dark with dark panels", define({ userMessageBg: "#202020", text: "#000" }), "dark"],
    ["is light with light panels", define({ userMessageBg: 255 }), "light"],
    ["is dark with light text and without panels", define({ text: "#eee" }), "dark"],
    ["is that of the terminal if its colors are", define({ text: 15, toolErrorBg: 1 }), "light"],
  ])("%s", (_, definition, appearance) => {
    expect(createTheme(definition, "truecolor", { terminal: { appearance: "light" } }).appearance).toBe(appearance);
  });

  test("is dark if nothing is known", () => {
    expect(create({}).appearance).toBe("dark");
  });
});

test("the colors to compute with are concrete, with the defaults that the terminal reports or a guess", () => {
  expect(toHex(create({}).colors.text)).toBe("#ffffff");
  expect(toHex(create({}).colors.selectedBg)).toBe("#000000");
  expect(toHex(create({ error: 196 }).colors.error)).toBe("#ff0000");
  const terminal = { foreground: { r: 1, g: 1, b: 1 }, background: { r: 250, g: 250, b: 250 } };
  const { colors } = createTheme(define({}, { appearance: "light" }), "truecolor", { terminal });
  expect([toHex(colors.text), toHex(colors.selectedBg)]).toEqual(["#010101", "#fafafa"]);
});

test("a theme that becomes another one draws with its colors, name and appearance", () => {
  const theme = createTheme(define({ accent: 1 }, { name: "first", appearance: "dark" }), "16color");
  const style = (text: string) => theme.fg("accent", text);
  const { colors } = theme;
  theme.become(createTheme(define({ accent: 2 }, { name: "second", appearance: "light" }), "16color"));
  expect([style("x"), theme.name, theme.appearance]).toEqual(["\x1b[32mx\x1b[39m", "second", "light"]);
  expect(theme.colors.accent).not.toEqual(colors.accent);
});

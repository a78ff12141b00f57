import { describe, expect, test } from "vitest";
import type { RgbColor } from "../terminal/colors.ts";
import { builtInThemes } from "./built-in.ts";
import { findNearestIndex, getContrast, getPaletteColor, parseColor } from "./color.ts";
import { parseTheme } from "./theme-file.ts";
import { createTheme } from "./theme.ts";
import { backgroundTokens, foregroundTokens, lineTokens, type ThemeDefinition } from "./tokens.ts";

/** The backgrounds of terminals for which the themes are made: from the darkest to the lightest. */
const pages: Readonly<Record<string, readonly string[]>> = {
  dark: ["#000000", "#282c34"],
  light: ["#ffffff", "#eff1f5", "#fdf6e3"],
  "high-contrast": ["#000000", "#1e1e1e"],
};
const minContrast: Readonly<Record<string, number>> = { dark: 4.5, light: 4.5, "high-contrast": 7 };

const textTokens = foregroundTokens.filter((token) => !lineTokens.has(token) && token !== "searchMatchText");
const panelTokens = backgroundTokens.filter((token) => token !== "searchMatchBg");

/** All pairs of a text color and a background below a contrast, such as `dim on toolErrorBg: 4.2`. */
function findUnreadable(theme: ThemeDefinition, min: number, convert = (color: RgbColor) => color): string[] {
  const { colors } = createTheme(theme, "truecolor");
  const backgrounds = [
    ...panelTokens.map((token) => [token, convert(colors[token])] as const),
    ...(pages[theme.name] ?? []).map((page) => [page, parseColor(page) as RgbColor] as const),
    ["export.pageBg", parseColor(theme.export?.pageBg) as RgbColor] as const,
  ];
  const pairs = textTokens.flatMap((token) =>
    backgrounds.map(([name, background]) => ({
      pair: `${token} on ${name}`,
      contrast: getContrast(convert(colors[token]), background),
    })),
  );
  pairs.push({
    pair: "searchMatchText on searchMatchBg",
    contrast: getContrast(convert(colors["searchMatchText"]), convert(colors["searchMatchBg"])),
  });
  return pairs.filter(({ contrast }) => contrast < min).map(({ pair, contrast }) => `${pair}: ${contrast.toFixed(2)}`);
}

describe.each(builtInThemes.map((theme) => [theme.name, theme] as const))("the theme %s", (name, theme) => {
  test("has text that can be read on every panel and on the usual backgrounds of terminals", () => {
    expect(findUnreadable(theme, minContrast[name] as number)).toEqual([]);
  });

  test("has text that can be read with 256 colors", () => {
    const nearest = (color: RgbColor) => getPaletteColor(findNearestIndex(color, "256color", "foreground"));
    expect(findUnreadable(theme, (minContrast[name] as number) * 0.8, nearest)).toEqual([]);
  });

  test("is a valid theme file", () => {
    expect(parseTheme(JSON.stringify(theme), name)).toEqual({ theme });
  });

  test("looks like the appearance that it declares", () => {
    const { appearance, ...undeclared } = theme;
    expect(createTheme(undeclared, "truecolor").appearance).toBe(appearance);
  });

  test("has lines that can be seen", () => {
    const { colors } = createTheme(theme, "truecolor");
    const page = parseColor(theme.export?.pageBg) as RgbColor;
    const hidden = [...lineTokens].filter((token) => getContrast(colors[token], page) < 1.5);
    expect(hidden).toEqual([]);
  });
});

test("with 16 colors no text has the color of a panel", () => {
  for (const theme of builtInThemes) {
    const { colors } = createTheme(theme, "truecolor");
    for (const panel of panelTokens) {
      const background = getPaletteColor(findNearestIndex(colors[panel], "16color", "background"));
      const unreadable = textTokens.filter((token) => {
        const text = getPaletteColor(findNearestIndex(colors[token], "16color", "foreground"));
        return getContrast(text, background) < 3;
      });
      expect({ theme: theme.name, panel, background, unreadable }).toEqual({
        theme: theme.name,
        panel,
        background,
        unreadable: [],
      });
    }
  }
});

/** Whether colors belong to a dark or to a light background. */
import type { RgbColor } from "../terminal/colors.ts";
import { type ColorValue, getContrast, getLuminance, getPaletteColor } from "./color.ts";
import { backgroundTokens, type ThemeAppearance, type ThemeToken } from "./tokens.ts";

export const black: RgbColor = { r: 0, g: 0, b: 0 };
export const white: RgbColor = { r: 255, g: 255, b: 255 };

/** The contrast that WCAG 2 asks of text at its level AA. */
export const minTextContrast = 4.5;

/** Dark if white is read better on the color than black. */
const getAppearance = (background: RgbColor): ThemeAppearance =>
  getContrast(background, white) > getContrast(background, black) ? "dark" : "light";

/**
 * Decides by the terminal's own text, if readable text of that kind is possible on the background; else by the background.
 */
export function getTerminalAppearance(background: RgbColor, foreground?: RgbColor): ThemeAppearance {
  if (!foreground || getLuminance(foreground) === getLuminance(background)) return getAppearance(background);
  const wanted = getLuminance(foreground) > getLuminance(background) ? "dark" : "light";
  const best = getContrast(background, wanted === "dark" ? white : black);
  return best >= minTextContrast ? wanted : getAppearance(background);
}

/** By the panels of a theme, else by its text; undefined if all of them are the terminal's own colors. */
export function detectThemeAppearance(values: Readonly<Record<ThemeToken, ColorValue>>): ThemeAppearance | undefined {
  const panels = backgroundTokens.filter((token) => token !== "searchMatchBg").map((token) => values[token]);
  const appearances = panels
    .map(getFixedColor)
    .filter((color) => color !== undefined)
    .map(getAppearance);
  if (appearances.length > 0) {
    return appearances.filter((appearance) => appearance === "dark").length * 2 >= appearances.length
      ? "dark"
      : "light";
  }
  const text = getFixedColor(values["text"]);
  return text && (getAppearance(text) === "dark" ? "light" : "dark");
}

/** The first 16 indices are the terminal's own colors. */
function getFixedColor(value: ColorValue): RgbColor | undefined {
  if (typeof value === "number") return value >= 16 ? getPaletteColor(value) : undefined;
  return value === "" ? undefined : value;
}

/** Which theme is used. */
import { getTerminalAppearance } from "./appearance.ts";
import type { TerminalColors } from "./system.ts";
import { systemThemeName } from "./theme-file.ts";
import type { ThemeAppearance } from "./tokens.ts";

export interface ThemeChoice {
  readonly name: string;
  /** Whether the choice may be another one when the terminal becomes light or dark. */
  readonly followsTerminal: boolean;
  /** Why the theme is not the one of the setting. */
  readonly problem?: string;
}

/**
 * The theme for the setting `theme`: a name, or `light/dark` with a theme for each appearance of the terminal. Without a
 * setting, and where it cannot be followed, that is `system`.
 */
export function chooseTheme(
  setting: string | undefined,
  knownThemes: readonly string[],
  appearance: ThemeAppearance,
): ThemeChoice {
  const fallback = { name: systemThemeName, followsTerminal: true };
  if (setting === undefined || setting.trim() === "") return fallback;
  const names = setting.split("/").map((name) => name.trim());
  if (names.length > 2 || names.includes("")) {
    return { ...fallback, problem: `The theme ${show(setting)} is neither a name nor a pair such as "light/dark".` };
  }
  const name = (appearance === "light" ? names[0] : names.at(-1)) as string;
  const followsTerminal = names.length === 2 || name === systemThemeName;
  if (name === systemThemeName || knownThemes.includes(name)) return { name, followsTerminal };
  const known = [systemThemeName, ...knownThemes].join(", ");
  return { ...fallback, problem: `There is no theme ${show(name)}. There are: ${known}.` };
}

const show = (text: string): string => JSON.stringify(text.replace(/\p{Cc}/gu, "?"));

/** The facts that are known about the terminal. */
export interface AppearanceHints {
  /** The colors that it reported. */
  readonly colors?: TerminalColors;
  /** Its report of a light or dark color scheme. */
  readonly scheme?: ThemeAppearance | undefined;
  /** The variable `COLORFGBG`. */
  readonly colorFgBg?: string | undefined;
}

/** By the background that the terminal reports, else by its color scheme, else by `COLORFGBG`, else dark. */
export function decideAppearance({ colors, scheme, colorFgBg }: AppearanceHints): ThemeAppearance {
  if (colors?.background) return getTerminalAppearance(colors.background, colors.foreground);
  return scheme ?? parseColorFgBg(colorFgBg) ?? "dark";
}

/**
 * `COLORFGBG` is `foreground;background` or `foreground;other;background`, as ANSI indices or `default`. Which colors the
 * indices have is not known: 7 and those from 9 to 15 are usually light.
 */
function parseColorFgBg(value: string | undefined): ThemeAppearance | undefined {
  const match = /^[^;]*(?:;[^;]*)?;(\d{1,2})$/.exec(value ?? "");
  const index = match ? Number(match[1]) : 16;
  if (index > 15) return undefined;
  return index === 7 || index > 8 ? "light" : "dark";
}

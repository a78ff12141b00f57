/** The theme in use, and what components take of it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  builtInThemes,
  createTheme,
  decideColorMode,
  type EditorTheme,
  getEditorTheme as toEditorTheme,
  getMarkdownTheme as toMarkdownTheme,
  getSelectListTheme as toSelectListTheme,
  getSettingsListTheme as toSettingsListTheme,
  type MarkdownTheme,
  parseTheme,
  type SelectListTheme,
  type SettingsListTheme,
  type Theme,
} from "@tau/tui";
import { getTerminalLook, setTerminalLook } from "../../terminal-look.ts";
import { getAgentDir } from "../config.ts";

/** Always the one in use, also after it was replaced. */
export const theme: Theme = new Proxy({} as Theme, {
  get(_target, key) {
    const current = getTerminalLook().theme;
    const value: unknown = Reflect.get(current, key, current);
    return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(current) : value;
  },
});

export const getMarkdownTheme = (): MarkdownTheme => toMarkdownTheme(theme, { highlightCode });
export const getSelectListTheme = (): SelectListTheme => toSelectListTheme(theme);
export const getSettingsListTheme = (): SettingsListTheme => toSettingsListTheme(theme);
export const getEditorTheme = (): EditorTheme => toEditorTheme(theme);

/** Each line in colors, if the terminal knows the language. */
export function highlightCode(code: string, language?: string): string[] {
  const lines = getTerminalLook().highlightCode?.(code, language);
  return lines ?? code.split("\n").map((line) => theme.fg("mdCodeBlock", line));
}

/** Uses a theme by its name: one that is built in, or a file of the user's. An unknown name leaves the theme as it is. */
export function initTheme(name?: string): void {
  const found = name === undefined ? undefined : findTheme(name);
  if (found) setTerminalLook({ ...getTerminalLook(), theme: found });
}

function findTheme(name: string): Theme | undefined {
  const mode = decideColorMode(process.env, { hasTrueColor: true });
  const builtIn = builtInThemes.find((definition) => definition.name === name);
  if (builtIn) return createTheme(builtIn, mode);
  const path = join(getAgentDir(), "themes", `${name}.json`);
  if (!existsSync(path)) return undefined;
  const parsed = parseTheme(readFileSync(path, "utf8"), path);
  return "theme" in parsed && parsed.theme ? createTheme(parsed.theme, mode, { sourcePath: path }) : undefined;
}

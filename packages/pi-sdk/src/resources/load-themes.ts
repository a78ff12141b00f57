/** Themes from files. */
import { existsSync, readFileSync } from "node:fs";
import { createTheme, decideColorMode, parseTheme, type Theme } from "@tau/tui";
import { type ResourceDiagnostic, tryRead } from "@tau/pi/internal";

export interface LoadThemesResult {
  themes: Theme[];
  diagnostics: ResourceDiagnostic[];
}

export function loadThemes(paths: readonly string[]): LoadThemesResult {
  const mode = decideColorMode(process.env, { hasTrueColor: true });
  const result: LoadThemesResult = { themes: [], diagnostics: [] };
  for (const path of paths) {
    if (!existsSync(path)) {
      result.diagnostics.push({ type: "warning", message: "theme path does not exist", path });
      continue;
    }
    const warn = (message: string) => void result.diagnostics.push({ type: "warning", message, path });
    const text = tryRead(() => readFileSync(path, "utf8"), warn);
    if (text === undefined) continue;
    const parsed = parseTheme(text, path);
    if ("theme" in parsed && parsed.theme) result.themes.push(createTheme(parsed.theme, mode, { sourcePath: path }));
    else {
      const problems = "problems" in parsed ? parsed.problems : [];
      for (const { message } of problems) warn(message);
    }
  }
  return result;
}

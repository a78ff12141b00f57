/** Themes from files. */
import { existsSync, readFileSync } from "node:fs";
import { createTheme, decideColorMode, parseTheme, type Theme } from "@tau/tui";
import type { ResourceDiagnostic } from "../skills/diagnostics.ts";

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
    const parsed = parseTheme(readFileSync(path, "utf8"), path);
    if ("theme" in parsed && parsed.theme) result.themes.push(createTheme(parsed.theme, mode, { sourcePath: path }));
    else {
      const problems = "problems" in parsed ? parsed.problems : [];
      for (const { message } of problems) result.diagnostics.push({ type: "warning", message, path });
    }
  }
  return result;
}

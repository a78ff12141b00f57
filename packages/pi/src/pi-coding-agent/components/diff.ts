import { theme } from "../theme/theme.ts";

/** The lines of a diff in colors, by their signs. */
export const renderDiff = (diff: string, _options?: { filePath?: string }): string =>
  diff
    .split("\n")
    .map((line) => {
      if (line.startsWith("+")) return theme.fg("toolDiffAdded", line);
      return theme.fg(line.startsWith("-") ? "toolDiffRemoved" : "toolDiffContext", line);
    })
    .join("\n");

import { Text } from "@tau/tui";

interface VisualTruncateResult {
  visualLines: string[];
  /** Lines that are left out. */
  skippedCount: number;
}

/** The last lines of a text, or the first, as they are broken at a width. */
export function truncateToVisualLines(
  text: string,
  maxVisualLines: number,
  width: number,
  paddingX = 0,
  keep: "start" | "end" = "end",
): VisualTruncateResult {
  const lines = text === "" ? [] : new Text(text, paddingX, 0).render(width);
  if (lines.length <= maxVisualLines) return { visualLines: lines, skippedCount: 0 };
  const visualLines = keep === "end" ? lines.slice(-maxVisualLines) : lines.slice(0, maxVisualLines);
  return { visualLines, skippedCount: lines.length - maxVisualLines };
}

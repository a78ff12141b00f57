/** Shows a part of many lines, and how to see the others. */
import { getKeybindings, type Theme } from "@tau/tui";

interface Fold {
  /** How many lines are left. */
  limit: number;
  keep: "start" | "end";
  /** The plural of what a line is. Default: lines. */
  noun?: string;
}

/** The lines that are left, and a remark about the others; undefined if all are left. */
export function fold<T>(
  lines: readonly T[],
  { limit, keep, noun = "lines" }: Fold,
): { kept: readonly T[]; rest: string | undefined } {
  // A remark would take as much room as one line more.
  if (lines.length <= limit + 1) return { kept: lines, rest: undefined };
  const kept = keep === "start" ? lines.slice(0, limit) : lines.slice(-limit);
  return { kept, rest: `… ${lines.length - limit} more ${noun}${describeKey(" (", ")")}` };
}

/** The key that unfolds, between two texts; empty if none is bound. */
export function describeKey(before: string, after = ""): string {
  const [key] = getKeybindings().getKeys("app.tools.expand");
  return key === undefined ? "" : `${before}${key}${after}`;
}

interface FoldOptions extends Fold {
  theme: Theme;
  /** Whether all lines are left. */
  expanded: boolean;
  /** Styles each line that is left. Default: none. */
  style?: (line: string) => string;
}

export function foldLines(
  lines: readonly string[],
  { theme, expanded, style = (line) => line, ...options }: FoldOptions,
): string[] {
  const { kept, rest } = expanded ? { kept: lines, rest: undefined } : fold(lines, options);
  const drawn = kept.map(style);
  if (rest === undefined) return drawn;
  const remark = theme.fg("dim", rest);
  return options.keep === "start" ? [...drawn, remark] : [remark, ...drawn];
}

/** The calls that a tool made, one line each. */
import { describeNestedState, maxNestedRows, type NestedCallRow } from "@tau/protocol/surface";
import { type Theme, toPlainLine } from "@tau/tui";
import { foldLines } from "./fold.ts";

const markColors = { running: "accent", asked: "muted", done: "success", failed: "error", denied: "error" } as const;

/** Without `expanded`, only the last ones are shown. Lines may be wider than the terminal. */
export function drawNestedCalls(
  rows: readonly NestedCallRow[],
  { theme, expanded }: { theme: Theme; expanded: boolean },
): string[] {
  const lines = rows.map(({ name, subject, state, depth }) => {
    const parts = [
      theme.fg(markColors[state], "●"),
      theme.fg("toolTitle", toPlainLine(name)),
      ...(subject === "" ? [] : [theme.fg("text", toPlainLine(subject))]),
      theme.fg("muted", `(${describeNestedState(state)})`),
    ];
    return `${"  ".repeat(depth)}${parts.join(" ")}`;
  });
  return foldLines(lines, { limit: maxNestedRows, keep: "end", noun: "calls", theme, expanded });
}

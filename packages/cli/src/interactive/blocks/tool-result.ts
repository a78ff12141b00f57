/** The result of a call as lines, by how its tool says it is shown. No tool is known by its name. */
import type { ToolData } from "@tau/protocol";
import { type Theme, toPlainText } from "@tau/tui";
import { drawDiff } from "./diff.ts";
import { getNumber, getText, toFields } from "./fields.ts";

export interface ToolOutput {
  /** The text that the model reads, or its output so far. */
  text: string;
  details: unknown;
  isError: boolean;
}

export interface DrawOptions {
  theme: Theme;
  /** Without it, only the beginning or the end is shown. */
  expanded: boolean;
}

/** How many lines are shown of each kind, if it is not expanded. */
const maxLines = { text: 6, command: 6, diff: 40, excerpt: 0, matches: 6, list: 6, image: 2 } as const;

/** Lines may be wider than the terminal. */
export function drawOutput(shows: ToolData["shows"], output: ToolOutput, options: DrawOptions): string[] {
  const { theme, expanded } = options;
  if (output.isError)
    return foldLines(toPlainLines(output.text), { limit: 10, keep: "start" }, options).map((line) =>
      theme.fg("error", line),
    );
  const kind = shows ?? "text";
  const limit = maxLines[kind];
  const diffs = kind === "diff" ? getDiffs(output.details) : [];
  if (diffs.length > 0)
    return foldLines(
      diffs.flatMap((diff) => drawDiff(clean(diff), theme)),
      { limit, keep: "start" },
      options,
    );
  const lines = toPlainLines(output.text);
  if (kind === "excerpt" && !expanded) return [theme.fg("dim", `${lines.length} lines`)];
  // Only what is left is styled: running commands print thousands of lines.
  const style = (line: string) => theme.fg("toolOutput", line);
  return foldLines(lines, { limit, keep: kind === "command" ? "end" : "start", style }, options);
}

/** What is said after the title of a finished call; undefined if nothing. */
export function describeOutcome({ details, isError }: ToolOutput, durationMs: number | undefined): string | undefined {
  const fields = toFields(details);
  const exitCode = getNumber(fields["exitCode"]);
  const parts = [
    exitCode !== undefined && exitCode !== 0 ? `exit ${exitCode}` : undefined,
    getText(fields["signal"]) || undefined,
    isError && exitCode === undefined ? "failed" : undefined,
    durationMs !== undefined && durationMs >= 1_000 ? `${Math.round(durationMs / 1_000)} s` : undefined,
  ];
  const text = parts.filter((part) => part !== undefined).join(", ");
  return text === "" ? undefined : text;
}

function getDiffs(details: unknown): string[] {
  const { diff, files } = toFields(details);
  const all = [diff, ...(Array.isArray(files) ? files.map((file) => toFields(file)["diff"]) : [])];
  return all.filter((text): text is string => typeof text === "string" && text !== "");
}

interface Fold {
  /** How many lines are left. */
  limit: number;
  keep: "start" | "end";
  /** Of the lines that are left. */
  style?: (line: string) => string;
}

export function foldLines(
  lines: string[],
  { limit, keep, style = (line) => line }: Fold,
  { theme, expanded }: DrawOptions,
): string[] {
  if (expanded || lines.length <= limit + 1) return lines.map(style);
  const rest = theme.fg("dim", `… ${lines.length - limit} more lines`);
  return keep === "start" ? [...lines.slice(0, limit).map(style), rest] : [rest, ...lines.slice(-limit).map(style)];
}

/** Without control characters, and without empty lines at the end. */
export const toPlainLines = (text: string): string[] => (text.trim() === "" ? [] : clean(text).trimEnd().split("\n"));

/** Of a line that is written over, the last version counts. */
const clean = (text: string): string =>
  toPlainText(text.includes("\r") ? text.replaceAll("\r\n", "\n").replaceAll(/^.*\r(?!\n)/gm, "") : text);

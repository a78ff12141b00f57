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
const maxLines = { text: 6, command: 6, diff: 40, excerpt: 6, matches: 6, list: 6, image: 2 } as const;

/** Lines may be wider than the terminal. */
export function drawOutput(shows: ToolData["shows"], output: ToolOutput, options: DrawOptions): string[] {
  const { theme, expanded } = options;
  const kind = shows ?? "text";
  // Why a command failed is at its end.
  const keep = kind === "command" ? "end" : "start";
  if (output.isError)
    return foldLines(toPlainLines(output.text), { limit: 10, keep }, options).map((line) => theme.fg("error", line));
  const limit = maxLines[kind];
  const diffs = kind === "diff" ? getDiffs(output.details) : [];
  if (diffs.length > 0)
    return foldLines(
      diffs.flatMap((diff) => drawDiff(clean(diff), theme)),
      { limit, keep: "start" },
      options,
    );
  const lines = toPlainLines(output.text);
  const style = (line: string) => theme.fg("toolOutput", line);
  const excerpt = kind === "excerpt" ? findExcerpt(lines, output.details) : undefined;
  if (excerpt && !expanded) return [theme.fg("dim", describeExcerpt(excerpt))];
  if (excerpt) return drawExcerpt(lines.map(style), excerpt, theme);
  // Only what is left is styled: running commands print thousands of lines.
  return foldLines(lines, { limit, keep, style }, options);
}

/** Lines of a file. */
interface Excerpt {
  count: number;
  /** The number of the first one; undefined if the lines have their numbers already. */
  first: number | undefined;
}

/** Undefined if no line of a file is shown, but something about it. */
function findExcerpt(lines: readonly string[], details: unknown): Excerpt | undefined {
  const { firstLine, shownLines } = toFields(details);
  const count = getNumber(shownLines);
  if (count === undefined) return { count: lines.length, first: undefined };
  // A remark about the rest follows an empty line. Other lines are more than those of the file.
  const isBare = (lines[count] ?? "") === "";
  return count === 0 ? undefined : { count, first: isBare ? getNumber(firstLine) : undefined };
}

function describeExcerpt({ count, first = 1 }: Excerpt): string {
  if (first === 1) return count === 1 ? "1 line" : `${count} lines`;
  return count === 1 ? `line ${first}` : `lines ${first} to ${first + count - 1}`;
}

/** With the numbers of the lines. */
function drawExcerpt(lines: readonly string[], { count, first }: Excerpt, theme: Theme): string[] {
  if (first === undefined) return [...lines];
  const width = String(first + count - 1).length;
  return lines.map((line, index) =>
    index < count ? `${theme.fg("dim", String(first + index).padStart(width))} ${line}` : line,
  );
}

/** What is said after the title of a finished call; undefined if nothing. */
export function describeOutcome({ details, isError }: ToolOutput, durationMs: number): string | undefined {
  const fields = toFields(details);
  const exitCode = getNumber(fields["exitCode"]);
  const parts = [
    exitCode !== undefined && exitCode !== 0 ? `exit ${exitCode}` : undefined,
    getText(fields["signal"]) || undefined,
    isError && exitCode === undefined ? "failed" : undefined,
    durationMs >= 1_000 ? `${Math.round(durationMs / 1_000)} s` : undefined,
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

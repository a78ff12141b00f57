/** The result of a call as lines, by how its tool says it is shown. No tool is known by its name. */
import type { ToolData } from "@tau/protocol";
import {
  type Fields,
  getDiffs,
  getNumber,
  getText,
  listOutcomeNotes,
  parseDiffs,
  parsePlaces,
  parseStop,
  toFields,
} from "@tau/protocol/surface";
import { type Theme, toPlainText } from "@tau/tui";
import { getFileLanguage } from "../highlight/file-language.ts";
import { drawCellResult } from "./cell.ts";
import { drawPlaces, drawStop } from "./code-places.ts";
import { drawDiff } from "./diff.ts";
import { describeKey, fold, foldLines } from "./fold.ts";
import { highlightLines, type HighlightLine } from "./highlight-lines.ts";
import { drawNumbered } from "./numbered-lines.ts";

export interface ToolOutput {
  /** The text that the model reads, or its output so far. */
  text: string;
  /** The part of it that was added to what the tool said; see `getAddedText`. */
  added?: string;
  details: unknown;
  isError: boolean;
  /** The arguments of the call. */
  input?: Fields | undefined;
}

interface DrawOptions {
  theme: Theme;
  /** Without it, only the beginning or the end is shown. */
  expanded: boolean;
  /** Columns. Only some lines are broken for it; the caller breaks the others. */
  width: number;
  /** Colours code. */
  highlight?: HighlightLine | undefined;
}

/** How many lines are shown of each kind, if it is not expanded. */
const maxLines = {
  text: 6,
  command: 6,
  diff: 40,
  added: 10,
  file: 10,
  document: 6,
  excerpt: 6,
  matches: 6,
  list: 6,
  image: 2,
  places: 6,
  step: 6,
  cell: 6,
} as const;
/** How many lines are shown of a call that failed. */
const maxErrorLines = { start: 10, end: 20 } as const;

/** Lines may be wider than the terminal. */
export function drawOutput(shows: ToolData["shows"], output: ToolOutput, options: DrawOptions): string[] {
  const { theme, expanded } = options;
  const kind = shows ?? "text";
  // Why a command failed is at its end.
  const keep = kind === "command" || kind === "cell" ? "end" : "start";
  if (output.isError)
    return foldLines(toPlainLines(output.text), { limit: maxErrorLines[keep], keep, theme, expanded }).map((line) =>
      theme.fg("error", line),
    );
  const diffs = kind === "diff" || kind === "file" ? getDiffs(output.details) : [];
  if (diffs.length > 0) return [...drawDiffs(diffs, options), ...drawAdded(output, options)];
  const content = kind === "file" ? getText(output.input?.["content"]) : "";
  if (content !== "")
    return [...drawFile(content, getText(output.input?.["path"]), options), ...drawAdded(output, options)];
  const places = kind === "places" ? parsePlaces(output.details) : undefined;
  if (places && places.places.length > 0) return drawPlaces(places, options);
  const stop = kind === "step" ? parseStop(output.details) : undefined;
  if (stop) return drawStop(stop, options);
  const lines = toPlainLines(output.text);
  const style = (line: string) => theme.fg("toolOutput", line);
  const excerpt = kind === "excerpt" ? findExcerpt(lines, output.details) : undefined;
  if (excerpt && !expanded) return [theme.fg("dim", `${describeExcerpt(excerpt)}${describeKey(" (", ")")}`)];
  if (excerpt) return drawExcerpt(lines.map(style), excerpt, options);
  // Only what is left is styled: running commands print thousands of lines.
  const drawn = foldLines(lines, { limit: maxLines[kind], keep, style, theme, expanded });
  return kind === "cell" ? [...drawn, ...drawCellResult(output.details, output.text, options)] : drawn;
}

function drawDiffs(diffs: readonly string[], { theme, expanded, width }: DrawOptions): string[] {
  const rows = parseDiffs(diffs.map(clean));
  const { kept, rest } = expanded ? { kept: rows } : fold(rows, { limit: maxLines.diff, keep: "start" });
  return [...drawDiff(kept, { theme, width }), ...(rest === undefined ? [] : [theme.fg("dim", rest)])];
}

/** Draws what the diff does not show. */
function drawAdded({ added = "" }: ToolOutput, { theme, expanded }: DrawOptions): string[] {
  if (added === "") return [];
  const style = (line: string) => theme.fg("toolOutput", line);
  return foldLines(toPlainLines(added), { limit: maxLines.added, keep: "start", style, theme, expanded });
}

/** Draws what was written, in colours. */
function drawFile(content: string, path: string, options: DrawOptions): string[] {
  const { theme, expanded, width, highlight } = options;
  const lines = toPlainText(content).replace(/\n$/, "").split("\n");
  const { kept, rest } = expanded ? { kept: lines } : fold(lines, { limit: maxLines.file, keep: "start" });
  const language = getFileLanguage(path);
  const drawn = highlightLines(kept, { language, highlight, theme });
  const numbered = drawNumbers(drawn, { first: 1, last: kept.length, theme, width });
  return [...numbered, ...(rest === undefined ? [] : [theme.fg("dim", rest)])];
}

interface Numbers {
  first: number;
  last: number;
  theme: Theme;
  width: number;
}

function drawNumbers(lines: readonly string[], { first, last, theme, width }: Numbers): string[] {
  const numberWidth = String(last).length;
  return lines.flatMap((text, index) =>
    drawNumbered({ gutter: `${theme.fg("dim", String(first + index).padStart(numberWidth))} `, text, width }),
  );
}

/** Lines of a file. */
interface Excerpt {
  count: number;
  /** The number of the first one; undefined if the lines have their numbers already. */
  first: number | undefined;
  /** Counted where a document has no lines of its own: its text is shown as it is. */
  unit?: "page" | "row";
}

/** Undefined if no line of a file is shown, but something about it. */
function findExcerpt(lines: readonly string[], details: unknown): Excerpt | undefined {
  const { firstLine, shownLines, unit } = toFields(details);
  const count = getNumber(shownLines);
  if (count === undefined) return { count: lines.length, first: undefined };
  if (unit === "pages" || unit === "rows")
    return { count, first: getNumber(firstLine), unit: unit === "pages" ? "page" : "row" };
  // A remark about the rest follows an empty line. Other lines are more than those of the file.
  const isBare = (lines[count] ?? "") === "";
  return count === 0 ? undefined : { count, first: isBare ? getNumber(firstLine) : undefined };
}

function describeExcerpt({ count, first = 1, unit }: Excerpt): string {
  const word = unit ?? "line";
  if (first === 1) return count === 1 ? `1 ${word}` : `${count} ${word}s`;
  return count === 1 ? `${word} ${first}` : `${word}s ${first} to ${first + count - 1}`;
}

/** With the numbers of the lines. */
function drawExcerpt(
  lines: readonly string[],
  { count, first, unit }: Excerpt,
  { theme, width }: DrawOptions,
): string[] {
  if (first === undefined || unit !== undefined) return [...lines];
  const last = first + count - 1;
  return [...drawNumbers(lines.slice(0, count), { first, last, theme, width }), ...lines.slice(count)];
}

/** Describes a finished call after its title; undefined if there is nothing to add. */
export function describeOutcome({ details, isError }: ToolOutput, durationMs: number): string | undefined {
  const hasExitCode = getNumber(toFields(details)["exitCode"]) !== undefined;
  const notes = [
    ...listOutcomeNotes(details, isError),
    ...(isError && !hasExitCode ? ["failed"] : []),
    ...(durationMs >= 1_000 ? [`took ${formatSeconds(durationMs)}`] : []),
  ];
  return notes.length === 0 ? undefined : notes.join(", ");
}

/** With a tenth of a second below a minute. */
const formatSeconds = (durationMs: number): string =>
  durationMs < 60_000 ? `${(durationMs / 1_000).toFixed(1)} s` : `${Math.round(durationMs / 1_000)} s`;

/** Without control characters, and without empty lines at the end. */
export const toPlainLines = (text: string): string[] => (text.trim() === "" ? [] : clean(text).trimEnd().split("\n"));

/** Keeps only the last version of a line that is written over. */
const clean = (text: string): string =>
  toPlainText(text.includes("\r") ? text.replaceAll("\r\n", "\n").replaceAll(/^.*\r(?!\n)/gm, "") : text);

/** Draws places in source files and stops of a debugger. All of it is text of tools, which may be hostile. */
import {
  type CodePlace,
  type CodeSeverity,
  type DebuggerStop,
  describePlace,
  describeStop,
  formatPlace,
  formatVariable,
  listExcerptLines,
  type ParsedPlaces,
  pluralise,
} from "@tau/protocol/surface";
import { type Theme, type ThemeColor, toPlainLine, toPlainText, truncateToWidth, wrapTextWithAnsi } from "@tau/tui";
import { getFileLanguage } from "../highlight/file-language.ts";
import { describeKey, fold } from "./fold.ts";
import { highlightLines, type HighlightLine } from "./highlight-lines.ts";
import { drawNumbered } from "./numbered-lines.ts";

interface DrawOptions {
  theme: Theme;
  /** Without it, excerpts and most of long lists are left out. */
  expanded: boolean;
  /** Columns. */
  width: number;
  highlight?: HighlightLine | undefined;
}

const severityColors: Readonly<Record<CodeSeverity, ThemeColor>> = {
  error: "error",
  warning: "warning",
  info: "accent",
  hint: "muted",
};

/** How many places, variables, frames and lines of output are shown if they are not expanded. */
const maxRows = 6;
/** A folded place takes no more rows than this, however long its message and path are. */
const maxFoldedRows = 2;

export function drawPlaces({ places, omitted }: ParsedPlaces, options: DrawOptions): string[] {
  const { theme, expanded } = options;
  const more = omitted === 0 ? [] : [theme.fg("dim", `… ${omitted} more places`)];
  if (expanded) {
    return [...places.flatMap((place) => [...drawPlace(place, options), ...drawExcerpt(place, options)]), ...more];
  }
  const { kept } = fold(places, { limit: maxRows, keep: "start" });
  const rest = places.length - kept.length + omitted;
  const hasCode = places.some(({ excerpt }) => excerpt);
  const hint = rest > 0 ? `${rest} more places` : hasCode ? "show the code" : "";
  return [
    ...kept.flatMap((place) => drawPlace(place, options)),
    ...(hint === "" ? [] : [theme.fg("dim", `… ${hint}${describeKey(" (", ")")}`)]),
  ];
}

/** Draws where it is, how grave it is, as color and word, and what is there. */
function drawPlace(place: CodePlace, { theme, expanded, width }: DrawOptions): string[] {
  const { severity } = place;
  const description = describePlace(place);
  const line = [
    theme.fg("mdLink", toPlainLine(formatPlace(place))),
    ...(severity ? [theme.fg(severityColors[severity], theme.bold(severity))] : []),
    ...(description === "" ? [] : [theme.fg("toolOutput", toPlainLine(description))]),
  ].join(" ");
  const rows = wrapTextWithAnsi(line, width);
  if (expanded || rows.length <= maxFoldedRows) return rows;
  return [...rows.slice(0, maxFoldedRows - 1), truncateToWidth(`${rows[maxFoldedRows - 1]}…`, width, "…")];
}

/** Draws the lines of a file with their numbers, and marks the current one. */
function drawExcerpt(place: CodePlace, { theme, width, highlight }: DrawOptions, radius?: number): string[] {
  const lines = listExcerptLines(place, radius);
  const numberWidth = String(lines.at(-1)?.number ?? "").length;
  const texts = lines.map(({ text }) => toCodeLine(text));
  const code = highlightLines(texts, { language: getFileLanguage(place.path), highlight, theme });
  return lines.flatMap(({ number, isCurrent }, index) => {
    const label = `${isCurrent ? ">" : " "} ${String(number).padStart(numberWidth)}`;
    const gutter = `${isCurrent ? theme.fg("accent", theme.bold(label)) : theme.fg("dim", label)} `;
    return drawNumbered({ gutter, text: code[index]!, width });
  });
}

/** Keeps blanks and tabs, which are the indentation of the code. */
const toCodeLine = (text: string): string => toPlainText(text).replaceAll("\n", " ");

/** How many lines before and after the current one are shown if it is not expanded. */
const foldedRadius = 2;

export function drawStop(stop: DebuggerStop, options: DrawOptions): string[] {
  const { theme, expanded, width } = options;
  const place = stop.place ?? stop.frames?.[0]?.place;
  const { variables = [], frames = [] } = stop;
  const output = toOutputLines(stop.output);
  const title = wrapTextWithAnsi(theme.fg("accent", toPlainLine(describeStop(stop))), width);
  const drawVariable = (variable: (typeof variables)[number]) =>
    theme.fg("toolOutput", toPlainLine(formatVariable(variable)));
  if (!expanded) {
    const kept = fold(variables, { limit: maxRows, keep: "start" }).kept;
    const rest = [
      ...(kept.length < variables.length ? [`${variables.length - kept.length} more variables`] : []),
      ...(frames.length > 1 ? [pluralise(frames.length, "frame")] : []),
      ...(output.length > 0 ? [`${pluralise(output.length, "line")} of output`] : []),
    ].join(", ");
    return [
      ...title.slice(0, maxFoldedRows),
      ...(place ? drawExcerpt(place, options, foldedRadius) : []),
      ...kept.map((variable) => truncateToWidth(drawVariable(variable), width, "…")),
      ...(rest === "" ? [] : [theme.fg("dim", `… ${rest}${describeKey(" (", ")")}`)]),
    ];
  }
  const drawSection = (name: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [theme.fg("muted", name), ...lines.flatMap((line) => wrapTextWithAnsi(line, width))];
  const drawFrame = ({ name, place: at }: (typeof frames)[number]) =>
    [theme.fg("toolOutput", toPlainLine(name)), ...(at ? [theme.fg("mdLink", toPlainLine(formatPlace(at)))] : [])].join(
      " ",
    );
  return [
    ...title,
    ...(place ? drawExcerpt(place, options) : []),
    ...drawSection("Variables", variables.map(drawVariable)),
    ...drawSection("Stack", frames.map(drawFrame)),
    ...drawSection(
      "Output",
      output.map((line) => theme.fg("toolOutput", line)),
    ),
  ];
}

const toOutputLines = (output = ""): string[] =>
  output.trim() === "" ? [] : toPlainText(output.replaceAll("\r\n", "\n")).trimEnd().split("\n");

/** Draws diagrams of Mermaid as text: flowcharts and sequences. Pure. */
import { visibleWidth } from "../../../text/cells.ts";
import type { DrawingStyles } from "./canvas.ts";
import { drawFlowchart, listGroups } from "./draw-flowchart.ts";
import { drawSequence } from "./draw-sequence.ts";
import { toLabel } from "./labels.ts";
import { type Flowchart, flowchartHeader, parseFlowchart } from "./parse-flowchart.ts";
import { parseSequence, type Sequence } from "./parse-sequence.ts";

interface RenderMermaidOptions {
  /** In columns. No line is wider. */
  readonly width: number;
  readonly styles?: DrawingStyles;
  /** False while more lines follow: what is not closed yet is no error. Default true. */
  readonly isComplete?: boolean;
}

/** A longer source is no diagram that fits a terminal. */
const maxLength = 10_000;
const maxLineLength = 500;
const maxRows = 300;
/** Labels are broken into shorter lines until the drawing fits. */
const labelWidths = [32, 20, 12];
const unstyled: DrawingStyles = { text: (text) => text, line: (text) => text };

/** Undefined if it is a diagram of another kind, has something that cannot be drawn, or does not fit. */
export function renderMermaid(
  source: string,
  { width, styles = unstyled, isComplete = true }: RenderMermaidOptions,
): string[] | undefined {
  if (source.length > maxLength) return undefined;
  const { title, lines } = readLines(source);
  if (lines.some(({ length }) => length > maxLineLength)) return undefined;
  const diagram = flowchartHeader.test(lines[0] ?? "")
    ? renderFlowchart(parseFlowchart(lines, isComplete), width, styles)
    : renderSequence(parseSequence(lines, isComplete), width, styles);
  if (!diagram || title === "") return diagram;
  return visibleWidth(title) > width ? undefined : [styles.text(title), "", ...diagram];
}

/** Without comments, directives and what is before the diagram. */
function readLines(source: string): { title: string; lines: string[] } {
  const [matter = ""] = /^\s*---[ \t]*\n[^]*?\n---[ \t]*(?:\n|$)/.exec(source) ?? [];
  const [, title = ""] = /^title:(.*)$/m.exec(matter) ?? [];
  const lines = source
    .slice(matter.length)
    .replaceAll(/%%\{[^]*?\}%%/g, "")
    .split("\n")
    // White space means nothing more than a blank. In runs of it, patterns would try every way to share them.
    .map((line) => line.replaceAll(/\s+/g, " ").trim())
    .filter((line) => line !== "" && !line.startsWith("%%"));
  return { title: toLabel(title), lines };
}

function renderFlowchart(chart: Flowchart | undefined, width: number, styles: DrawingStyles): string[] | undefined {
  if (!chart) return undefined;
  // One that is too wide may still fit from top to bottom.
  for (const direction of new Set([chart.direction, "down"] as const)) {
    const drawing = findFitting(width, (maxLabelWidth) => drawFlowchart(chart, { direction, maxLabelWidth, styles }));
    const groups = listGroups(chart, width, styles);
    if (drawing) return groups.length === 0 ? drawing : [...drawing, "", ...groups];
  }
  return undefined;
}

function renderSequence(sequence: Sequence | undefined, width: number, styles: DrawingStyles): string[] | undefined {
  return sequence && findFitting(width, (maxLabelWidth) => drawSequence(sequence, { maxLabelWidth, styles }));
}

function findFitting(width: number, draw: (maxLabelWidth: number) => string[] | undefined): string[] | undefined {
  for (const maxLabelWidth of labelWidths) {
    const lines = draw(maxLabelWidth);
    if (lines && lines.length <= maxRows && lines.every((line) => visibleWidth(line) <= width)) return lines;
  }
  return undefined;
}

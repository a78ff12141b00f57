/** Draws a sequence diagram: a column for each participant, and a row or more for each step. Pure. */
import { visibleWidth } from "../../../text/cells.ts";
import { padToWidth } from "../../../text/pad.ts";
import { Canvas, type DrawingStyles, horizontal, sides, vertical } from "./canvas.ts";
import { measureLines, wrapLabel } from "./labels.ts";
import type { Head } from "./parse-flowchart.ts";
import type { Sequence, SequenceStep } from "./parse-sequence.ts";

interface SequenceOptions {
  readonly maxLabelWidth: number;
  readonly styles: DrawingStyles;
}

/** A step with the lines of its label. */
type Row = SequenceStep & { readonly lines: readonly string[] };

const columnGap = 2;
/** Cells beside the label of a message: its arrow is longer than the label. */
const labelMargin = 4;
/** From the column of a participant to the label of a message to itself. */
const loopWidth = 5;

export function drawSequence({ participants, steps }: Sequence, options: SequenceOptions): string[] {
  const { maxLabelWidth, styles } = options;
  const heads = participants.map((label) => wrapLabel(label, maxLabelWidth));
  const rows = steps.map((step): Row => ({ ...step, lines: wrapLabel(step.label, maxLabelWidth) }));
  const widths = heads.map((lines) => toOdd(Math.max(1, measureLines(lines)) + 4));
  const columns = placeColumns(widths, rows);
  const width = Math.max(...columns.map((column, index) => column + ((widths[index] ?? 1) + 1) / 2));
  const canvas = new Canvas();
  const height = Math.max(...heads.map(({ length }) => Math.max(1, length))) + 2;
  for (const [index, lines] of heads.entries()) {
    const size = { width: widths[index] ?? 1, height };
    drawBox(canvas, { x: (columns[index] ?? 0) - (size.width - 1) / 2, y: 0, ...size }, lines, getLifeline(index));
    canvas.stroke(columns[index] ?? 0, height - 1, sides.down, [getLifeline(index)]);
  }
  let y = height;
  for (const row of rows) {
    const end = y + countRows(row);
    for (const [index, column] of columns.entries())
      for (let line = y; line < end; line++) canvas.stroke(column, line, vertical, [getLifeline(index)]);
    drawRow(canvas, row, { y, columns, width });
    y = end;
  }
  return canvas.toLines(styles);
}

const toOdd = (size: number) => size + ((size + 1) % 2);
const getLifeline = (index: number) => `participant ${index}`;

/** The cell of each lifeline. Labels fit between the lifelines that they are about. */
function placeColumns(widths: readonly number[], rows: readonly Row[]): number[] {
  const needs = rows
    .flatMap((row) => toNeed(row, widths.length))
    .toSorted((a, b) => a.last - a.first - (b.last - b.first));
  const gaps = widths.slice(1).map((width, index) => ((widths[index] ?? 1) + width) / 2 + columnGap);
  for (const { first, last, cells } of needs) {
    const rest = cells - gaps.slice(first, last).reduce((sum, gap) => sum + gap, 0);
    if (rest > 0) gaps[last - 1] = (gaps[last - 1] ?? 0) + rest;
  }
  let column = ((widths[0] ?? 1) - 1) / 2;
  return [column, ...gaps.map((gap) => (column += gap))];
}

/** How far apart two participants have to be because of a step. */
function toNeed(row: Row, count: number): { first: number; last: number; cells: number }[] {
  if (row.kind !== "message") return [];
  const width = measureLines(row.lines);
  const first = Math.min(row.from, row.to);
  if (row.from !== row.to) return [{ first, last: Math.max(row.from, row.to), cells: width + labelMargin }];
  return first + 1 < count ? [{ first, last: first + 1, cells: width + loopWidth + 2 }] : [];
}

function countRows(row: Row): number {
  const { length } = row.lines;
  if (row.kind === "divider") return 1;
  if (row.kind === "note") return Math.max(1, length) + 2;
  return row.from === row.to ? Math.max(2, length + 1) : length + 1;
}

interface Place {
  readonly y: number;
  readonly columns: readonly number[];
  /** Columns of the whole diagram. */
  readonly width: number;
}

function drawRow(canvas: Canvas, row: Row, place: Place): void {
  const { y, columns, width } = place;
  const getColumn = (index: number) => columns[index] ?? 0;
  if (row.kind === "divider") {
    for (let x = 0; x < width; x++) canvas.stroke(x, y, horizontal, ["divider"], true);
    return canvas.write(1, y, ` ${row.lines.join(" ")} `);
  }
  if (row.kind === "note") {
    const size = { width: measureLines(row.lines) + 4, height: countRows(row) };
    const middle = (getColumn(row.first) + getColumn(row.last)) / 2;
    const x = Math.max(0, Math.round(middle - size.width / 2));
    return drawBox(canvas, { x, y, ...size }, row.lines, "note");
  }
  if (row.from === row.to) return drawLoop(canvas, row, place);
  const [from, to] = [getColumn(row.from), getColumn(row.to)];
  const left = Math.min(from, to);
  const between = Math.abs(to - from) - 1;
  for (const [index, line] of row.lines.entries())
    canvas.write(left + 1 + Math.floor((between - visibleWidth(line)) / 2), y + index, line);
  const arrow = y + row.lines.length;
  const isRight = to > from;
  for (let x = left + 1; x <= left + between; x++) canvas.stroke(x, arrow, horizontal, ["message"], row.isDotted);
  canvas.stroke(from, arrow, isRight ? sides.right : sides.left, [getLifeline(row.from)]);
  if (row.endHead === "none") canvas.stroke(to, arrow, isRight ? sides.left : sides.right, [getLifeline(row.to)]);
  else canvas.mark(isRight ? to - 1 : to + 1, arrow, toCharacter(row.endHead, isRight));
  if (row.startHead !== "none") canvas.mark(isRight ? from + 1 : from - 1, arrow, toCharacter(row.startHead, !isRight));
}

/** Draws a message of a participant to itself. */
function drawLoop(canvas: Canvas, row: Row & { kind: "message" }, { y, columns }: Place): void {
  const column = columns[row.from] ?? 0;
  const last = y + countRows(row) - 1;
  const right = column + loopWidth - 2;
  for (const line of [y, last]) {
    for (let x = column + 1; x < right; x++) canvas.stroke(x, line, horizontal, ["message"], row.isDotted);
  }
  canvas.stroke(column, y, sides.right, [getLifeline(row.from)]);
  canvas.stroke(right, y, sides.left | sides.down, ["message"]);
  for (let line = y + 1; line < last; line++) canvas.stroke(right, line, vertical, ["message"], row.isDotted);
  canvas.stroke(right, last, sides.left | sides.up, ["message"]);
  canvas.mark(column + 1, last, toCharacter(row.endHead, false));
  for (const [index, line] of row.lines.entries()) canvas.write(column + loopWidth, y + index, line);
}

const toCharacter = (head: Head, isRight: boolean): string =>
  head === "none" ? "─" : head === "cross" ? "×" : head === "circle" ? "○" : isRight ? "▶" : "◀";

/** Draws a box over what is there. */
function drawBox(canvas: Canvas, box: Parameters<Canvas["box"]>[0], lines: readonly string[], name: string): void {
  const { x, y, width, height } = box;
  for (let row = 0; row < height - 2; row++) {
    const line = lines[row] ?? "";
    const before = " ".repeat(Math.max(0, Math.floor((width - 2 - visibleWidth(line)) / 2)));
    canvas.write(x + 1, y + 1 + row, padToWidth(before + line, width - 2));
  }
  canvas.box(box, "┌┐└┘", name);
}

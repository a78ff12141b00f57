/** Text of several lines that is put together from parts, each with a line at which it meets its neighbours. Pure. */
import { visibleWidth } from "../../../text/cells.ts";

export interface Box {
  /** All as wide as the box. */
  readonly lines: readonly string[];
  /** The index of the line that is in one row with the text beside it. */
  readonly baseline: number;
  /** In columns. */
  readonly width: number;
}

type Alignment = "left" | "center" | "right";

export const toBox = (text: string): Box => ({ lines: [text], baseline: 0, width: visibleWidth(text) });

export const isOneLine = ({ lines }: Box): boolean => lines.length === 1;

/** From left to right, with their baselines in one row. */
export function joinBeside(boxes: readonly Box[]): Box {
  const only = boxes.length === 1 ? boxes[0] : undefined;
  if (only) return only;
  const above = Math.max(0, ...boxes.map(({ baseline }) => baseline));
  const below = Math.max(0, ...boxes.map(({ lines, baseline }) => lines.length - 1 - baseline));
  const lines = Array.from({ length: above + 1 + below }, (_unused, row) =>
    boxes.map((box) => box.lines[row - above + box.baseline] ?? " ".repeat(box.width)).join(""),
  );
  return { lines, baseline: above, width: boxes.reduce((sum, { width }) => sum + width, 0) };
}

/** From top to bottom. The baseline is that of the box with this index. */
export function stack(boxes: readonly Box[], main: number, alignment: Alignment = "center"): Box {
  const width = Math.max(0, ...boxes.map((box) => box.width));
  const lines = boxes.flatMap((box) => alignBox(box, width, alignment).lines);
  const before = boxes.slice(0, main).reduce((sum, box) => sum + box.lines.length, 0);
  return { lines, baseline: before + (boxes[main]?.baseline ?? 0), width };
}

/** Rows of cells in columns. The baseline is in the middle. */
export function toGrid(rows: readonly (readonly Box[])[], gap: string, align: (column: number) => Alignment): Box {
  const columnCount = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: columnCount }, (_unused, column) =>
    Math.max(0, ...rows.map((row) => row[column]?.width ?? 0)),
  );
  const drawn = rows.map((row) =>
    joinBeside(
      widths.flatMap((width, column) => {
        const cell = alignBox(row[column] ?? toBox(""), width, align(column));
        return column === 0 ? [cell] : [toBox(gap), cell];
      }),
    ),
  );
  const { lines, width } = stack(drawn, 0, "left");
  return { lines, baseline: Math.floor((lines.length - 1) / 2), width };
}

/** A bracket as high as what it encloses: its ends, its middle if it has one, and what is between. */
export interface TallBracket {
  readonly top: string;
  readonly between: string;
  readonly bottom: string;
  readonly middle?: string;
}

export function toTall({ top, between, bottom, middle = between }: TallBracket, { lines, baseline }: Box): Box {
  const last = lines.length - 1;
  const center = Math.floor(last / 2);
  const drawn = lines.map((_line, row) =>
    row === 0 ? top : row === last ? bottom : row === center ? middle : between,
  );
  return { lines: drawn, baseline, width: 1 };
}

function alignBox(box: Box, width: number, alignment: Alignment): Box {
  const rest = width - box.width;
  const left = alignment === "left" ? 0 : alignment === "right" ? rest : Math.floor(rest / 2);
  const lines = box.lines.map((line) => " ".repeat(left) + line + " ".repeat(rest - left));
  return { ...box, lines, width };
}

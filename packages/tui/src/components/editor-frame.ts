/** Draws an editor: two borders, the rows between them, and the suggestions below. */
import { CURSOR_MARKER } from "../component.ts";
import type { TextDocument } from "../editing/document.ts";
import { type Layout, type Row, rowClusters } from "../editing/layout.ts";
import { padToWidth } from "../text/pad.ts";
import type { VisibleRows } from "./editor-view.ts";

/** Everything that a drawing depends on. */
export interface Frame {
  readonly width: number;
  readonly paddingX: number;
  readonly document: TextDocument;
  readonly visible: VisibleRows;
  readonly top: string;
  readonly bottom: string;
  readonly list: string[];
  readonly focused: boolean;
}

export const isSameFrame = (a: Frame, b: Frame): boolean =>
  a.document === b.document &&
  a.width === b.width &&
  a.paddingX === b.paddingX &&
  a.visible.layout === b.visible.layout &&
  a.visible.first === b.visible.first &&
  a.visible.rows.length === b.visible.rows.length &&
  a.top === b.top &&
  a.bottom === b.bottom &&
  a.list.length === b.list.length &&
  a.list.every((line, index) => line === b.list[index]) &&
  a.focused === b.focused;

export function drawFrame({ width, paddingX, document, visible, top, bottom, list, focused }: Frame): string[] {
  const { layout, rows } = visible;
  const { line, col } = document.cursor;
  const margin = " ".repeat(paddingX);
  const lines = rows.map((row) => {
    const isCursorRow = row.line === line && col >= row.start && (col < row.end || (row.isLast && col === row.end));
    const cursor = isCursorRow ? { cursorCol: col } : {};
    const drawn = drawRow(layout, row, { width: width - paddingX, isFocused: focused, ...cursor });
    return margin + drawn.text + " ".repeat(Math.max(0, width - paddingX - drawn.width));
  });
  return [top, ...lines, bottom, ...list.map((item) => padToWidth(margin + item, width))];
}

/** A line, with the number of rows that are hidden behind it. */
export function drawBorder(width: number, arrow: string, hidden: number): string {
  if (hidden === 0) return "─".repeat(width);
  const label = ` ${arrow} ${hidden} more `;
  if (label.length + 2 > width) return `${`───${label}`.slice(0, Math.max(0, width - 3))}...`.slice(-width);
  const left = Math.floor((width - label.length) / 2);
  return "─".repeat(left) + label + "─".repeat(width - left - label.length);
}

/**
 * Draws a row, as wide as `width` or less. The cursor is drawn at `cursorCol`, with room for it behind the text if
 * possible.
 */
function drawRow(layout: Layout, row: Row, options: { width: number; cursorCol?: number; isFocused: boolean }) {
  const { width, cursorCol, isFocused } = options;
  const marker = isFocused ? CURSOR_MARKER : "";
  let text = "";
  let column = 0;
  let beforeLast = "";
  let last = "";
  let isDrawn = cursorCol === undefined;
  for (const cluster of rowClusters(layout, row)) {
    // What has no width would change the character before it.
    if (cluster.width === 0) continue;
    if (column + cluster.width > width) break;
    column += cluster.width;
    const visible = cluster.text;
    beforeLast = text;
    last = visible;
    if (!isDrawn && cursorCol !== undefined && cluster.index >= cursorCol) {
      text += `${marker}\x1b[7m${visible}\x1b[0m`;
      isDrawn = true;
    } else text += visible;
  }
  if (isDrawn) return { text, width: column };
  if (column < width) return { text: `${text}${marker}\x1b[7m \x1b[0m`, width: column + 1 };
  return { text: `${beforeLast}${marker}\x1b[7m${last}\x1b[0m`, width: column };
}

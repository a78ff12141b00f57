/** Puts a line of the screen together from pieces of several components. */
import { visibleWidth } from "./text/cells.ts";
import { linkEnd } from "./text/style.ts";
import { truncateToWidth } from "./text/truncate.ts";

export interface Column {
  x: number;
  width: number;
  text: string;
}

/** No style and no link reaches over the end of its column. Columns are in order and do not overlap. */
export function joinColumns(columns: readonly Column[], width: number): string {
  let line = "";
  let end = 0;
  for (const { x, width: size, text } of columns) {
    const room = Math.min(size, width - x);
    if (room <= 0 || text === "") continue;
    const shown = visibleWidth(text) > room ? truncateToWidth(text, room, "") : text;
    const close = shown.includes("\x1b") ? `\x1b[0m${linkEnd}` : "";
    line += " ".repeat(Math.max(0, x - end)) + shown + close;
    end = x + visibleWidth(shown);
  }
  return line;
}

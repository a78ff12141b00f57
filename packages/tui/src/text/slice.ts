/** Columns of a line, with the styles that are active there. */
import { toCells } from "./cells.ts";
import { StyleTracker } from "./style.ts";

interface Slice {
  text: string;
  /** In columns. */
  width: number;
}

/**
 * The columns from `start` on. A wide character that begins before `start` is left out; one that goes over the end is kept,
 * unless `strict`.
 */
export function sliceWithWidth(line: string, start: number, length: number, strict = false): Slice {
  if (length <= 0) return { text: "", width: 0 };
  const end = start + length;
  const styles = new StyleTracker();
  let text = "";
  let width = 0;
  let column = 0;
  for (const cell of toCells(line)) {
    if (column >= end) break;
    if (cell.isEscape) {
      styles.add(cell.text);
      if (text !== "") text += cell.text;
      continue;
    }
    const isInside = column >= start && (!strict || column + cell.width <= end);
    if (isInside && (cell.width > 0 || text !== "")) {
      if (text === "") text = styles.open();
      text += cell.text;
      width += cell.width;
    }
    column += cell.width;
  }
  return { text, width };
}

export const sliceByColumn = (line: string, start: number, length: number, strict = false): string =>
  sliceWithWidth(line, start, length, strict).text;

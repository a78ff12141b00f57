/** Puts a line over another. */
import { visibleWidth } from "../text/cells.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { padToWidth } from "../text/pad.ts";
import { sliceByColumn, sliceWithWidth } from "../text/slice.ts";

const reset = "\x1b[0m\x1b]8;;\x07";

/** `overlay` takes the columns from `startCol` on; the result has at most `totalWidth` columns. */
export function compositeTuiLine(
  base: string,
  overlay: string,
  startCol: number,
  overlayWidth: number,
  totalWidth: number,
): string {
  const end = startCol + overlayWidth;
  const before = sliceWithWidth(base, 0, startCol, true);
  const above = sliceWithWidth(overlay, 0, Math.min(overlayWidth, totalWidth - startCol), true);
  // A wide character that the overlay cuts in two leaves a blank.
  const after = visibleWidth(base) > end ? sliceWithWidth(base, end, totalWidth - end, true) : { text: "", width: 0 };
  const gap = Math.max(0, Math.min(visibleWidth(base), totalWidth) - end - after.width);
  const text = `${padToWidth(before.text, startCol)}${reset}${padToWidth(above.text, overlayWidth)}${reset}`;
  return `${text}${" ".repeat(after.width > 0 ? gap : 0)}${after.text}`;
}

/** A part of a line, from column `start` on, in another style instead of its own. */
export function restyle(
  line: string,
  { start, width, columns }: { start: number; width: number; columns: number },
  style: (text: string) => string,
): string {
  const text = padToWidth(sliceByColumn(stripTerminalSequences(line), start, width, true), width);
  return compositeTuiLine(line, style(text), start, width, columns);
}

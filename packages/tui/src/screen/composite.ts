/** Puts a line over another. */
import { visibleWidth } from "../text/cells.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { padToWidth } from "../text/pad.ts";
import { sliceByColumn, sliceWithWidth } from "../text/slice.ts";

const reset = "\x1b[0m\x1b]8;;\x07";

/** `overlay` takes the columns from `startCol` on; the result has `totalWidth` columns. */
export function compositeTuiLine(
  base: string,
  overlay: string,
  startCol: number,
  overlayWidth: number,
  totalWidth: number,
): string {
  const end = startCol + overlayWidth;
  const before = sliceWithWidth(base, 0, startCol, true);
  const aboveWidth = Math.min(overlayWidth, totalWidth - startCol);
  const above = sliceWithWidth(overlay, 0, aboveWidth, true);
  // A wide character that the overlay cuts in two leaves a blank.
  const after = visibleWidth(base) > end ? sliceWithWidth(base, end, totalWidth - end, true) : { text: "", width: 0 };
  const gap = after.width > 0 ? Math.max(0, Math.min(visibleWidth(base), totalWidth) - end - after.width) : 0;
  const text = `${padToWidth(before.text, startCol)}${reset}${padToWidth(above.text, aboveWidth)}${reset}`;
  const rest = totalWidth - end - gap - after.width;
  return `${text}${" ".repeat(gap)}${after.text}${rest > 0 ? reset + " ".repeat(rest) : ""}`;
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

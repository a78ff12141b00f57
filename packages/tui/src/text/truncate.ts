/** Cuts text to a width in columns. */
import { toCells, visibleWidth } from "./cells.ts";
import { StyleTracker } from "./style.ts";

const reset = "\x1b[0m";

/** Cuts text that is wider than `maxWidth`, so that it and `ellipsis` fit. With `pad`, the result is exactly that wide. */
export function truncateToWidth(text: string, maxWidth: number, ellipsis = "...", pad = false): string {
  if (maxWidth <= 0) return "";
  const width = visibleWidth(text);
  if (width <= maxWidth) return pad ? text + " ".repeat(maxWidth - width) : text;
  const shownEllipsis = cut(ellipsis, maxWidth);
  const piece = cut(text, maxWidth - shownEllipsis.width);
  const end = shownEllipsis.text === "" ? "" : shownEllipsis.text + reset;
  const padding = pad ? " ".repeat(maxWidth - piece.width - shownEllipsis.width) : "";
  return piece.text + reset + end + padding;
}

/** The beginning of a text that fits, with its link closed. */
function cut(text: string, maxWidth: number): { text: string; width: number } {
  const styles = new StyleTracker();
  let result = "";
  let width = 0;
  // Escape sequences count only if something that fits follows.
  const escapes: string[] = [];
  for (const cell of toCells(text)) {
    if (cell.isEscape) {
      escapes.push(cell.text);
      continue;
    }
    if (width + cell.width > maxWidth) break;
    for (const escape of escapes.splice(0)) {
      styles.add(escape);
      result += escape;
    }
    result += cell.text;
    width += cell.width;
  }
  return { text: result + styles.closeLink(), width };
}

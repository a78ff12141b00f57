/** Cuts text to a width in columns. */
import { toCells, visibleWidth } from "./cells.ts";
import { StyleTracker } from "./style.ts";

const reset = "\x1b[0m";

/**
 * Cuts text that is wider than `maxWidth`, so that it and `ellipsis` fit. With `pad`, the result is exactly that wide. Where
 * the ellipsis has no room itself, only what fits of it is shown, so that a cut text never looks like a whole one.
 */
export function truncateToWidth(text: string, maxWidth: number, ellipsis = "...", pad = false): string {
  if (maxWidth <= 0) return "";
  const width = visibleWidth(text);
  if (width <= maxWidth) return pad ? text + " ".repeat(maxWidth - width) : text;
  const ellipsisWidth = visibleWidth(ellipsis);
  const isWhole = ellipsisWidth <= maxWidth;
  const shownEllipsis = isWhole ? { text: ellipsis, width: ellipsisWidth } : cut(ellipsis, maxWidth);
  const piece = isWhole ? cut(text, maxWidth - shownEllipsis.width) : nothing;
  if (!isWhole && shownEllipsis.width === 0) return pad ? " ".repeat(maxWidth) : "";
  const end = shownEllipsis.text === "" ? "" : shownEllipsis.text + reset;
  const padding = pad ? " ".repeat(maxWidth - piece.width - shownEllipsis.width) : "";
  return piece.text + reset + end + padding;
}

const nothing = { text: "", width: 0 };

/** The beginning of a text that fits, with its link closed. */
function cut(text: string, maxWidth: number): { text: string; width: number } {
  const styles = new StyleTracker();
  let result = "";
  let width = 0;
  // Escape sequences are kept only if something that fits follows.
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

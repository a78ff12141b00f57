import { visibleWidth, wrapTextWithAnsi } from "@tau/tui";

interface NumberedLine {
  /** The text before the line, such as a number, with the blank after it. */
  gutter: string;
  text: string;
  /** Columns for both. */
  width: number;
}

/** A text that has less room than this begins again below its gutter. */
const minTextWidth = 12;

/** Draws a line of a file. Where it is broken, it continues below its text and not below its number. */
export function drawNumbered({ gutter, text, width }: NumberedLine): string[] {
  const gutterWidth = visibleWidth(gutter);
  const room = width - gutterWidth;
  if (gutterWidth === 0 || room < minTextWidth) return wrapTextWithAnsi(gutter + text, Math.max(1, width));
  return wrapTextWithAnsi(text, room).map((line, index) => (index === 0 ? gutter : " ".repeat(gutterWidth)) + line);
}

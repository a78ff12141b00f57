import { visibleWidth, wrapTextWithAnsi } from "@tau/tui";

/** A text that has less room than this begins below its name. */
const minTextWidth = 24;
const gap = 2;

/** Rows of a name and a text, for a remark. Where a text wraps, it continues below its beginning. Pure. */
export function formatRows(rows: readonly (readonly [name: string, text: string])[], columns: number): string[] {
  // As much as a remark has, without the blanks at its sides.
  const width = columns - 2;
  const nameWidth = Math.max(0, ...rows.map(([name]) => visibleWidth(name))) + gap;
  const isBelow = width - nameWidth < minTextWidth;
  const indent = isBelow ? 2 * gap : nameWidth;
  return rows.flatMap(([name, text]) => {
    const lines = wrapTextWithAnsi(text, Math.max(1, width - indent)).map((line) => " ".repeat(indent) + line);
    if (isBelow) return name === "" ? lines : [name, ...lines];
    return lines.map((line, index) => (index === 0 ? name.padEnd(indent) + line.slice(indent) : line));
  });
}

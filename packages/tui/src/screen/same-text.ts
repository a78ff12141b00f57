/** Finds the same place in lines that were broken for another width. Pure. */
import { stripTerminalSequences } from "../text/escape.ts";

/** Blanks, and lines and corners of tables and quotes: there are more or fewer of them in another width. */
const layout = /[\s\u2500-\u257f]+/g;

/** How much text a line has. Every line has some, so that empty lines are found again too. */
export const countText = (line: string): number => stripTerminalSequences(line).replaceAll(layout, "").length || 1;

/** How many lines, from the first, have this much text, and whether it ends inside the next one. */
export function findText(lines: readonly string[], amount: number): { lines: number; isInside: boolean } {
  let rest = amount;
  for (const [index, line] of lines.entries()) {
    if (rest === 0) return { lines: index, isInside: false };
    rest -= countText(line);
    if (rest < 0) return { lines: index, isInside: true };
  }
  return { lines: lines.length, isInside: false };
}

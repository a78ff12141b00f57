/** A diff in colours, with the numbers of its lines. Where one line replaces another, the words that differ are marked. */
import { type DiffLine, type DiffRow, diffSigns, getNumberWidth } from "@tau/protocol/surface";
import type { Theme, ThemeColor } from "@tau/tui";
import { drawNumbered } from "./numbered-lines.ts";

interface DiffOptions {
  theme: Theme;
  /** Columns. Longer lines are broken, and continue beside the numbers. */
  width: number;
}

export function drawDiff(rows: readonly DiffRow[], { theme, width }: DiffOptions): string[] {
  const numberWidth = getNumberWidth(rows);
  const draw = (gutter: string, text: string) => drawNumbered({ gutter, text, width });
  const blank = " ".repeat(numberWidth);
  return rows.flatMap((row, index) => {
    if (row.kind === "file") return draw("", theme.fg("muted", theme.bold(row.text)));
    if (row.kind === "gap") return draw("", theme.fg("dim", `${blank} …`));
    if (row.kind === "note") return draw(`${blank} `, theme.fg("dim", row.text));
    const text = theme.fg(colors[row.kind], markChange(rows, index, theme) ?? row.text);
    if (row.number === undefined) return draw("", text);
    const number = theme.fg("dim", String(row.number).padStart(numberWidth));
    return draw(`${number} ${theme.fg(colors[row.kind], diffSigns[row.kind])} `, text);
  });
}

const colors: Readonly<Record<DiffLine["kind"], ThemeColor>> = {
  added: "toolDiffAdded",
  removed: "toolDiffRemoved",
  context: "toolDiffContext",
};

/** The line with the words marked that differ from the line that it replaced or that replaced it; undefined without one. */
function markChange(rows: readonly DiffRow[], index: number, theme: Theme): string | undefined {
  const row = rows[index] as DiffLine;
  const other = findCounterpart(rows, index);
  if (!other) return undefined;
  // Without numbers the signs are part of the text.
  const signLength = row.number === undefined ? 1 : 0;
  const [words, otherWords] = [toWords(row.text.slice(signLength)), toWords(other.text.slice(signLength))];
  let start = 0;
  while (start < words.length && words[start] === otherWords[start]) start++;
  let end = 0;
  const max = Math.min(words.length, otherWords.length) - start;
  while (end < max && words.at(-1 - end) === otherWords.at(-1 - end)) end++;
  const changed = words.slice(start, words.length - end).join("");
  // If nearly everything differs, marks would only disturb.
  if (changed === "" || changed.length > 0.7 * row.text.length) return undefined;
  const [before, after] = [words.slice(0, start).join(""), words.slice(words.length - end).join("")];
  return `${row.text.slice(0, signLength)}${before}${theme.inverse(changed)}${after}`;
}

/** The line that this one replaced or was replaced by, if that is one line alone. */
function findCounterpart(rows: readonly DiffRow[], index: number): DiffLine | undefined {
  const kind = rows[index]?.kind;
  if (kind !== "added" && kind !== "removed") return undefined;
  const otherIndex = index + (kind === "removed" ? 1 : -1);
  const other = rows[otherIndex];
  if (other?.kind !== (kind === "removed" ? "added" : "removed")) return undefined;
  const first = Math.min(index, otherIndex);
  const isAlone = rows[first - 1]?.kind !== "removed" && rows[first + 2]?.kind !== "added";
  return isAlone ? other : undefined;
}

const toWords = (text: string): string[] => text.match(/\w+|\s+|[^\w\s]/gu) ?? [];

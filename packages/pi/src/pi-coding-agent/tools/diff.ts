/** Differences of two texts: with line numbers for people, and as a patch. */
import { createTwoFilesPatch, diffLines } from "diff";

interface DiffResult {
  diff: string;
  /** 1-based, in the new text; undefined if nothing changed. */
  firstChangedLine: number | undefined;
}

export const generateUnifiedPatch = (path: string, before: string, after: string, contextLines = 4): string =>
  createTwoFilesPatch(path, path, before, after, undefined, undefined, { context: contextLines });

interface Row {
  sign: "+" | "-" | " ";
  /** Number in the new text for added lines, else in the old text. */
  line: number;
  text: string;
}

/** Each line with a sign and its number; unchanged lines far from a change are `...`. */
export function generateDiffString(before: string, after: string, contextLines = 4): DiffResult {
  const rows = toRows(before, after);
  const width = String(Math.max(before.split("\n").length, after.split("\n").length)).length;
  const isNear = markNear(rows, contextLines);
  const lines: string[] = [];
  for (const [index, { sign, line, text }] of rows.entries()) {
    if (isNear[index]) lines.push(`${sign}${String(line).padStart(width)} ${text}`);
    else if (index === 0 || isNear[index - 1]) lines.push(` ${" ".repeat(width)} ...`);
  }
  return { diff: lines.join("\n"), firstChangedLine: findFirstChange(rows) };
}

function toRows(before: string, after: string): Row[] {
  const rows: Row[] = [];
  let [oldLine, newLine] = [1, 1];
  for (const { value, added, removed } of diffLines(before, after)) {
    const lines = value.split("\n");
    if (lines.at(-1) === "") lines.pop();
    for (const text of lines) {
      const sign = added ? "+" : removed ? "-" : " ";
      rows.push({ sign, line: added ? newLine : oldLine, text });
      if (!added) oldLine++;
      if (!removed) newLine++;
    }
  }
  return rows;
}

/** For each row, whether a change is at most `distance` rows away. */
function markNear(rows: readonly Row[], distance: number): boolean[] {
  const isNear = rows.map(() => false);
  for (const [index, { sign }] of rows.entries()) {
    if (sign === " ") continue;
    const end = Math.min(rows.length, index + distance + 1);
    for (let near = Math.max(0, index - distance); near < end; near++) isNear[near] = true;
  }
  return isNear;
}

function findFirstChange(rows: readonly Row[]): number | undefined {
  const index = rows.findIndex(({ sign }) => sign !== " ");
  if (index < 0) return undefined;
  return rows[index]!.sign === "+" ? rows[index]!.line : rows.slice(0, index).length + 1;
}

/** Reads diffs for a person: rows with the numbers of their lines, without the marks of the format. Pure. */

export type DiffRow =
  /** The name of the file that the next rows are about. */
  | { kind: "file"; text: string }
  /** Lines that are the same and not shown. */
  | { kind: "gap" }
  /** A remark of the program that made the diff. */
  | { kind: "note"; text: string }
  | DiffLine;

export interface DiffLine {
  kind: "added" | "removed" | "context";
  /** 1-based: in the old text if the line was removed, else in the new one. Undefined where the diff does not have it. */
  number: number | undefined;
  /** Without the sign, unless there is no number: the text may be in a format of its own then. */
  text: string;
}

const hunkHeader = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Takes unified diffs, and any other text whose changed lines begin with `+` and `-`. */
export function parseDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  /** The numbers of the next lines; undefined before the first hunk. */
  let next: { before: number; after: number } | undefined;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const header = hunkHeader.exec(line);
    if (header) {
      if (rows.length > 0 && rows.at(-1)?.kind !== "file") rows.push({ kind: "gap" });
      next = { before: Number(header[1]), after: Number(header[2]) };
    } else if (/^(?:Index:|diff |={10})/.test(line)) next = undefined;
    else if (next) rows.push(toRow(line, next));
    // Before a hunk these name the files; the new name is used.
    else if (line.startsWith("+++ ")) rows.push({ kind: "file", text: line.slice(4).replace(/\t.*$/, "") });
    else if (!line.startsWith("--- ")) rows.push({ kind: getKind(line), number: undefined, text: line });
  }
  return rows;
}

/** Advances the numbers in `next`. */
function toRow(line: string, next: { before: number; after: number }): DiffRow {
  const kind = getKind(line);
  const text = line.slice(1);
  if (kind === "removed") return { kind, number: next.before++, text };
  if (kind === "added") return { kind, number: next.after++, text };
  // An editor may have removed the blank of an empty line.
  if (line !== "" && !line.startsWith(" ")) return { kind: "note", text: line.replace(/^\\ /, "") };
  next.before++;
  return { kind, number: next.after++, text };
}

const getKind = (line: string): DiffLine["kind"] =>
  line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "context";

/** Several diffs as one. Files are named only if there are several. */
export function parseDiffs(diffs: readonly string[]): DiffRow[] {
  const rows = diffs.flatMap(parseDiff);
  return rows.filter(({ kind }) => kind === "file").length > 1 ? rows : rows.filter(({ kind }) => kind !== "file");
}

/** A text with unified diffs in it as rows; undefined if it has none. The other lines are rows without a number. */
export function parseTextWithDiffs(text: string): DiffRow[] | undefined {
  const parts = text.split(/^(?=--- .*\n\+\+\+ .*\n@@ -)/m);
  return parts.length === 1 ? undefined : parts.flatMap(parseDiff);
}

/** How many columns the numbers of lines need; 0 if there are none. */
export const getNumberWidth = (rows: readonly DiffRow[]): number =>
  rows.reduce((width, row) => {
    const number = "number" in row ? row.number : undefined;
    return number === undefined ? width : Math.max(width, String(number).length);
  }, 0);

export const diffSigns: Readonly<Record<DiffLine["kind"], string>> = { added: "+", removed: "-", context: " " };

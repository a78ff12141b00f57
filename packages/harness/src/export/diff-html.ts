/** A diff as HTML, with the numbers of its lines and a class for each kind of row. */
import { type DiffRow, diffSigns, getNumberWidth, parseDiff } from "@tau/protocol/surface";
import { clean, escapeHtml } from "./text.ts";

const classes: Readonly<Record<DiffRow["kind"], string | undefined>> = {
  added: "add",
  removed: "del",
  context: undefined,
  file: "file",
  gap: "dim",
  note: "dim",
};

/** Takes unified diffs, and any other text whose changed lines begin with `+` and `-`. */
export function diffHtml(diff: string): string {
  const rows = parseDiff(clean(diff));
  const numberWidth = getNumberWidth(rows);
  const lines = rows.map((row) => {
    const text = rowHtml(row, numberWidth);
    const name = classes[row.kind];
    return name === undefined ? text : `<span class="${name}">${text}</span>`;
  });
  return `<pre class="diff">${lines.join("\n")}</pre>`;
}

function rowHtml(row: DiffRow, numberWidth: number): string {
  const blank = " ".repeat(numberWidth);
  if (row.kind === "gap") return `${blank} …`;
  if (row.kind === "note") return `${blank} ${escapeHtml(row.text)}`;
  if (row.kind === "file" || row.number === undefined) return escapeHtml(row.text);
  const number = String(row.number).padStart(numberWidth);
  return `<i>${number}</i> ${diffSigns[row.kind]} ${escapeHtml(row.text)}`;
}

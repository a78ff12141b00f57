/** A diff, with the numbers of its lines and a class for each kind of row. */
import { type DiffRow, diffSigns, getNumberWidth } from "@tau/protocol/surface";
import { NumberedLine } from "./numbered-line.tsx";

export function Diff({ rows }: { rows: readonly DiffRow[] }) {
  const numberWidth = getNumberWidth(rows);
  return (
    <pre class="diff" tabIndex={0}>
      {rows.map((row, index) => (
        <NumberedLine key={index} kind={row.kind} width={numberWidth} {...describeRow(row)} />
      ))}
    </pre>
  );
}

function describeRow(row: DiffRow): { text: string; number?: number | undefined } {
  if (row.kind === "gap") return { text: "…" };
  if (row.kind === "file" || row.kind === "note" || row.number === undefined) return { text: row.text };
  return { number: row.number, text: `${diffSigns[row.kind]} ${row.text}` };
}

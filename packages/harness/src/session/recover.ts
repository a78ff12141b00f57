/** From a log's bytes to its table. Pure: the same for bytes in memory, in a file, or the end of one. */
import { EntryTable, kindOf } from "./entry-table.ts";
import { factsOf, type LineFacts, Scanner, type ScannedPiece, type ScanSink, type SessionProblem } from "./scan.ts";

/** What is known of a log. */
export interface Recovered {
  table: EntryTable;
  problems: SessionProblem[];
  /** Where the header is; undefined when there is none that can be read. */
  header: { offset: number; length: number } | undefined;
  /** The end of what is whole; a torn tail begins here. */
  end: number;
  /** The number of the line that begins there. */
  line: number;
}

/** Adds an entry that was just written. */
export function placeEntry(
  known: Recovered,
  entry: object,
  { offset, length }: { offset: number; length: number },
): void {
  known.end = offset + length + 1;
  known.line++;
  const facts = factsOf(entry);
  if (!facts) return;
  if (facts.type === "session") known.header ??= { offset, length };
  else addRow(known.table, facts, { offset, length });
}

/** The row's parent is where it should be, or the nearest entry that is known; says whether that is so. */
function addRow(table: EntryTable, facts: LineFacts, place: { offset: number; length: number }): boolean {
  const found = facts.parentId === null ? -1 : table.find(facts.parentId);
  const isReattached = facts.parentId !== null && (found < 0 || table.kind(found) === "damaged");
  const parent = isReattached && found < 0 ? table.count - 1 : found;
  table.add({ ...place, parent, id: facts.id, kind: kindOf(facts), isReattached });
  return isReattached;
}

/** Takes a log in chunks, from its beginning or from where an earlier look ended. */
export class Recovery implements ScanSink {
  readonly #known: Recovered;
  readonly #scanner: Scanner;

  constructor(known: Recovered = emptyLog()) {
    this.#known = known;
    this.#scanner = new Scanner(this, { offset: known.end, line: known.line });
  }

  push(chunk: Buffer): void {
    this.#scanner.push(chunk);
  }

  end(): Recovered {
    this.#scanner.end();
    const known = this.#known;
    known.end = this.#scanner.position;
    known.line = this.#scanner.line;
    if (!known.header && known.table.count > 0 && !known.problems.some(({ kind }) => kind === "no_header")) {
      const message = "The first line is no session header; what follows was read without it.";
      known.problems.unshift({ kind: "no_header", line: 1, offset: 0, message });
    }
    return known;
  }

  onPiece({ offset, length, line, facts, traces }: ScannedPiece): void {
    const { table } = this.#known;
    if (facts?.type === "session") {
      this.#known.header ??= { offset, length };
      return;
    }
    const previous = table.count - 1;
    if (facts?.id === "") this.onProblem({ kind: "damaged", line, offset, message: `Line ${line} has no id.` });
    if (!facts || facts.id === "") {
      const parent = traces?.parentId === undefined ? previous : table.find(traces.parentId);
      const known = parent < 0 ? previous : parent;
      table.add({ offset, length, parent: known, id: traces?.id ?? "", kind: "damaged", isReattached: false });
      return;
    }
    if (!addRow(table, facts, { offset, length })) return;
    const message = `The entry before ${facts.id} is lost; it is shown after the nearest one that is known.`;
    this.onProblem({ kind: "reattached", line, offset, message });
  }

  onProblem(problem: SessionProblem): void {
    this.#known.problems.push(problem);
  }
}

const emptyLog = (): Recovered => ({ table: new EntryTable(), problems: [], header: undefined, end: 0, line: 1 });

/** Everything that can be had from a log's bytes. Never throws. */
export function recover(bytes: Uint8Array): Recovered {
  const recovery = new Recovery();
  recovery.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return recovery.end();
}

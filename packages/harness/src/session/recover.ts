/** Builds the table of a log from its bytes. Pure: the bytes may be in memory, in a file, or only the end of a file. */
import { type EntryKind, EntryTable } from "./entry-table.ts";
import type { SessionEntry } from "./entry.ts";
import { getFacts, type LineFacts, Scanner, type ScannedPiece, type ScanSink, type SessionProblem } from "./scan.ts";
import { countEntry, type CountedRows, emptyTotals } from "./totals.ts";

export interface Recovered {
  table: EntryTable;
  /** Rows that were scanned are not counted yet, because scanning does not parse them. */
  counted: CountedRows;
  /** The first problems; if there are more, the last one says how many. */
  problems: SessionProblem[];
  /** How many problems are not listed. */
  unlisted: number;
  /** Undefined if there is no readable header. */
  header: Span | undefined;
  /** The end of the last whole line, where a torn tail begins. */
  end: number;
  /** The number of the line that begins at `end`. */
  line: number;
}

interface Span {
  offset: number;
  length: number;
}

type EntryFacts = LineFacts & { kind: EntryKind };

/** Whether these are the bytes of a session: they have a header or, if it is lost, messages in the form of a log. */
export const isSession = ({ header, table }: Recovered): boolean =>
  header !== undefined || table.countKinds("user", "assistant", "toolResult") > 0;

/** Adds an entry or a header that was just written. */
export function addEntry(known: Recovered, entry: object, { offset, length }: Span): void {
  known.end = offset + length + 1;
  known.line++;
  const facts = getFacts(entry);
  if (!facts) return;
  if (facts.kind === "header") known.header ??= { offset, length };
  else {
    const { counted, table } = known;
    const isCounted = counted.rows === table.count;
    addRow(table, facts as EntryFacts, { offset, length });
    if (isCounted) known.counted = { rows: table.count, totals: countEntry(counted.totals, entry as SessionEntry) };
  }
}

/** Returns whether the row was attached to another parent because its own is lost. */
function addRow(table: EntryTable, { kind, id, parent }: EntryFacts, { offset, length }: Span): boolean {
  const parentRow = parent === undefined ? -1 : table.find(parent);
  // The first entry of a log is a root even if it does not name its parent.
  const isRoot = parent === undefined || (Number.isNaN(parent) && table.count === 0);
  const isReattached = !isRoot && (parentRow < 0 || table.kind(parentRow) === "damaged");
  const nearest = isReattached && parentRow < 0 ? table.replaceParent(parent) : parentRow;
  table.add({ offset, length, parent: nearest, id, kind, isReattached });
  return isReattached;
}

/** An index with all problems of a hostile log would be larger than the log. */
const maxProblems = 1_000;

/** Takes a log in chunks, from its beginning or from where an index ends. */
export class Recovery implements ScanSink {
  readonly #known: Recovered;
  readonly #scanner: Scanner;

  /** With `parsesAll`, lines with a right checksum are parsed too. */
  constructor(known: Recovered = createEmpty(), { parsesAll = false } = {}) {
    this.#known = known;
    this.#scanner = new Scanner(this, { offset: known.end, line: known.line, parsesAll });
  }

  push(chunk: Buffer): void {
    this.#scanner.push(chunk);
  }

  end(): Recovered {
    this.#scanner.end();
    const known = this.#known;
    known.end = this.#scanner.position;
    known.line = this.#scanner.line;
    const { problems, unlisted, line, end } = known;
    if (!known.header && known.table.count > 0 && !problems.some(({ kind }) => kind === "no_header")) {
      const message = "The first line is not a session header; the entries were read without it.";
      problems.unshift({ kind: "no_header", line: 1, offset: 0, message });
    }
    if (unlisted === 0) return known;
    // An index may hold an earlier count.
    const earlier = problems.findIndex(({ kind }) => kind === "more");
    if (earlier >= 0) problems.splice(earlier, 1);
    const message = `There are ${unlisted} more problems, which are not listed.`;
    problems.push({ kind: "more", line, offset: end, message });
    return known;
  }

  onPiece({ offset, length, line, facts, traces }: ScannedPiece): void {
    const { table } = this.#known;
    if (facts?.kind === "header") {
      this.#known.header ??= { offset, length };
      return;
    }
    if (facts?.id === undefined) {
      if (facts) this.onProblem({ kind: "no_id", line, offset, message: `Line ${line} has no id.` });
      const parentRow = traces?.parent === undefined ? -1 : table.find(traces.parent);
      const parent = parentRow < 0 ? table.count - 1 : parentRow;
      table.add({ offset, length, parent, id: traces?.id, kind: "damaged", isReattached: false });
      return;
    }
    if (!addRow(table, facts as EntryFacts, { offset, length })) return;
    const message = `The parent of line ${line} is lost; it was attached to the nearest known entry.`;
    this.onProblem({ kind: "reattached", line, offset, message });
  }

  onProblem(problem: SessionProblem): void {
    const { problems } = this.#known;
    if (problems.length < maxProblems || problem.kind === "torn") problems.push(problem);
    else this.#known.unlisted++;
  }
}

const createEmpty = (): Recovered => ({
  table: new EntryTable(),
  counted: { rows: 0, totals: emptyTotals },
  problems: [],
  unlisted: 0,
  header: undefined,
  end: 0,
  line: 1,
});

/** Never throws. */
export function recover(bytes: Uint8Array): Recovered {
  const recovery = new Recovery();
  recovery.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return recovery.end();
}

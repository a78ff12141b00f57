/** From a log's bytes to its table. Pure: the same for bytes in memory, in a file, or the end of one. */
import { type EntryKind, EntryTable } from "./entry-table.ts";
import { getFacts, type LineFacts, Scanner, type ScannedPiece, type ScanSink, type SessionProblem } from "./scan.ts";

/** What is known of a log. */
export interface Recovered {
  table: EntryTable;
  /** The first of them; the last says how many more there are. */
  problems: SessionProblem[];
  /** How many are not among them. */
  unlisted: number;
  /** Where the header is; undefined when there is none that can be read. */
  header: Span | undefined;
  /** The end of what is whole; a torn tail begins here. */
  end: number;
  /** The number of the line that begins there. */
  line: number;
}

interface Span {
  offset: number;
  length: number;
}

type EntryFacts = LineFacts & { kind: EntryKind };

/** Adds an entry that was just written. */
export function placeEntry(known: Recovered, entry: object, { offset, length }: Span): void {
  known.end = offset + length + 1;
  known.line++;
  const facts = getFacts(entry);
  if (!facts) return;
  if (facts.kind === "header") known.header ??= { offset, length };
  else addRow(known.table, facts as EntryFacts, { offset, length });
}

/** The row's parent is where it should be, or the nearest entry that is known; says whether that is so. */
function addRow(table: EntryTable, { kind, id, parent }: EntryFacts, { offset, length }: Span): boolean {
  const found = parent === undefined ? -1 : table.find(parent);
  // The first entry may leave unsaid that it hangs on nothing.
  const isRoot = parent === undefined || (Number.isNaN(parent) && table.count === 0);
  const isReattached = !isRoot && (found < 0 || table.kind(found) === "damaged");
  const nearest = isReattached && found < 0 ? table.standIn(parent) : found;
  table.add({ offset, length, parent: nearest, id, kind, isReattached });
  return isReattached;
}

/** Nobody reads more, and an index with all of a hostile log's would be larger than the log. */
const maxProblems = 1_000;

/** Takes a log in chunks, from its beginning or from where an earlier look ended. */
export class Recovery implements ScanSink {
  readonly #known: Recovered;
  readonly #scanner: Scanner;

  /** With `parsesAll`, a right checksum is not taken as proof that a line can be read. */
  constructor(known: Recovered = emptyLog(), { parsesAll = false } = {}) {
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
    if (!known.header && known.table.count > 0 && !known.problems.some(({ kind }) => kind === "no_header")) {
      const message = "The first line is no session header; what follows was read without it.";
      known.problems.unshift({ kind: "no_header", line: 1, offset: 0, message });
    }
    this.#sayHowManyMore();
    return known;
  }

  #sayHowManyMore(): void {
    const { problems, unlisted, line, end } = this.#known;
    if (unlisted === 0) return;
    // A log that goes on after its index has said so before.
    const before = problems.findIndex(({ kind }) => kind === "more");
    if (before >= 0) problems.splice(before, 1);
    const message = `There are ${unlisted} more problems, which are not listed.`;
    problems.push({ kind: "more", line, offset: end, message });
  }

  onPiece({ offset, length, line, facts, traces }: ScannedPiece): void {
    const { table } = this.#known;
    if (facts?.kind === "header") {
      this.#known.header ??= { offset, length };
      return;
    }
    if (facts?.id === undefined) {
      if (facts) this.onProblem({ kind: "no_id", line, offset, message: `Line ${line} has no id.` });
      const parent = traces?.parent === undefined ? -1 : table.find(traces.parent);
      const nearest = parent < 0 ? table.count - 1 : parent;
      table.add({ offset, length, parent: nearest, id: traces?.id, kind: "damaged", isReattached: false });
      return;
    }
    if (!addRow(table, facts as EntryFacts, { offset, length })) return;
    const message = `What came before line ${line} is lost; it is shown after the nearest entry that is known.`;
    this.onProblem({ kind: "reattached", line, offset, message });
  }

  onProblem(problem: SessionProblem): void {
    const { problems } = this.#known;
    if (problems.length < maxProblems || problem.kind === "torn") problems.push(problem);
    else this.#known.unlisted++;
  }
}

const emptyLog = (): Recovered => ({
  table: new EntryTable(),
  problems: [],
  unlisted: 0,
  header: undefined,
  end: 0,
  line: 1,
});

/** Everything that can be had from a log's bytes. Never throws. */
export function recover(bytes: Uint8Array): Recovered {
  const recovery = new Recovery();
  recovery.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return recovery.end();
}

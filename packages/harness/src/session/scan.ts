/**
 * Reading a log's bytes: which entries are there, where, and what is damaged. Pure. A damaged line costs its own entry
 * alone; two lines that lost the line feed between them are both found.
 */
import { checksumOf } from "./line.ts";

/** What is known of a line without looking into its content. */
export interface LineFacts {
  type: string;
  id: string;
  parentId: string | null;
  /** Of a message. */
  role?: string;
}

export type ProblemKind =
  /** The last line is not whole: it was never acknowledged. */
  | "torn"
  | "damaged"
  /** Two entries on one line; both were read. */
  | "fused"
  | "invalid_utf8"
  | "no_header"
  /** Its parent is lost; it hangs on the nearest ancestor that is known. */
  | "reattached";

export interface SessionProblem {
  kind: ProblemKind;
  /** Counted from 1. */
  line: number;
  /** Where the line begins, in bytes. */
  offset: number;
  message: string;
}

/** A piece of a line: an entry, or what is left of one. */
export interface ScannedPiece {
  offset: number;
  length: number;
  line: number;
  /** Undefined for what could not be read. */
  facts: LineFacts | undefined;
  /** What could still be made out of a damaged piece. */
  traces?: { id: string | undefined; parentId: string | undefined };
}

export interface ScanSink {
  onPiece(piece: ScannedPiece): void;
  onProblem(problem: SessionProblem): void;
}

/** Takes a log in chunks and reports its lines. */
export class Scanner {
  readonly #sink: ScanSink;
  #rest: Buffer = Buffer.alloc(0);
  #offset: number;
  #line: number;

  /** `offset` is where the first chunk begins, `line` the number of its first line. */
  constructor(sink: ScanSink, { offset = 0, line = 1 } = {}) {
    this.#sink = sink;
    this.#offset = offset;
    this.#line = line;
  }

  /** Where the next line begins. */
  get position(): number {
    return this.#offset;
  }

  get line(): number {
    return this.#line;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let start = 0;
    // What was looked through already holds no line feed.
    for (let end = bytes.indexOf(0x0a, this.#rest.length); end >= 0; end = bytes.indexOf(0x0a, start)) {
      this.#take(bytes.subarray(start, end), end + 1 - start);
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
  }

  /**
   * The end of the log. What has no line feed is an entry if it is whole, and else a torn tail, which is not taken:
   * `position` stays where it begins.
   */
  end(): void {
    if (this.#rest.length === 0) return;
    const rest = trimmed(this.#offset === 0 ? withoutMark(this.#rest) : this.#rest);
    if (rest.length > 0 && readPiece(rest).kind === "whole") return this.#take(this.#rest, this.#rest.length);
    const message = `The last line is not whole (${this.#rest.length} bytes): it was never acknowledged.`;
    this.#sink.onProblem({ kind: "torn", line: this.#line, offset: this.#offset, message });
  }

  #take(bytes: Buffer, length: number): void {
    const lineOffset = this.#offset;
    const line = this.#line;
    this.#offset += length;
    this.#line++;
    const body = lineOffset === 0 ? withoutMark(bytes) : bytes;
    const whole = trimmed(body);
    if (whole.length === 0) return;
    const offset = lineOffset + bytes.length - body.length + leadingBlanks(body);
    for (const part of partsOf(whole)) {
      const at = { offset: offset + part.from, length: part.bytes.length, line };
      const piece = part.piece;
      if (piece.kind === "whole") {
        this.#sink.onPiece({ ...at, facts: piece.facts });
        if (piece.note)
          this.#sink.onProblem({ kind: piece.note.kind, line, offset: at.offset, message: piece.note.message });
      } else {
        this.#sink.onPiece({ ...at, facts: undefined, traces: tracesOf(part.bytes) });
        this.#sink.onProblem({
          kind: "damaged",
          line,
          offset: at.offset,
          message: `Line ${line} is damaged: ${piece.reason}.`,
        });
      }
      if (part.isFused) {
        const message = `Line ${line} holds more than one entry: the line feed between them is lost.`;
        this.#sink.onProblem({ kind: "fused", line, offset: at.offset, message });
      }
    }
  }
}

type Piece =
  | { kind: "whole"; facts: LineFacts; note?: { kind: ProblemKind; message: string } }
  | { kind: "damaged"; reason: string };

interface Part {
  from: number;
  bytes: Buffer;
  piece: Piece;
  isFused?: boolean;
}

/** A line is one piece, unless it can only be read as several: then the line feeds between them are lost. */
function partsOf(line: Buffer): Part[] {
  const piece = readPiece(line);
  const starts = piece.kind === "whole" ? [0] : startsIn(line);
  if (starts.length === 1) return [{ from: 0, bytes: line, piece }];
  const parts = starts.map((from, at) => {
    const bytes = line.subarray(from, endBefore(line, starts[at + 1]));
    return { from, bytes, piece: readPiece(bytes), isFused: at === 1 };
  });
  return parts.some(({ piece: { kind } }) => kind === "whole") ? parts : [{ from: 0, bytes: line, piece }];
}

const entryStart = Buffer.from('{"type":"');
const [brace, comma] = [0x7d, 0x2c];

/**
 * Where entries begin on a line: at its start, and behind the end of another, with nothing in between or one byte that
 * was the line feed. Inside of an entry only a comma can stand there, and inside of a text its quotes would be escaped.
 */
function startsIn(line: Buffer): number[] {
  const starts = [0];
  for (let at = line.indexOf(entryStart, 1); at > 0; at = line.indexOf(entryStart, at + 1)) {
    if (line[at - 1] === brace || (line[at - 2] === brace && line[at - 1] !== comma)) starts.push(at);
  }
  return starts;
}

const endBefore = (line: Buffer, next: number | undefined) =>
  next === undefined ? line.length : line.lastIndexOf(brace, next - 1) + 1;

/** Our own lines begin like this; their facts can be had without parsing what may be megabytes. */
const ownStart =
  /^\{"type":"([a-z_]+)","id":"([^"\\]+)","parentId":(?:null|"([^"\\]+)"),"timestamp":"[^"\\]*"(?:,"message":\{"role":"([A-Za-z]+)")?/;
const longestStart = 256;

function readPiece(bytes: Buffer): Piece {
  const checksum = checksumOf(bytes);
  if (checksum === "wrong") return { kind: "damaged", reason: "its checksum is wrong" };
  if (checksum === "broken") return { kind: "damaged", reason: "its checksum is no checksum" };
  if (checksum === "right") {
    const match = ownStart.exec(bytes.toString("latin1", 0, longestStart));
    const [, type, id, parentId = null, role] = match ?? [];
    // Without a role a message was not recognised.
    if (type !== undefined && id !== undefined && (type !== "message" || role)) {
      return { kind: "whole", facts: { type, id, parentId, ...(role !== undefined && { role }) } };
    }
  }
  return parsePiece(bytes);
}

function parsePiece(bytes: Buffer): Piece {
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: "damaged", reason: `it is not JSON (${error instanceof Error ? error.message : String(error)})` };
  }
  const facts = factsOf(value);
  if (!facts) return { kind: "damaged", reason: "it is no entry" };
  // A replacement character is either what was written or what damage left; only the bytes tell.
  const isDamaged = text.includes("\uFFFD") && Buffer.byteLength(text) !== bytes.length;
  const note = {
    kind: "invalid_utf8",
    message: "A line holds bytes that are no UTF-8; they are shown as U+FFFD.",
  } as const;
  return { kind: "whole", facts, ...(isDamaged && { note }) };
}

/** What a parsed line says of itself; undefined when it is no entry. Entries of version 1 have no ids. */
export function factsOf(value: unknown): LineFacts | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, id = "", parentId = null, message } = value as Record<string, unknown>;
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  if (parentId !== null && typeof parentId !== "string") return undefined;
  const role = type === "message" ? (message as { role?: unknown } | undefined)?.role : undefined;
  return { type, id, parentId, ...(typeof role === "string" && { role }) };
}

/** What can still be made out of a damaged line: enough to know where its children belong. */
function tracesOf(bytes: Buffer): { id: string | undefined; parentId: string | undefined } {
  const start = bytes.toString("latin1", 0, longestStart);
  return {
    id: /"id":"([0-9a-f]{8})"/.exec(start)?.[1],
    parentId: /"parentId":"([0-9a-f]{8})"/.exec(start)?.[1],
  };
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === 0;

/** Without blanks at both ends. A disk that lost its power may have left a block of zeros. */
function trimmed(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && isBlank(bytes[end - 1])) end--;
  return bytes.subarray(Math.min(leadingBlanks(bytes), end), end);
}

function leadingBlanks(bytes: Buffer): number {
  let start = 0;
  while (start < bytes.length && isBlank(bytes[start])) start++;
  return start;
}

/** Some editors put a byte order mark in front of a file. */
const withoutMark = (bytes: Buffer) =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

/**
 * Reading a log's bytes: which entries are there, where, and what is damaged. Pure. A damaged line costs its own entry
 * alone; two lines that lost the line feed between them are both found.
 */
import { type EntryKind, idNumber, kindOf } from "./entry-table.ts";
import { checksumOf, readHex } from "./line.ts";

/** What is known of a line without looking into its content. Ids are those of the table. */
export interface LineFacts {
  kind: EntryKind | "header";
  /** Undefined for an entry without one. */
  id: number | undefined;
  /** Undefined for a root; not a number for an entry that does not say, which is known by its place alone. */
  parent: number | undefined;
}

export type ProblemKind =
  /** The last line is not whole: it was never acknowledged. */
  | "torn"
  | "damaged"
  /** Two entries on one line; both were read. */
  | "fused"
  | "invalid_utf8"
  | "no_header"
  /** An entry without an id: only version 1 had such. */
  | "no_id"
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
  traces?: Pick<LineFacts, "id" | "parent">;
}

export interface ScanSink {
  onPiece(piece: ScannedPiece): void;
  onProblem(problem: SessionProblem): void;
}

/** Takes a log in chunks and reports its lines. */
export class Scanner {
  readonly #sink: ScanSink;
  /** What came since the last line feed. */
  #rest: Buffer[] = [];
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
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      const bytes = this.#withRest(chunk.subarray(start, end));
      this.#take(bytes, bytes.length + 1);
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
  }

  #withRest(bytes: Buffer): Buffer {
    if (this.#rest.length === 0) return bytes;
    const all = Buffer.concat([...this.#rest, bytes]);
    this.#rest = [];
    return all;
  }

  /**
   * The end of the log. What has no line feed is an entry if it is whole, also with zeros behind it or a byte that was a
   * line feed once. The rest is a torn tail, which is not taken: `position` stays where it begins.
   */
  end(): void {
    const tail = this.#withRest(Buffer.alloc(0));
    const isWhole = (bytes: Buffer) =>
      readPiece(trimmed(this.#offset === 0 ? withoutMark(bytes) : bytes)).kind === "whole";
    const whole = [tail, tail.subarray(0, -1)].find(isWhole) ?? tail.subarray(0, endOfEntries(tail));
    if (whole.length > 0) this.#take(whole, whole.length);
    const left = tail.length - whole.length;
    if (left === 0) return;
    const message = `The last line is not whole (${left} bytes): it was never acknowledged.`;
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
    const piece = readPiece(whole);
    if (piece.kind === "whole") this.#report(piece, { offset, length: whole.length, line });
    else for (const part of partsOf(whole, piece)) this.#reportPart(part, offset, line);
  }

  #report({ facts, note }: Piece & { kind: "whole" }, at: { offset: number; length: number; line: number }): void {
    this.#sink.onPiece({ offset: at.offset, length: at.length, line: at.line, facts });
    if (note) this.#sink.onProblem({ ...note, line: at.line, offset: at.offset });
  }

  #reportPart({ from, bytes, piece, isFused }: Part, lineOffset: number, line: number): void {
    const at = { offset: lineOffset + from, length: bytes.length, line };
    if (piece.kind === "whole") this.#report(piece, at);
    else {
      this.#sink.onPiece({ ...at, facts: undefined, traces: tracesOf(bytes) });
      const message = `Line ${line} is damaged: ${piece.reason}.`;
      this.#sink.onProblem({ kind: "damaged", line, offset: at.offset, message });
    }
    if (!isFused) return;
    const message = `Line ${line} holds more than one entry: the line feed between them is lost.`;
    this.#sink.onProblem({ kind: "fused", line, offset: at.offset, message });
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

/** A line that cannot be read as one entry may be several: then what stood between them is lost. */
function partsOf(line: Buffer, piece: Piece): Part[] {
  const cuts = cutsIn(line);
  const parts = cuts.map((from, at) => {
    const bytes = line.subarray(from, endBefore(line, cuts[at + 1]));
    const part = readPiece(bytes);
    return { from, bytes, piece: part, isFused: from > 0 && part.kind === "whole" && line[from - 1] !== 0 };
  });
  return parts.some((part) => part.piece.kind === "whole") ? parts : [{ from: 0, bytes: line, piece }];
}

/** Where the last entry ends of those that can be read from a line that is not whole. */
function endOfEntries(line: Buffer): number {
  const last = partsOf(line, readPiece(line)).findLast((part) => part.piece.kind === "whole");
  return last ? last.from + last.bytes.length : 0;
}

const entryStart = Buffer.from('{"type":"');
const brace = 0x7d;
/** What stands before an object inside of an entry: `,` `[` `:` and blanks. In a text its quotes would be escaped. */
const inside = new Set([0x2c, 0x5b, 0x3a, 0x20, 0x09]);

/** Where a line can be cut: before what can only be the start of an entry, and before zeros, which no entry holds. */
function cutsIn(line: Buffer): number[] {
  const cuts = new Set([0]);
  for (let at = line.indexOf(entryStart, 1); at > 0; at = line.indexOf(entryStart, at + 1)) {
    if (!inside.has(line[at - 1]!)) cuts.add(at);
  }
  for (let at = line.indexOf(0); at >= 0; at = line.indexOf(0, at)) {
    cuts.add(at);
    while (line[at] === 0) at++;
  }
  return [...cuts].sort((a, b) => a - b);
}

/** Where what stands before a cut ends: one byte between them was the line feed. */
function endBefore(line: Buffer, cut: number | undefined): number {
  if (cut === undefined) return line.length;
  return line[cut - 1] !== brace && line[cut - 2] === brace ? cut - 1 : cut;
}

function readPiece(bytes: Buffer): Piece {
  const checksum = checksumOf(bytes);
  if (checksum === "wrong") return { kind: "damaged", reason: "its checksum is wrong" };
  if (checksum === "broken") return { kind: "damaged", reason: "its checksum is no checksum" };
  const facts = checksum === "right" ? readOwn(bytes) : undefined;
  return facts ? { kind: "whole", facts } : parsePiece(bytes);
}

const [quote, n] = [0x22, 0x6e];
const idField = '","id":"';
const parentField = '","parentId":';
const timestampField = ',"timestamp":"2026-01-01T00:00:00.000Z"'.length;
const roleField = ',"message":{"role":"';

/**
 * The facts of a line that we wrote ourselves, without parsing what may be megabytes. Its checksum is right, so it is
 * as it was written: `{"type":"…","id":"…","parentId":…,"timestamp":"…"`, and for a message its role next. Undefined
 * when it is not of this form.
 */
function readOwn(bytes: Buffer): LineFacts | undefined {
  if (bytes.compare(entryStart, 0, entryStart.length, 0, entryStart.length) !== 0) return undefined;
  const typeEnd = bytes.indexOf(quote, entryStart.length);
  const type = bytes.toString("latin1", entryStart.length, typeEnd);
  const idStart = typeEnd + idField.length;
  const id = readHex(bytes, idStart);
  const parentStart = idStart + 8 + parentField.length;
  if (!has(bytes, typeEnd, idField) || !has(bytes, idStart + 8, parentField)) return undefined;
  const isRoot = bytes[parentStart] === n;
  const parent = isRoot ? undefined : readHex(bytes, parentStart + 1);
  if (id === undefined || (!isRoot && parent === undefined) || type === "session") return undefined;
  if (type !== "message") return { kind: kindOf(type, undefined), id, parent };
  const roleStart = parentStart + (isRoot ? "null".length : 10) + timestampField;
  const roleEnd = roleStart + roleField.length;
  if (!has(bytes, roleStart, roleField)) return undefined;
  const role = bytes.toString("latin1", roleEnd, bytes.indexOf(quote, roleEnd));
  return { kind: kindOf(type, role), id, parent };
}

const has = (bytes: Buffer, at: number, text: string) => bytes.toString("latin1", at, at + text.length) === text;

function parsePiece(bytes: Buffer): Piece {
  let text: string;
  let value: unknown;
  try {
    text = bytes.toString("utf8");
    value = JSON.parse(text);
  } catch (error) {
    if (bytes.includes(0))
      return { kind: "damaged", reason: "it holds zeros, as a disk leaves them that lost its power" };
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
  const { type, id = "", parentId, message } = value as Record<string, unknown>;
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  if (parentId !== undefined && parentId !== null && typeof parentId !== "string") return undefined;
  const role = (message as { role?: unknown } | null | undefined)?.role;
  return {
    kind: type === "session" ? "header" : kindOf(type, role),
    id: id === "" ? undefined : idNumber(id),
    parent: parentId === null ? undefined : parentId === undefined ? Number.NaN : idNumber(parentId),
  };
}

/** Where an id may be in a damaged line. */
const longestStart = 256;

/** What can still be made out of a damaged line: enough to know where its children belong. */
function tracesOf(bytes: Buffer): Pick<LineFacts, "id" | "parent"> {
  const start = bytes.toString("latin1", 0, longestStart);
  const [, id] = /"id":"([0-9a-f]{8})"/.exec(start) ?? [];
  const [, parent] = /"parentId":"([0-9a-f]{8})"/.exec(start) ?? [];
  return { id: id && idNumber(id), parent: parent && idNumber(parent) } as Pick<LineFacts, "id" | "parent">;
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0d || byte === 0x09;

/** Without blanks at both ends. */
function trimmed(bytes: Buffer): Buffer {
  if (bytes.length > 0 && !isBlank(bytes[0]) && !isBlank(bytes[bytes.length - 1])) return bytes;
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

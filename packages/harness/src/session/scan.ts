/**
 * Reading a log's bytes: which entries are there, where, and what is damaged. Pure. A damaged line costs its own entry
 * alone; two lines that lost the line feed between them are both found.
 */
import { getErrorMessage } from "@tau/ai";
import { sessionVersion } from "./entry.ts";
import { type EntryKind, idNumber, getKind } from "./entry-table.ts";
import { readChecksum, maxLineBytes, readHex } from "./line.ts";

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
  | "reattached"
  /** Its header names a version that we do not know. It is read as ours. */
  | "newer_version"
  /** Nothing in it is a header or an entry: the file belongs to somebody else, and is not written to. */
  | "no_session"
  /** There are so many that the others are only counted. */
  | "more";

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

export interface ScannerOptions {
  /** Where the first chunk begins. Default 0. */
  offset?: number;
  /** The number of its first line. Default 1. */
  line?: number;
  /** Default false: a line of ours with a right checksum is not parsed. */
  parsesAll?: boolean;
}

/** Takes a log in chunks and reports its lines. */
export class Scanner {
  readonly #sink: ScanSink;
  readonly #parsesAll: boolean;
  readonly #rest = new LineRest();
  #offset: number;
  #line: number;

  constructor(sink: ScanSink, { offset = 0, line = 1, parsesAll = false }: ScannerOptions = {}) {
    this.#sink = sink;
    this.#offset = offset;
    this.#line = line;
    this.#parsesAll = parsesAll;
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
      this.#endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  #keep(bytes: Buffer): void {
    if (this.#rest.zeros > 0 && !isZeros(bytes)) this.#takeUpToZeros();
    this.#rest.add(bytes);
  }

  #endLine(bytes: Buffer): void {
    if (this.#rest.zeros > 0) this.#takeUpToZeros();
    const { isOverlong } = this.#rest;
    if (isOverlong) this.#takeLost(this.#rest.clear() + bytes.length, tooLong);
    else this.#take(this.#rest.join(bytes));
    this.#offset++;
    this.#line++;
  }

  /** No entry goes on behind zeros: what stands before them in the line is all of it. */
  #takeUpToZeros(): void {
    const { zeros } = this.#rest;
    this.#take(this.#rest.join());
    this.#takeLost(zeros, holdsZeros);
  }

  /**
   * The end of the log. What has no line feed is an entry if it is whole, also with zeros behind it or a byte that was a
   * line feed once. The rest is a torn tail, which is not taken: `position` stays where it begins.
   */
  end(): void {
    const { zeros, isOverlong } = this.#rest;
    const tail = isOverlong ? Buffer.alloc(0) : this.#rest.join();
    const isWhole = (bytes: Buffer) =>
      this.#read(trimmed(this.#offset === 0 ? withoutMark(bytes) : bytes)).kind === "whole";
    const whole = [tail, tail.subarray(0, -1)].find(isWhole) ?? tail.subarray(0, this.#endOfEntries(tail));
    if (whole.length > 0) {
      this.#take(whole);
      this.#line++;
    }
    const left = isOverlong ? this.#rest.clear() : tail.length - whole.length + zeros;
    if (left === 0) return;
    const message = `The last line is not whole (${left} bytes): it was never acknowledged.`;
    this.#sink.onProblem({ kind: "torn", line: this.#line, offset: this.#offset, message });
  }

  #take(bytes: Buffer): void {
    const from = this.#offset;
    const line = this.#line;
    this.#offset += bytes.length;
    const body = from === 0 ? withoutMark(bytes) : bytes;
    const whole = trimmed(body);
    if (whole.length === 0) return;
    const offset = from + bytes.length - body.length + leadingBlanks(body);
    const piece = this.#read(whole);
    if (piece.kind === "whole") this.#report(piece, { offset, length: whole.length, line });
    else for (const part of this.#getParts(whole, piece)) this.#reportPart(part, offset, line);
  }

  /** Bytes of which no more is known than that they are no entry. */
  #takeLost(length: number, reason: string): void {
    const at = { offset: this.#offset, length, line: this.#line };
    this.#offset += length;
    this.#sink.onPiece({ ...at, facts: undefined });
    this.#reportDamage(at, reason);
  }

  #read(bytes: Buffer): Piece {
    return readPiece(bytes, this.#parsesAll);
  }

  /** A line that cannot be read as one entry may be several: then what stood between them is lost. */
  #getParts(line: Buffer, piece: Piece): Part[] {
    const cuts = cutsIn(line);
    if (cuts.length === 1) return [{ from: 0, bytes: line, piece }];
    const parts = cuts.map((from, at) => {
      const bytes = line.subarray(from, endBefore(line, cuts[at + 1]));
      const part = this.#read(bytes);
      return { from, bytes, piece: part, isFused: from > 0 && part.kind === "whole" && line[from - 1] !== 0 };
    });
    return parts.some((part) => part.piece.kind === "whole") ? parts : [{ from: 0, bytes: line, piece }];
  }

  /** Where the last entry ends of those that can be read from a line that is not whole. */
  #endOfEntries(line: Buffer): number {
    const last = this.#getParts(line, notWhole).findLast((part) => part.piece.kind === "whole");
    return last ? last.from + last.bytes.length : 0;
  }

  #report({ facts, note }: Piece & { kind: "whole" }, at: { offset: number; length: number; line: number }): void {
    this.#sink.onPiece({ offset: at.offset, length: at.length, line: at.line, facts });
    if (note) this.#sink.onProblem({ ...note, line: at.line, offset: at.offset });
  }

  #reportPart({ from, bytes, piece, isFused }: Part, lineOffset: number, line: number): void {
    const at = { offset: lineOffset + from, length: bytes.length, line };
    if (piece.kind === "whole") this.#report(piece, at);
    else {
      this.#sink.onPiece({ ...at, facts: undefined, traces: getTraces(bytes) });
      this.#reportDamage(at, piece.reason);
    }
    if (!isFused) return;
    const message = `Line ${line} holds more than one entry: the line feed between them is lost.`;
    this.#sink.onProblem({ kind: "fused", line, offset: at.offset, message });
  }

  #reportDamage({ line, offset }: { line: number; offset: number }, reason: string): void {
    const message = `Line ${line} is damaged: ${reason}.`;
    this.#sink.onProblem({ kind: "damaged", line, offset, message });
  }
}

/**
 * What came since the last line feed. A file may have gigabytes without one: zeros are only counted, and of a line that
 * is longer than any entry nothing is kept but its length.
 */
class LineRest {
  #kept: Buffer[] = [];
  #length = 0;
  /** Behind what is kept. */
  zeros = 0;

  get isOverlong(): boolean {
    return this.#length > maxLineBytes;
  }

  add(bytes: Buffer): void {
    if (!this.isOverlong && isZeros(bytes)) {
      this.zeros += bytes.length;
      return;
    }
    this.#kept.push(bytes);
    this.#length += bytes.length;
    if (this.isOverlong) this.#kept = [];
  }

  /** What was kept and what follows it, as one; it begins anew. */
  join(last: Buffer = Buffer.alloc(0)): Buffer {
    if (this.#length === 0 && this.zeros === 0) return last;
    const all = Buffer.concat([...this.#kept, last]);
    this.clear();
    return all;
  }

  /** Begins anew, and says how much there was. */
  clear(): number {
    const length = this.#length;
    this.#kept = [];
    this.#length = 0;
    this.zeros = 0;
    return length;
  }
}

const zeroBlock = Buffer.alloc(64 * 1024);

/** Only for so many that it is worth it: few are looked at with the rest of their line. */
function isZeros(bytes: Buffer): boolean {
  if (bytes[0] !== 0 || bytes.length < zeroBlock.length) return false;
  for (let at = 0; at < bytes.length; at += zeroBlock.length) {
    const block = bytes.subarray(at, at + zeroBlock.length);
    if (!block.equals(zeroBlock.subarray(0, block.length))) return false;
  }
  return true;
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

const holdsZeros = "it holds zeros, as a disk leaves them that lost its power";
const tooLong = "it is longer than any entry";
const notWhole: Piece = { kind: "damaged", reason: "it is not whole" };

const entryStart = Buffer.from('{"type":"');
const [openBrace, brace] = [0x7b, 0x7d];
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

function readPiece(bytes: Buffer, parsesAll: boolean): Piece {
  if (bytes.length > maxLineBytes) return { kind: "damaged", reason: tooLong };
  const checksum = readChecksum(bytes);
  if (checksum === "wrong") return { kind: "damaged", reason: "its checksum is wrong" };
  if (checksum === "broken") return { kind: "damaged", reason: "its checksum is no checksum" };
  const facts = checksum === "right" && !parsesAll ? readOwn(bytes) : undefined;
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
  if (type !== "message") return { kind: getKind(type, undefined), id, parent };
  const roleStart = parentStart + (isRoot ? "null".length : 10) + timestampField;
  const roleEnd = roleStart + roleField.length;
  if (!has(bytes, roleStart, roleField)) return undefined;
  const role = bytes.toString("latin1", roleEnd, bytes.indexOf(quote, roleEnd));
  return { kind: getKind(type, role), id, parent };
}

const has = (bytes: Buffer, at: number, text: string) => bytes.toString("latin1", at, at + text.length) === text;

function parsePiece(bytes: Buffer): Piece {
  // To be refused by a parser costs a hundred times as much as to be parsed: whoever can be is refused here.
  if (bytes[0] !== openBrace || bytes[bytes.length - 1] !== brace)
    return { kind: "damaged", reason: bytes.includes(0) ? holdsZeros : "it is no entry" };
  const text = bytes.toString("utf8");
  let value: unknown;
  const { stackTraceLimit } = Error;
  try {
    // Nobody sees where the parser gave up, and with thousands of such lines it is what costs most.
    Error.stackTraceLimit = 0;
    value = JSON.parse(text);
  } catch (error) {
    return { kind: "damaged", reason: bytes.includes(0) ? holdsZeros : `it is not JSON (${getErrorMessage(error)})` };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  const facts = getFacts(value);
  if (!facts) return { kind: "damaged", reason: "it is no entry" };
  // A replacement character is either what was written or what damage left; only the bytes tell.
  const isDamaged = text.includes("\uFFFD") && Buffer.byteLength(text) !== bytes.length;
  const note = isDamaged ? invalidUtf8 : facts.kind === "header" ? versionNote(value) : undefined;
  return { kind: "whole", facts, ...(note && { note }) };
}

const invalidUtf8 = {
  kind: "invalid_utf8",
  message: "A line holds bytes that are no UTF-8; they are shown as U+FFFD.",
} as const;

function versionNote(header: unknown): { kind: ProblemKind; message: string } | undefined {
  const { version } = header as { version?: unknown };
  if (typeof version !== "number" || version <= sessionVersion) return undefined;
  const message = `The session has version ${version}, and only ${sessionVersion} is known here: what is new in it may not be shown.`;
  return { kind: "newer_version", message };
}

/** What a parsed line says of itself; undefined when it is no entry. Entries of version 1 have no ids. */
export function getFacts(value: unknown): LineFacts | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, id = "", parentId, message } = value as Record<string, unknown>;
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  if (parentId !== undefined && parentId !== null && typeof parentId !== "string") return undefined;
  const role = (message as { role?: unknown } | null | undefined)?.role;
  return {
    kind: type === "session" ? "header" : getKind(type, role),
    id: id === "" ? undefined : idNumber(id),
    parent: parentId === null ? undefined : parentId === undefined ? Number.NaN : idNumber(parentId),
  };
}

/** Where an id may be in a damaged line. */
const maxStartLength = 256;

/** What can still be made out of a damaged line: enough to know where its children belong. */
function getTraces(bytes: Buffer): Pick<LineFacts, "id" | "parent"> {
  const start = bytes.toString("latin1", 0, maxStartLength);
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

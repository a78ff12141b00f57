/**
 * Scans the bytes of a log: which entries it holds, where they are, and what is damaged. Pure. A damaged line costs only
 * its own entry; two lines that lost the line feed between them are both found.
 */
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { isHeader, sessionVersion } from "./entry.ts";
import { type EntryKind, idNumber, getKind } from "./entry-table.ts";
import { readChecksum, maxLineBytes, readHex } from "./line.ts";

/** A line without its content. Ids are numbers, as in the table. */
export interface LineFacts {
  kind: EntryKind | "header";
  /** Undefined for an entry without an id. */
  id: number | undefined;
  /** Undefined for a root; NaN for an entry that does not name its parent. */
  parent: number | undefined;
}

export type ProblemKind =
  /** The last line is incomplete: it was never acknowledged. */
  | "torn"
  | "damaged"
  /** Two entries are on one line; both were read. */
  | "fused"
  | "invalid_utf8"
  | "no_header"
  /** An entry has no id, as in version 1. */
  | "no_id"
  /** The parent is lost; the entry was attached to the nearest known entry. */
  | "reattached"
  /** The header names an unknown version. The log is read as the current version. */
  | "newer_version"
  /** The file holds neither a header nor a message: it belongs to another program and is not written to. */
  | "no_session"
  /** There are too many problems to list; the others are only counted. */
  | "more";

export interface SessionProblem {
  kind: ProblemKind;
  /** Counted from 1. */
  line: number;
  /** Where the line begins, in bytes. */
  offset: number;
  message: string;
}

/** A line, or a part of one: an entry, or what is left of one. */
export interface ScannedPiece {
  offset: number;
  length: number;
  line: number;
  /** Undefined if it could not be read. */
  facts: LineFacts | undefined;
  /** The ids that are still readable in a damaged piece. */
  traces?: Pick<LineFacts, "id" | "parent">;
}

export interface ScanSink {
  onPiece(piece: ScannedPiece): void;
  onProblem(problem: SessionProblem): void;
}

interface ScannerOptions {
  /** Where the first chunk begins. Default 0. */
  offset?: number;
  /** The number of its first line. Default 1. */
  line?: number;
  /** Whether lines of ours with a right checksum are parsed too. Default false. */
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
    if (start === chunk.length) return;
    const rest = chunk.subarray(start);
    if (this.#rest.zeros > 0 && !isZeros(rest)) this.#takeUpToZeros();
    this.#rest.add(rest);
  }

  #endLine(bytes: Buffer): void {
    if (this.#rest.zeros > 0) this.#takeUpToZeros();
    if (this.#rest.isOverlong) this.#takeLost(this.#rest.clear() + bytes.length, tooLong);
    else this.#take(this.#rest.join(bytes));
    this.#offset++;
    this.#line++;
  }

  /** An entry holds no zeros, so it ends before them. */
  #takeUpToZeros(): void {
    const { zeros } = this.#rest;
    this.#take(this.#rest.join());
    this.#takeLost(zeros, holdsZeros);
  }

  /**
   * Ends the log. A last line without a line feed is taken if it is whole, even with zeros or one other byte behind it. A
   * torn tail is not taken: `position` stays where it begins.
   */
  end(): void {
    const { zeros, isOverlong } = this.#rest;
    const tail = isOverlong ? Buffer.alloc(0) : this.#rest.join();
    const isWhole = (bytes: Buffer) =>
      this.#read(trim(this.#offset === 0 ? withoutByteOrderMark(bytes) : bytes)).kind === "whole";
    const whole = [tail, tail.subarray(0, -1)].find(isWhole) ?? tail.subarray(0, this.#findEndOfEntries(tail));
    if (whole.length > 0) {
      this.#take(whole);
      this.#line++;
    }
    const tornLength = isOverlong ? this.#rest.clear() : tail.length - whole.length + zeros;
    if (tornLength === 0) return;
    const message = `The last line is incomplete (${tornLength} bytes): the program ended while it was being written.`;
    this.#sink.onProblem({ kind: "torn", line: this.#line, offset: this.#offset, message });
  }

  #take(bytes: Buffer): void {
    const body = this.#offset === 0 ? withoutByteOrderMark(bytes) : bytes;
    const text = trim(body);
    const offset = this.#offset + bytes.length - body.length + countLeadingBlanks(body);
    this.#offset += bytes.length;
    if (text.length === 0) return;
    const content = this.#read(text);
    if (content.kind === "whole") this.#report({ start: 0, bytes: text, content }, offset);
    else for (const part of this.#split(text, content)) this.#report(part, offset);
  }

  #takeLost(length: number, reason: string): void {
    const offset = this.#offset;
    this.#offset += length;
    this.#sink.onPiece({ offset, length, line: this.#line, facts: undefined });
    this.#reportProblem("damaged", offset, `is damaged: ${reason}.`);
  }

  #read(bytes: Buffer): Content {
    return readContent(bytes, this.#parsesAll);
  }

  /** A line that is not one whole entry may hold several without the line feeds between them. */
  #split(line: Buffer, content: Content): Part[] {
    const unsplit: Part = { start: 0, bytes: line, content };
    const starts = findStarts(line);
    if (starts.length === 1) return [unsplit];
    const parts = starts.map((start, index): Part => {
      const bytes = line.subarray(start, findEnd(line, starts[index + 1]));
      const part = this.#read(bytes);
      const isFused = start > 0 && part.kind === "whole" && line[start - 1] !== 0;
      return { start, bytes, content: part, isFused };
    });
    return parts.some((part) => part.content.kind === "whole") ? parts : [unsplit];
  }

  /** Where the last whole entry ends in a line that is not whole. */
  #findEndOfEntries(line: Buffer): number {
    const last = this.#split(line, incomplete).findLast((part) => part.content.kind === "whole");
    return last ? last.start + last.bytes.length : 0;
  }

  #report({ start, bytes, content, isFused }: Part, lineOffset: number): void {
    const line = this.#line;
    const offset = lineOffset + start;
    const length = bytes.length;
    if (content.kind === "whole") {
      this.#sink.onPiece({ offset, length, line, facts: content.facts });
      if (content.problem) this.#sink.onProblem({ ...content.problem, line, offset });
    } else {
      this.#sink.onPiece({ offset, length, line, facts: undefined, traces: findTraces(bytes) });
      this.#reportProblem("damaged", offset, `is damaged: ${content.reason}.`);
    }
    if (isFused) this.#reportProblem("fused", offset, "holds several entries: the line feed between them is lost.");
  }

  #reportProblem(kind: ProblemKind, offset: number, text: string): void {
    this.#sink.onProblem({ kind, line: this.#line, offset, message: `Line ${this.#line} ${text}` });
  }
}

/**
 * The bytes since the last line feed. A file may have gigabytes without one, so zeros are only counted, and of a line that
 * is longer than any entry only the length is kept.
 */
class LineRest {
  #chunks: Buffer[] = [];
  #length = 0;
  /** The number of zeros after the chunks. */
  zeros = 0;

  get isOverlong(): boolean {
    return this.#length > maxLineBytes;
  }

  add(bytes: Buffer): void {
    if (!this.isOverlong && isZeros(bytes)) {
      this.zeros += bytes.length;
      return;
    }
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    if (this.isOverlong) this.#chunks = [];
  }

  /** Returns the chunks and `last` as one buffer, and clears the rest. */
  join(last: Buffer = Buffer.alloc(0)): Buffer {
    if (this.#length === 0 && this.zeros === 0) return last;
    const joined = Buffer.concat([...this.#chunks, last]);
    this.clear();
    return joined;
  }

  /** Returns the length that was cleared. */
  clear(): number {
    const length = this.#length;
    this.#chunks = [];
    this.#length = 0;
    this.zeros = 0;
    return length;
  }
}

const zeroBlock = Buffer.alloc(64 * 1024);

/** False for a few zeros, which are handled with the rest of their line. */
function isZeros(bytes: Buffer): boolean {
  if (bytes[0] !== 0 || bytes.length < zeroBlock.length) return false;
  for (let start = 0; start < bytes.length; start += zeroBlock.length) {
    const block = bytes.subarray(start, start + zeroBlock.length);
    if (!block.equals(zeroBlock.subarray(0, block.length))) return false;
  }
  return true;
}

type Content =
  | { kind: "whole"; facts: LineFacts; problem?: { kind: ProblemKind; message: string } }
  | { kind: "damaged"; reason: string };

/** A part of a line. */
interface Part {
  start: number;
  bytes: Buffer;
  content: Content;
  isFused?: boolean;
}

const holdsZeros = "it holds zeros, as a power loss leaves them";
const tooLong = "it is longer than any entry";
const incomplete: Content = { kind: "damaged", reason: "it is not whole" };

const entryStart = Buffer.from('{"type":"');
const [openBrace, closeBrace] = [0x7b, 0x7d];
/** The bytes before an object inside an entry: `,` `[` `:` and blanks. Inside a string its quotes would be escaped. */
const bytesBeforeInnerObject = new Set([0x2c, 0x5b, 0x3a, 0x20, 0x09]);

/** Where entries or zeros may start in a line, the beginning of the line included. */
function findStarts(line: Buffer): number[] {
  const starts = new Set([0]);
  for (let index = line.indexOf(entryStart, 1); index > 0; index = line.indexOf(entryStart, index + 1)) {
    if (!bytesBeforeInnerObject.has(line[index - 1]!)) starts.add(index);
  }
  for (let index = line.indexOf(0); index >= 0; index = line.indexOf(0, index)) {
    starts.add(index);
    while (line[index] === 0) index++;
  }
  return [...starts].sort((a, b) => a - b);
}

/** Where the part before `next` ends: a single byte between two entries was the line feed. */
function findEnd(line: Buffer, next: number | undefined): number {
  if (next === undefined) return line.length;
  return line[next - 1] !== closeBrace && line[next - 2] === closeBrace ? next - 1 : next;
}

function readContent(bytes: Buffer, parsesAll: boolean): Content {
  if (bytes.length > maxLineBytes) return { kind: "damaged", reason: tooLong };
  const checksum = readChecksum(bytes);
  if (checksum === "wrong") return { kind: "damaged", reason: "its checksum is wrong" };
  if (checksum === "broken") return { kind: "damaged", reason: "its checksum field is damaged" };
  const facts = checksum === "right" && !parsesAll ? readOwnFacts(bytes) : undefined;
  return facts ? { kind: "whole", facts } : parseContent(bytes);
}

const [quote, n] = [0x22, 0x6e];
const idField = '","id":"';
const parentField = '","parentId":';
const timestampLength = ',"timestamp":"2026-01-01T00:00:00.000Z"'.length;
const roleField = ',"message":{"role":"';

/**
 * The facts of a line that we wrote, without parsing what may be megabytes. Its checksum is right, so the fields are where
 * we put them: `{"type":"…","id":"…","parentId":…,"timestamp":"…"`, and for a message its role next. Undefined if the
 * line has another form.
 */
function readOwnFacts(bytes: Buffer): LineFacts | undefined {
  if (bytes.compare(entryStart, 0, entryStart.length, 0, entryStart.length) !== 0) return undefined;
  const typeEnd = bytes.indexOf(quote, entryStart.length);
  const type = bytes.toString("latin1", entryStart.length, typeEnd);
  const idStart = typeEnd + idField.length;
  const id = readHex(bytes, idStart);
  const parentStart = idStart + 8 + parentField.length;
  if (!hasText(bytes, typeEnd, idField) || !hasText(bytes, idStart + 8, parentField)) return undefined;
  const isRoot = bytes[parentStart] === n;
  // A longer id may begin with eight hex digits.
  const isShort = bytes[parentStart + 1 + 8] === quote;
  const parent = isRoot || !isShort ? undefined : readHex(bytes, parentStart + 1);
  if (id === undefined || (!isRoot && parent === undefined) || type === "session") return undefined;
  if (type !== "message") return { kind: getKind(type, undefined), id, parent };
  const fieldStart = parentStart + (isRoot ? "null".length : 10) + timestampLength;
  const roleStart = fieldStart + roleField.length;
  if (!hasText(bytes, fieldStart, roleField)) return undefined;
  const role = bytes.toString("latin1", roleStart, bytes.indexOf(quote, roleStart));
  return { kind: getKind(type, role), id, parent };
}

const hasText = (bytes: Buffer, start: number, text: string) =>
  bytes.toString("latin1", start, start + text.length) === text;

function parseContent(bytes: Buffer): Content {
  // A failed parse takes a hundred times as long as a successful one, so obvious failures are found first.
  if (bytes[0] !== openBrace || bytes[bytes.length - 1] !== closeBrace)
    return { kind: "damaged", reason: bytes.includes(0) ? holdsZeros : "it is not an entry" };
  const text = bytes.toString("utf8");
  let value: unknown;
  const { stackTraceLimit } = Error;
  try {
    // With thousands of such lines, most of the time would go into stack traces.
    Error.stackTraceLimit = 0;
    value = JSON.parse(text);
  } catch (error) {
    return { kind: "damaged", reason: bytes.includes(0) ? holdsZeros : `it is not JSON (${getErrorMessage(error)})` };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  const facts = getFacts(value);
  if (!facts) return { kind: "damaged", reason: "it is not an entry" };
  // A replacement character may have been written as such; then the length is the same.
  const isInvalid = text.includes("\uFFFD") && Buffer.byteLength(text) !== bytes.length;
  const problem = isInvalid ? invalidUtf8 : facts.kind === "header" ? checkVersion(value) : undefined;
  return { kind: "whole", facts, ...(problem && { problem }) };
}

const invalidUtf8 = {
  kind: "invalid_utf8",
  message: "A line holds bytes that are not UTF-8; they are shown as U+FFFD.",
} as const;

function checkVersion(header: unknown): { kind: ProblemKind; message: string } | undefined {
  const { version } = header as { version?: unknown };
  if (typeof version !== "number" || version <= sessionVersion) return undefined;
  const message = `The session has version ${version}, but this program knows only ${sessionVersion}: new content may not be shown.`;
  return { kind: "newer_version", message };
}

/** The facts of a parsed line; undefined if it is not an entry. Entries of version 1 have no ids. */
export function getFacts(value: unknown): LineFacts | undefined {
  if (!isRecord(value)) return undefined;
  const { type, id = "", parentId, message } = value;
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  if (type === "session" && !isHeader(value)) return undefined;
  if (parentId !== undefined && parentId !== null && typeof parentId !== "string") return undefined;
  const role = (message as { role?: unknown } | null | undefined)?.role;
  return {
    kind: type === "session" ? "header" : getKind(type, role),
    id: id === "" ? undefined : idNumber(id),
    parent: parentId === null ? undefined : parentId === undefined ? Number.NaN : idNumber(parentId),
  };
}

/** The ids are near the beginning of a line. */
const maxTraceBytes = 256;

/** The ids in a damaged line, so that its children can be attached to it. */
function findTraces(bytes: Buffer): Pick<LineFacts, "id" | "parent"> {
  const start = bytes.toString("latin1", 0, maxTraceBytes);
  const [, id] = /"id":"([0-9a-f]{8})"/.exec(start) ?? [];
  const [, parent] = /"parentId":"([0-9a-f]{8})"/.exec(start) ?? [];
  return { id: id && idNumber(id), parent: parent && idNumber(parent) } as Pick<LineFacts, "id" | "parent">;
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0d || byte === 0x09;

function trim(bytes: Buffer): Buffer {
  if (bytes.length > 0 && !isBlank(bytes[0]) && !isBlank(bytes[bytes.length - 1])) return bytes;
  let end = bytes.length;
  while (end > 0 && isBlank(bytes[end - 1])) end--;
  return bytes.subarray(Math.min(countLeadingBlanks(bytes), end), end);
}

function countLeadingBlanks(bytes: Buffer): number {
  let count = 0;
  while (count < bytes.length && isBlank(bytes[count])) count++;
  return count;
}

/** Some editors put a byte order mark at the beginning of a file. */
const withoutByteOrderMark = (bytes: Buffer) =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

/** The problems that a server reported, and how to wait for those that belong to a text. */
import type { Clock } from "@tau/ai";
import { isRecord, sleep } from "@tau/ai/internal";
import type { CodePlace, CodeSeverity } from "@tau/protocol/surface";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import { LspError } from "./failure.ts";
import { estimateBytes } from "./estimate-bytes.ts";
import { parseRange, type PositionEncoding, type Range, type TextLines, toColumn } from "./positions.ts";

/** So many problems of a file are kept, and so many files. */
const maxPerFile = 1_000;
const maxFiles = 5_000;
/** Problems of messages that are larger than this are looked at one by one: each is kept up to this size. */
const largeMessageBytes = 1024 * 1024;
const maxProblemBytes = 8 * 1024;
/** The problems of all files that are kept, as the messages that they came in or, from large ones, as their own sizes. */
const maxKeptBytes = 32 * 1024 * 1024;
const maxMessageLength = 4_000;

export interface Diagnostic {
  range: Range;
  severity: CodeSeverity;
  message: string;
  /** Such as `ts 2322`. */
  source?: string;
  /** The diagnostic as the server sent it: code actions want it back. Only its place and message if it is very large. */
  raw: Readonly<Record<string, unknown>>;
}

interface ReportedDiagnostics {
  readonly diagnostics: readonly Diagnostic[];
  /** How many there were in all. */
  readonly total: number;
  /** The version of the text that they belong to; null if the server does not say. */
  readonly version: number | null;
  /** When they arrived, on the monotonic clock. */
  readonly at: number;
}

interface KeptReport extends ReportedDiagnostics {
  readonly bytes: number;
}

const severities: readonly CodeSeverity[] = ["error", "warning", "info", "hint"];

/** Leaves out what is no diagnostic. */
function parseDiagnostics(value: unknown): { diagnostics: Diagnostic[]; total: number } {
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  const diagnostics: Diagnostic[] = [];
  for (const item of items) {
    if (diagnostics.length >= maxPerFile) break;
    const diagnostic = parseDiagnostic(item);
    if (diagnostic) diagnostics.push(diagnostic);
  }
  return { diagnostics, total: items.length };
}

function parseDiagnostic(item: unknown): Diagnostic | undefined {
  if (!isRecord(item) || typeof item["message"] !== "string") return undefined;
  const range = parseRange(item["range"]);
  if (!range) return undefined;
  const { source, code, severity } = item;
  const words = [source, code].filter((word) => typeof word === "string" || typeof word === "number");
  return {
    range,
    // A server that leaves it out lets the client choose.
    severity: severities[Number(severity) - 1] ?? "error",
    message: toVisible(item["message"].slice(0, maxMessageLength)),
    ...(words.length > 0 && { source: toVisibleLine(words.join(" "), 100) }),
    raw: item,
  };
}

/** Keeps of very large problems only what people see. The bytes are an estimate of the memory that all of them take. */
function shorten(diagnostics: readonly Diagnostic[]): { diagnostics: Diagnostic[]; bytes: number } {
  const sizes = diagnostics.map(({ raw }) => estimateBytes(raw, maxProblemBytes));
  const shortened = diagnostics.map((diagnostic, index) =>
    sizes[index]! <= maxProblemBytes ? diagnostic : withoutExtras(diagnostic),
  );
  return { diagnostics: shortened, bytes: sizes.reduce((sum, bytes) => sum + Math.min(bytes, maxProblemBytes), 0) };
}

function withoutExtras({ range, severity, message, source }: Diagnostic): Diagnostic {
  // A part of a text keeps the whole in memory.
  const copy = (text: string): string => Buffer.from(text).toString();
  const raw = { range, severity: severities.indexOf(severity) + 1, message: copy(message) };
  return { range, severity, message: raw.message, ...(source !== undefined && { source: copy(source) }), raw };
}

/** Formats a problem for comparisons. Lines are left out: they move when something above them changes. */
const getProblemKey = ({
  severity,
  source = "",
  message,
}: Pick<Diagnostic, "severity" | "source" | "message">): string => `${severity}\n${source}\n${message}`;

/** Lists those of `now` that `before` does not have. The same problem may be there several times. */
export function findNewProblems(before: readonly Diagnostic[], now: readonly Diagnostic[]): Diagnostic[] {
  const counts = new Map<string, number>();
  for (const problem of before) {
    const key = getProblemKey(problem);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return now.filter((problem) => {
    const key = getProblemKey(problem);
    const count = counts.get(key) ?? 0;
    counts.set(key, count - 1);
    return count <= 0;
  });
}

export class DiagnosticStore {
  readonly #clock: Clock;
  /** The file that was reported last is the last one. */
  readonly #byPath = new Map<string, KeptReport>();
  #version = 0;
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Grows with every report. */
  get version(): number {
    return this.#version;
  }

  get(path: string): ReportedDiagnostics | undefined {
    return this.#byPath.get(path);
  }

  /** Paths with problems. */
  listPaths(): string[] {
    return [...this.#byPath].flatMap(([path, { total }]) => (total > 0 ? [path] : []));
  }

  /** A report about an older text than the last one is late, and ignored. `messageBytes` is the size of the message with it. */
  set(path: string, items: unknown, { version, messageBytes }: { version: number | null; messageBytes: number }): void {
    const known = this.#byPath.get(path);
    if (version !== null && known && known.version !== null && version < known.version) return;
    this.#version++;
    this.delete(path);
    const parsed = { ...parseDiagnostics(items), bytes: messageBytes };
    const kept = messageBytes > largeMessageBytes ? { ...parsed, ...shorten(parsed.diagnostics) } : parsed;
    this.#byPath.set(path, { ...kept, version, at: this.#clock.monotonic() });
    this.#bytes += kept.bytes;
    for (const oldest of this.#byPath.keys()) {
      if (this.#byPath.size <= maxFiles && this.#bytes <= maxKeptBytes) break;
      this.delete(oldest);
    }
  }

  delete(path: string): void {
    this.#bytes -= this.#byPath.get(path)?.bytes ?? 0;
    this.#byPath.delete(path);
  }
}

export interface WaitForDiagnosticsOptions {
  /** Default 3000. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  /** The report has to be later than this version of the store. */
  minVersion?: number | undefined;
  /** The version of the text that the report has to belong to. */
  expectedDocumentVersion?: number | undefined;
  /** Whether a report without a version will do. Default true. */
  allowUnversioned?: boolean;
  /** When the server got the text, on the monotonic clock: of reports without a version, earlier ones are about another text. */
  sentAt?: number;
  /** Ends the wait without a report. */
  isOver?: () => boolean;
  /** When the server was last notified of a change of any file, on the monotonic clock: it may report this one anew. */
  changedAt?: number | undefined;
}

const stepMs = 100;
/** A report without a version may be about the text before: it is used when no other follows it for this long. */
const settleMs = 200;
/** Servers report a file in parts, and often none before the first problem: an empty report is waited on for longer. */
const emptySettleMs = 1_000;
/** An earlier report is used when the server has had this long to report another one after a change of another file. */
const changeSettleMs = 1_000;

/** The diagnostics of a report, if it belongs to the text. */
function getAcceptedDiagnostics(
  reported: ReportedDiagnostics | undefined,
  expectedDocumentVersion: number | undefined,
  allowUnversioned: boolean,
): readonly Diagnostic[] | undefined {
  if (!reported) return undefined;
  if (reported.version === null) return allowUnversioned ? reported.diagnostics : undefined;
  const isExpected = expectedDocumentVersion === undefined || reported.version === expectedDocumentVersion;
  return isExpected ? reported.diagnostics : undefined;
}

/** Looks again and again until there is a report that belongs to the text. Undefined: there was none in time. */
export async function waitForDiagnostics(
  store: DiagnosticStore,
  clock: Clock,
  path: string,
  options: WaitForDiagnosticsOptions = {},
): Promise<readonly Diagnostic[] | undefined> {
  const { timeoutMs = 3_000, signal, minVersion, expectedDocumentVersion, allowUnversioned = true } = options;
  const { sentAt, changedAt = -Infinity, isOver = () => false } = options;
  const start = clock.monotonic();
  const accept = (isLast: boolean): readonly Diagnostic[] | undefined => {
    const reported = store.get(path);
    if (minVersion !== undefined && store.version <= minVersion) return undefined;
    const isOlder = reported !== undefined && reported.at < changedAt;
    if (isOlder && !isLast && clock.monotonic() - changedAt < changeSettleMs) return undefined;
    if (reported?.version === null && sentAt !== undefined) {
      if (reported.at < sentAt) return undefined;
      const quietMs = reported.total === 0 ? emptySettleMs : settleMs;
      if (!isLast && clock.monotonic() - reported.at < quietMs) return undefined;
    }
    return getAcceptedDiagnostics(reported, expectedDocumentVersion, allowUnversioned);
  };
  for (;;) {
    if (signal?.aborted) throw new LspError("aborted", "The call was stopped.");
    const leftMs = timeoutMs - (clock.monotonic() - start);
    const diagnostics = accept(leftMs <= 0);
    if (diagnostics !== undefined || leftMs <= 0 || isOver()) return diagnostics;
    await sleep(clock, Math.min(stepMs, leftMs), signal);
  }
}

interface ToPlaceOptions {
  /** The path as it is shown. */
  path: string;
  encoding: PositionEncoding;
  /** The text of the file; undefined if it is not known. */
  lines?: TextLines | undefined;
}

export function toProblemPlace(diagnostic: Diagnostic, { path, encoding, lines }: ToPlaceOptions): CodePlace {
  const { range, severity, message, source } = diagnostic;
  const line = lines?.get(range.start.line);
  const column = line === undefined ? range.start.character : toColumn(line, range.start.character, encoding);
  return {
    path,
    line: range.start.line + 1,
    column: column + 1,
    ...(range.end.line > range.start.line && { endLine: range.end.line + 1 }),
    severity,
    message,
    ...(source !== undefined && { source }),
  };
}

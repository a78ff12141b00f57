/**
 * The index beside a log, for searches: a chain of segments, to which one is appended for what was added to the log. It is a
 * cache: what is missing, damaged or of another version is built again, and every entry that it finds is read from the log.
 */
import { constants, type Stats } from "node:fs";
import { crc32 } from "node:zlib";
import type { Ids } from "@tau/ai";
import { asRecord, closeAfter, tryParseJson } from "@tau/ai/internal";
import { orUndefined, writeWhole } from "@tau/tools/durable";
import type { FileSystem } from "@tau/tools/platform";
import type { SessionEntry } from "../session/entry.ts";
import { nextTurn } from "../session/entry-table.ts";
import { maxLineBytes } from "../session/line.ts";
import { type ScannedPiece, Scanner } from "../session/scan.ts";
import { countEntry, emptyTotals } from "../session/totals.ts";
import { FileReader, readInto } from "./read-now.ts";
import { getSearchText } from "./search-text.ts";
import { type LogState, Segment, SegmentBuilder } from "./segment.ts";

interface LogIndexesOptions {
  fileSystem: FileSystem;
  ids: Ids;
  signal?: AbortSignal | undefined;
}

/** Indexes never hold more of a log in one segment, so that building one takes little memory. */
const maxSegmentBytes = 4 * 1024 * 1024;
/** The end of what is indexed shows whether the log is still the same, as in the index of entries. */
const tailBytes = 4096;
/** After so many bytes of a log, other work gets its turn. */
const bytesPerTurn = 256 * 1024;

/** Opens one index after the other. Segments are valid until the next call. */
export class LogIndexes {
  readonly #options: LogIndexesOptions;
  readonly #reader: FileReader;

  constructor(options: LogIndexesOptions) {
    this.#options = options;
    this.#reader = new FileReader(options.fileSystem);
  }

  /**
   * The segments of an index that is up to date, as most are. Undefined for another, and where files are not read synchronously:
   * for a thousand indexes, waiting for each takes longer than reading it.
   */
  readNow(log: string, stats: Stats): readonly Segment[] | undefined {
    const { segments } = readChain(this.#reader.readNow(getIndexPath(log)));
    const last = segments.at(-1)?.head;
    return last && isSame(last.log, toState(stats)) ? segments : undefined;
  }

  /** Brings the index of a log up to date if it is not, and returns its segments. `stats` are those of the log. */
  async open(log: string, stats: Stats): Promise<readonly Segment[]> {
    const { fileSystem: fs } = this.#options;
    const state = toState(stats);
    const chain = readChain(await orUndefined(this.#reader.readWhole(getIndexPath(log))));
    const last = chain.segments.at(-1)?.head;
    if (last && isSame(last.log, state)) return chain.segments;
    const isGrown = last?.log.identity === state.identity && last.log.size < state.size;
    const known = isGrown && (await readTail(fs, log, last.end)) === last.tail ? chain.segments : [];
    const kept = keepSegments(known, state.size);
    const added = await this.#build(log, kept.at(-1)?.head.end ?? 0, state);
    const isAppended = chain.isClean && kept.length > 0 && kept.length === chain.segments.length;
    await orUndefined(isAppended ? append(fs, getIndexPath(log), added) : this.#replace(log, [...kept, ...added]));
    return [...kept, ...added];
  }

  async #replace(log: string, segments: readonly Segment[]): Promise<void> {
    const { fileSystem, ids } = this.#options;
    const bytes = Buffer.concat(segments.map((segment) => segment.bytes));
    await writeWhole(fileSystem, { path: getIndexPath(log), bytes, ids, syncs: false });
  }

  async #build(log: string, start: number, state: LogState): Promise<Segment[]> {
    const segments: Segment[] = [];
    for (let position = start, isLast = false; !isLast && state.size > 0;) {
      const slice = await readSlice(this.#options.fileSystem, log, position, state.size);
      ({ isLast } = slice);
      const segment = await this.#buildSegment(log, { ...slice, position, state });
      segments.push(segment);
      position = segment.head.end;
    }
    return segments;
  }

  async #buildSegment(log: string, { bytes, isLast, position, state }: Slice): Promise<Segment> {
    const { fileSystem, signal } = this.#options;
    const { pieces, end } = scan(bytes, { position, isLast });
    const builder = new SegmentBuilder(position);
    const models = new Set<string>();
    let cwd: string | undefined;
    let totals = emptyTotals;
    let [firstMs, lastMs] = [0, 0];
    let lengthOfTurn = 0;
    for (const { offset, length, facts } of pieces) {
      lengthOfTurn += length;
      if (lengthOfTurn > bytesPerTurn) {
        lengthOfTurn = 0;
        await nextTurn();
        signal?.throwIfAborted();
      }
      if (!facts) continue;
      const line = bytes.subarray(offset - position, offset - position + length);
      if (facts.kind === "header") cwd ??= parseCwd(line);
      const entry = facts.kind === "header" ? undefined : parseEntry(line);
      if (!entry) continue;
      totals = countEntry(totals, entry);
      const model = getModel(entry);
      if (model !== undefined) models.add(model);
      const found = getSearchText(entry);
      if (!found) continue;
      const timeMs = getTime(entry);
      if (timeMs > 0) firstMs = firstMs === 0 ? timeMs : Math.min(firstMs, timeMs);
      lastMs = Math.max(lastMs, timeMs);
      builder.add({ offset, length }, found.text);
    }
    const encoded = builder.encode({
      // Only the last segment stands for the whole log: if it is lost, the rest is indexed again.
      log: isLast ? state : { ...state, size: end, modifiedMs: -1 },
      end,
      tail: await readTail(fileSystem, log, end),
      models: [...models],
      ...(cwd !== undefined && { cwd }),
      cost: totals.cost,
      firstMs,
      lastMs,
    });
    return Segment.read(encoded, 0)!;
  }
}

/** Named like the files that belong to a log, so that it goes when the log does. */
const getIndexPath = (log: string): string => `${log}.search`;

interface Slice {
  bytes: Buffer;
  isLast: boolean;
  /** Where it begins in the log. */
  position: number;
  state: LogState;
}

/** Whole lines from `position` on. */
async function readSlice(
  fs: FileSystem,
  log: string,
  position: number,
  size: number,
): Promise<Pick<Slice, "bytes" | "isLast">> {
  for (let wanted = maxSegmentBytes; ; wanted *= 4) {
    const buffer = Buffer.allocUnsafe(Math.min(wanted, size - position));
    const length = (await readInto(fs, log, buffer, position)) ?? 0;
    const bytes = buffer.subarray(0, length);
    // A log may also have become shorter.
    if (length < wanted) return { bytes, isLast: true };
    const lines = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
    if (lines.length > 0) return { bytes: lines, isLast: position + lines.length >= size };
    // No entry is longer: nothing behind this can be read.
    if (wanted > maxLineBytes) return { bytes: lines, isLast: true };
  }
}

function scan(bytes: Buffer, { position, isLast }: Pick<Slice, "position" | "isLast">) {
  const pieces: ScannedPiece[] = [];
  const sink = { onPiece: (piece: ScannedPiece) => void pieces.push(piece), onProblem: () => undefined };
  const scanner = new Scanner(sink, { offset: position });
  scanner.push(bytes);
  if (isLast) scanner.end();
  return { pieces, end: scanner.position };
}

export const parseEntry = (bytes: Buffer): SessionEntry | undefined => {
  const entry = tryParseJson(bytes.toString("utf8")) as SessionEntry | null | undefined;
  return typeof entry?.type === "string" ? entry : undefined;
};

function parseCwd(line: Buffer): string | undefined {
  const { cwd } = asRecord(tryParseJson(line.toString("utf8")));
  return typeof cwd === "string" ? cwd : undefined;
}

/** In milliseconds; 0 if it is not known. */
export const getTime = ({ timestamp }: SessionEntry): number => Date.parse(timestamp) || 0;

function getModel(entry: SessionEntry): string | undefined {
  if (entry.type !== "message" || entry.message?.role !== "assistant") return undefined;
  const { provider, model } = entry.message;
  return typeof provider === "string" && typeof model === "string" ? `${provider}/${model}` : undefined;
}

async function readTail(fs: FileSystem, log: string, end: number): Promise<number> {
  const start = Math.max(0, end - tailBytes);
  const buffer = Buffer.alloc(end - start);
  await readInto(fs, log, buffer, start);
  return crc32(buffer);
}

const toState = ({ dev, ino, size, mtimeMs }: Stats): LogState => ({
  identity: `${dev}:${ino}`,
  size,
  modifiedMs: mtimeMs,
});

const isSame = (a: LogState, b: LogState): boolean =>
  a.identity === b.identity && a.size === b.size && a.modifiedMs === b.modifiedMs;

interface Chain {
  segments: Segment[];
  /** Whether the file has nothing else in it. */
  isClean: boolean;
}

/** The segments that continue each other. Processes that work at the same time may append the same one twice. */
function readChain(bytes: Buffer | undefined): Chain {
  const segments: Segment[] = [];
  let isClean = true;
  for (let position = 0; bytes && position < bytes.length;) {
    const segment = Segment.read(bytes, position);
    if (!segment) return { segments, isClean: false };
    position += segment.bytes.length;
    const { start, log } = segment.head;
    const last = segments.at(-1)?.head;
    const continues = last ? start === last.end && log.identity === last.log.identity : start === 0;
    if (continues) segments.push(segment);
    else isClean = false;
  }
  return { segments, isClean };
}

/**
 * The segments that stay when a log grows to `size`. The last ones are built again with what was added, unless they are much
 * larger: so there are few, and no part of the log is read often.
 */
export function keepSegments<S extends { head: { start: number; end: number } }>(
  segments: readonly S[],
  size: number,
): S[] {
  const kept = [...segments];
  for (let last = kept.at(-1)?.head; last; last = kept.at(-1)?.head) {
    const isMuchLarger = last.end - last.start > 2 * (size - last.end);
    if (isMuchLarger || size - last.start > maxSegmentBytes) break;
    kept.pop();
  }
  return kept;
}

async function append(fs: FileSystem, path: string, segments: readonly Segment[]): Promise<void> {
  const handle = await fs.open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
  await closeAfter(handle, () => handle.write(Buffer.concat(segments.map(({ bytes }) => bytes))));
}

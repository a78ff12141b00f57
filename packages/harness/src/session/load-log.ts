/** Loads a log from its store: with its index if that belongs to it, and repaired if it may be written. */
import { getErrorMessage } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";
import type { LogStore } from "@tau/tools/storage";
import { decodeIndex, matchesLog, tailBytes } from "./index-file.ts";
import type { ReadOnly } from "./read-only.ts";
import { isSession, recover, type Recovered, Recovery } from "./recover.ts";

/** How much of a log is read at a time. */
export const chunkBytes = 1024 * 1024;

export interface LoadedLog {
  known: Recovered;
  /** Where the index in the store ends. */
  indexedEnd: number;
  /** Whether the last line lacks its line feed. */
  isLineOpen: boolean;
  /** Undefined if entries can be appended. */
  readOnly: ReadOnly | undefined;
}

interface LoadOptions {
  access: "write" | "read";
  /** Whether every line is verified, so that the index is not used. */
  verifiesAll: boolean;
}

/** To write, acquires the lease and cuts off a torn tail. */
export async function loadLog(store: LogStore, { access, verifiesAll }: LoadOptions): Promise<LoadedLog> {
  const refusal = access === "write" ? await acquire(store) : ({ reason: "asked" } as const);
  const stored = await load(store, verifiesAll);
  // Checked also for readers: it adds to the problems of the log.
  const foreign = await refuseForeignFile(store, stored);
  const readOnly = refusal ?? foreign ?? (await cutTornTail(store, stored));
  const { known, indexedEnd, isLineOpen } = stored;
  return { known, indexedEnd, isLineOpen, readOnly };
}

type StoredLog = Omit<LoadedLog, "readOnly"> & { size: number };

async function load(store: LogStore, verifiesAll: boolean): Promise<StoredLog> {
  const stats = await store.stat();
  if (!stats) return { known: new Recovery().end(), indexedEnd: 0, isLineOpen: false, size: 0 };
  const indexed = verifiesAll ? undefined : await loadIndex(store, stats);
  const indexedEnd = indexed?.end ?? 0;
  const recovery = new Recovery(indexed);
  for (let position = indexedEnd; position < stats.size; position += chunkBytes) {
    recovery.push(await store.read(position, Math.min(chunkBytes, stats.size - position)));
  }
  const known = recovery.end();
  const isLineOpen = known.end > 0 && (await store.read(known.end - 1, 1))[0] !== 0x0a;
  return { known, indexedEnd, isLineOpen, size: stats.size };
}

/** The index, if it belongs to this log. */
async function loadIndex(
  store: LogStore,
  { size, identity }: { size: number; identity: string },
): Promise<Recovered | undefined> {
  const bytes = await store.readIndex();
  const index = bytes && (await decodeIndex(bytes));
  if (!index || index.recovered.end > size) return undefined;
  const tail = await readTail(store, index.recovered.end);
  return matchesLog(index, { identity, tail }) ? index.recovered : undefined;
}

/** The end of a log, which shows whether an index belongs to it. */
export const readTail = (store: LogStore, end: number) => {
  const start = Math.max(0, end - tailBytes);
  return store.read(start, end - start);
};

/** The beginning of every log of ours; a crash may have left only a part of it. */
const headerStart = Buffer.from('{"type":"session"');

/** How many zeros a crash may leave where a log was begun. */
const maxCrashZeros = 64 * 1024;

/** Whether a crash or a power loss may have left this of a new log. */
function isCrashedLog(start: Buffer, size: number): boolean {
  const first = start.subarray(0, headerStart.length);
  if (headerStart.subarray(0, first.length).equals(first)) return true;
  return size <= maxCrashZeros && start.every((byte) => byte === 0);
}

/** Whether the file of a session may begin like this: `start` are its first bytes, at least 64 KB if it is longer. */
export function isSessionStart(start: Buffer, size: number): boolean {
  // Nearly always the first line is a header, and the others need not be scanned.
  if (isSession(recover(start.subarray(0, start.indexOf(0x0a) + 1)))) return true;
  const known = recover(start);
  return size === 0 || isSession(known) || (known.end === 0 && isCrashedLog(start.subarray(0, maxCrashZeros), size));
}

/** A file without a header and without messages belongs to another program, so it is opened read-only. */
async function refuseForeignFile(store: LogStore, { known, size }: StoredLog): Promise<ReadOnly | undefined> {
  const { problems } = known;
  if (isSession(known) || size === 0) return undefined;
  if (known.end === 0 && isCrashedLog(await store.read(0, maxCrashZeros), size)) return undefined;
  const message = "it is not a session file (no header, no messages)";
  problems.unshift({ kind: "no_session", line: 1, offset: 0, message: `This file is read-only: ${message}.` });
  return { reason: "refused", message };
}

async function cutTornTail(store: LogStore, { known, size }: StoredLog): Promise<ReadOnly | undefined> {
  if (known.end === size) return undefined;
  return await orRefusal(async () => {
    const copy = await store.cut(known.end);
    for (const problem of known.problems) if (problem.kind === "torn") problem.message += ` It was set aside: ${copy}`;
    return undefined;
  });
}

/** Undefined if the lease was acquired. */
const acquire = (store: LogStore): Promise<ReadOnly | undefined> =>
  orRefusal(async () => {
    const outcome = await store.acquire();
    if (outcome.kind === "held") return undefined;
    const { kind: _kind, ...held } = outcome;
    return { reason: "held", ...held };
  });

/** If the disk refuses to write, the log can still be read. */
async function orRefusal(work: () => Promise<ReadOnly | undefined>): Promise<ReadOnly | undefined> {
  try {
    return await work();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return { reason: "refused", message: getErrorMessage(error) };
  }
}

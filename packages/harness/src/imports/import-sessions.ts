/** Brings sessions of other programs over, each at most once. */
import { utimes } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { type Ids, systemIds } from "@tau/ai";
import { orUndefined } from "@tau/tools/durable";
import { lookAt, nodeFileSystem, systemCode } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { type SessionEntry, type SessionHeader, sessionVersion } from "../session/entry.ts";
import { createFileStore } from "@tau/tools/storage";
import { SessionLog } from "../session/log.ts";
import { sessionDirectory, sessionFileName } from "../session/session-directory.ts";
import { findSessionFile } from "../session/file-storage.ts";
import type { Conversion, ConversionNote, ForeignSession } from "./conversion.ts";
import type { ForeignSessions } from "./find-sessions.ts";
import { addImportRecords, type ImportRecord, readImportRecords, toRecordKey } from "./import-record.ts";

export type ImportOutcome =
  /** A new session with `entries` entries. */
  | { kind: "imported"; path: string; entries: number; notes: readonly ConversionNote[] }
  /** It has grown since it was imported, and `entries` were added. */
  | { kind: "extended"; path: string; entries: number; notes: readonly ConversionNote[] }
  /** Nothing is new. */
  | { kind: "unchanged"; path: string }
  /** It is not touched: it was continued here, or a session of another origin has its id. */
  | { kind: "continued"; path: string }
  /** It was imported before, and the user has deleted it here. */
  | { kind: "deleted" }
  /** It holds no messages. */
  | { kind: "empty" }
  | { kind: "failed"; message: string };

export interface ImportedForeignSession {
  session: ForeignSession;
  outcome: ImportOutcome;
}

export interface ImportSessionsOptions {
  agentDir: string;
  /** Where all sessions are kept. Default: a directory for each working directory. */
  sessionDir?: string | undefined;
  /** The working directory of sessions that do not say theirs. */
  fallbackCwd: string;
  ids?: Ids;
  signal?: AbortSignal;
  /** Called after each session. */
  onProgress?: (done: number, total: number) => void;
}

/** How many sessions are imported before that is recorded. What is not recorded is recognised by its entries. */
const recordedAtOnce = 50;

/** Rejects only when it is aborted. What was imported by then stays, and the next import continues. */
export async function importForeignSessions(
  source: ForeignSessions,
  sessions: readonly ForeignSession[],
  options: ImportSessionsOptions,
): Promise<ImportedForeignSession[]> {
  const { agentDir, ids = systemIds, signal } = options;
  const records = await readImportRecords(agentDir);
  const imported: ImportedForeignSession[] = [];
  let added: Record<string, ImportRecord> = {};
  const record = async () => {
    if (Object.keys(added).length > 0) await addImportRecords(agentDir, added, ids);
    added = {};
  };
  try {
    for (const session of sessions) {
      signal?.throwIfAborted();
      const key = toRecordKey(session);
      const { outcome, record: made } = await importOne(
        source,
        session,
        Object.hasOwn(records, key) ? records[key] : undefined,
        options,
      );
      if (made) added[key] = made;
      if (Object.keys(added).length >= recordedAtOnce) await record();
      imported.push({ session, outcome });
      options.onProgress?.(imported.length, sessions.length);
    }
  } finally {
    await record();
  }
  return imported;
}

interface OneImported {
  outcome: ImportOutcome;
  record?: ImportRecord;
}

async function importOne(
  source: ForeignSessions,
  session: ForeignSession,
  before: ImportRecord | undefined,
  options: ImportSessionsOptions,
): Promise<OneImported> {
  try {
    if (before) {
      const stats = await orUndefined(lookAt(nodeFileSystem, before.path));
      if (!stats) return { outcome: { kind: "deleted" } };
      if (before.stamp === session.stamp) return { outcome: { kind: "unchanged", path: before.path } };
      if (stats.size !== before.size) return { outcome: { kind: "continued", path: before.path } };
    }
    return await convertInto(source, session, before, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof HarnessError) return { outcome: { kind: "failed", message: error.message } };
    const code = systemCode(error);
    if (code === undefined) throw error;
    return { outcome: { kind: "failed", message: `cannot be read or written (${code})` } };
  }
}

async function convertInto(
  source: ForeignSessions,
  session: ForeignSession,
  before: ImportRecord | undefined,
  options: ImportSessionsOptions,
): Promise<OneImported> {
  const conversionOptions = options.signal ? { signal: options.signal } : {};
  const conversion = source.convert(session, conversionOptions);
  const entries = conversion.entries[Symbol.asyncIterator]();
  try {
    return await writeConversion(conversion, entries, {
      ...options,
      session,
      before,
      convertAgain: () => source.convert(session, conversionOptions),
    });
  } finally {
    // Closes the source if not all of it was read.
    await entries.return?.();
  }
}

interface WriteOptions extends ImportSessionsOptions {
  session: ForeignSession;
  before: ImportRecord | undefined;
  convertAgain: () => Conversion;
}

async function writeConversion(
  conversion: Conversion,
  entries: AsyncIterator<SessionEntry>,
  { session, before, convertAgain, ...options }: WriteOptions,
): Promise<OneImported> {
  // A file appears only for a session in which something was said.
  const first: SessionEntry[] = [];
  for (;;) {
    const next = await entries.next();
    if (next.done) return { outcome: { kind: "empty" } };
    first.push(next.value);
    if (next.value.type === "message") break;
  }
  const header = createHeader(session, conversion, options.fallbackCwd);
  const directory = options.sessionDir ?? sessionDirectory(header.cwd, options.agentDir);
  const known = before?.path ?? (await findSessionFile(nodeFileSystem, directory, session.id));
  if (known !== undefined && !before && !(await isOnlyImported(known, convertAgain()))) {
    return { outcome: { kind: "continued", path: known } };
  }
  const path = known ?? join(directory, sessionFileName(header.timestamp, session.id));
  const count = await writeMissing(path, header, { first, entries });
  const modified = new Date(session.modified);
  // Lists show when a session was last used, and `--continue` takes the last one.
  if (count > 0 && session.modified > 0) await orUndefined(utimes(path, modified, modified));
  const size = (await lookAt(nodeFileSystem, path))?.size ?? 0;
  const record = { path, size, stamp: session.stamp };
  if (count === 0) return { outcome: { kind: "unchanged", path }, record };
  const kind = known === undefined ? "imported" : "extended";
  return { outcome: { kind, path, entries: count, notes: conversion.notes }, record };
}

function createHeader({ id, modified }: ForeignSession, { info }: Conversion, fallbackCwd: string): SessionHeader {
  const { cwd, started = modified } = info;
  const timestamp = new Date(started).toISOString();
  return { type: "session", version: sessionVersion, id, timestamp, cwd: isAbsolute(cwd) ? resolve(cwd) : fallbackCwd };
}

/** Whether every entry of a log is one of the conversion: nothing was added here since it was imported. */
async function isOnlyImported(path: string, { entries }: Conversion): Promise<boolean> {
  const log = await SessionLog.open({ store: createFileStore({ path }), access: "read" });
  try {
    let count = 0;
    for await (const { id } of entries) if ((await log.find(id)) >= 0) count++;
    return count === log.table.entryRows().length;
  } finally {
    await log.close();
  }
}

/** Entries are written together until they have so many characters: each write waits for the disk. */
const maxBatchCharacters = 4 * 1024 * 1024;

/** Appends what the log does not have. Returns how many entries that were. */
async function writeMissing(
  path: string,
  header: SessionHeader,
  { first, entries }: { first: readonly SessionEntry[]; entries: AsyncIterator<SessionEntry> },
): Promise<number> {
  const log = await SessionLog.open({ store: createFileStore({ path }), durability: "turn" });
  let count = 0;
  try {
    if (log.readOnly) {
      throw new HarnessError("overtaken", "is open in another process of tau. Import it again when that has ended");
    }
    let batch: SessionEntry[] = [];
    let characters = 0;
    const write = async () => {
      if (batch.length > 0) await log.append(count === 0 ? [header, ...batch] : batch);
      count += batch.length;
      batch = [];
      characters = 0;
    };
    const add = async (entry: SessionEntry) => {
      if ((await log.find(entry.id)) >= 0) return;
      batch.push(entry);
      characters += JSON.stringify(entry).length;
      if (characters > maxBatchCharacters) await write();
    };
    for (const entry of first) await add(entry);
    for (let next = await entries.next(); !next.done; next = await entries.next()) await add(next.value);
    await write();
  } finally {
    await log.close();
  }
  return count;
}

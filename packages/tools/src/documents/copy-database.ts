/**
 * Copies a SQLite database, with what its log adds to it, to a private file that SQLite can open: opening the database itself would
 * lock it, write files beside it, and follow a link that was put in its place.
 */
import { type FileHandle, open } from "node:fs/promises";
import { refuseAborted } from "../files/abort.ts";
import { ToolsError } from "../errors.ts";
import type { Files, ReadableFile } from "../platform/files.ts";
import { formatBytes } from "../truncate.ts";
import { readAt } from "./byte-source.ts";
import {
  checkSchema,
  databaseHeaderBytes,
  frameHeaderBytes,
  logHeaderBytes,
  parseDatabaseHeader,
  parseLogFrame,
  parseLogHeader,
} from "./database-file.ts";

const maxDatabaseBytes = 256 * 1024 * 1024;
/** Limits a change in the log, which is in memory until its end is found. */
const maxChangeBytes = 64 * 1024 * 1024;
const chunkBytes = 1024 * 1024;
const maxAttempts = 3;

interface CopyRequest {
  files: Files;
  /** Names the database in messages. */
  name: string;
  /** Where the copy is written. */
  target: string;
  signal: AbortSignal | undefined;
}

/** Resolves with sentences about what the copy lacks. */
export async function copyDatabase(file: ReadableFile, request: CopyRequest): Promise<string[]> {
  const { files, name } = request;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const source = attempt === 1 ? file : await files.openRead(file.realPath);
    try {
      const notes = await tryCopy(source, request);
      if (notes) return notes;
    } finally {
      if (source !== file) await source.close();
    }
  }
  throw new ToolsError("busy", `${name} is being written to all the time. Try again, or use sqlite3 in bash.`);
}

/** Undefined if the database was changed meanwhile. */
async function tryCopy(
  file: ReadableFile,
  { files, name, target, signal }: CopyRequest,
): Promise<string[] | undefined> {
  if (file.size > maxDatabaseBytes) {
    const sizes = `${formatBytes(file.size)}; at most ${formatBytes(maxDatabaseBytes)} can be shown`;
    throw new ToolsError("too_large", `${name} is a database of ${sizes}. Use sqlite3 in bash.`);
  }
  const log = await openBeside(files, `${file.realPath}-wal`);
  const copy = await open(target, "w+", 0o600);
  try {
    const logStart = log.file && (await readAt(log.file, 0, logHeaderBytes));
    for (let position = 0; position < file.size; position += chunkBytes) {
      refuseAborted(signal);
      await write(copy, await readAt(file, position, chunkBytes), position);
    }
    if (log.file && logStart) await applyLog(copy, log.file, { start: logStart, name });
    if (log.file && !logStart!.equals(await readAt(log.file, 0, logHeaderBytes))) return undefined;
    if ((await getStamp(files, file.realPath)) !== file.stamp) return undefined;
    await checkCopy(copy, name);
    const journal = await openBeside(files, `${file.realPath}-journal`);
    await journal.file?.close();
    const isUnfinished = journal.file !== undefined && journal.file.size > 0;
    return [
      ...(log.isDenied ? ["The newest changes are in a log beside it, which may not be read, and are not shown."] : []),
      ...(isUnfinished
        ? ["A change is not finished: a program is writing, or was killed. Half of it may be shown."]
        : []),
    ];
  } finally {
    await copy.close();
    await log.file?.close();
  }
}

async function openBeside(files: Files, path: string): Promise<{ file?: ReadableFile; isDenied?: boolean }> {
  try {
    return { file: await files.openRead(path) };
  } catch (error) {
    if (!(error instanceof ToolsError)) throw error;
    return { isDenied: error.code !== "not_found" };
  }
}

async function getStamp(files: Files, path: string): Promise<string> {
  const file = await files.openRead(path);
  await file.close();
  return file.stamp;
}

/**
 * Writes all pages of finished changes into the copy, as SQLite does when it empties the log. Throws for a log that is too large: a part
 * of it, over pages that are newer already, would be a state that never was.
 */
async function applyLog(
  copy: FileHandle,
  log: ReadableFile,
  { start, name }: { start: Buffer; name: string },
): Promise<void> {
  const header = parseLogHeader(start);
  const pageBytes = header?.pageBytes ?? 0;
  if (!header || pageBytes < 512 || pageBytes > 65_536) return;
  const frameBytes = frameHeaderBytes + pageBytes;
  let { checksum } = header;
  /** Pages of a change that has not ended: only the end makes them valid. */
  let waiting = new Map<number, Buffer>();
  for (let position = logHeaderBytes; position < log.size; position += frameBytes) {
    const bytes = await readAt(log, position, frameBytes);
    const frame = parseLogFrame(bytes, header, checksum);
    if (!frame || frame.page === 0) return;
    const isTooLarge = Math.max(frame.page, frame.totalPages) * pageBytes > maxDatabaseBytes;
    if (isTooLarge || position > maxDatabaseBytes || waiting.size * pageBytes > maxChangeBytes)
      throw new ToolsError("too_large", `${name} has a log that is too large to be read. Use sqlite3 in bash.`);
    checksum = frame.checksum;
    waiting.set(frame.page, bytes.subarray(frameHeaderBytes));
    if (frame.totalPages === 0) continue;
    for (const [page, content] of waiting) await write(copy, content, (page - 1) * pageBytes);
    waiting = new Map();
    await copy.truncate(frame.totalPages * pageBytes);
  }
}

/** Throws for a copy that SQLite must not see. Takes it out of the mode that needs a log. */
async function checkCopy(copy: FileHandle, name: string): Promise<void> {
  const { size } = await copy.stat();
  const source = {
    size,
    read: async (buffer: Uint8Array, position: number) =>
      (await copy.read(buffer, 0, buffer.length, position)).bytesRead,
  };
  const header = parseDatabaseHeader(await readAt(source, 0, databaseHeaderBytes));
  const { pageBytes = 0 } = header ?? {};
  const readPage = async (page: number) => {
    const bytes = await readAt(source, (page - 1) * pageBytes, pageBytes);
    return page > 0 && bytes.length === pageBytes ? bytes : undefined;
  };
  const problem = header ? await checkSchema(readPage) : "its header is wrong";
  if (problem !== undefined) throw new ToolsError("binary", `${name} is a damaged database: ${problem}.`);
  await write(copy, Buffer.from([1, 1]), 18);
}

async function write(copy: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    const { bytesWritten } = await copy.write(bytes, from, bytes.length - from, position + from);
    from += bytesWritten;
  }
}

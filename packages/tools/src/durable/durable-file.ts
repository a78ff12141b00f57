/** Durable files: directories and files whose content is on the disk before a call resolves. */
import { constants, type Stats } from "node:fs";
import { dirname } from "node:path";
import { type Ids, systemIds } from "@tau/ai";
import { closeAfter } from "@tau/ai/internal";
import { type FileSystem, lookAt, nodeFileSystem } from "../platform/file-system.ts";
import { noLinkCodes } from "../platform/lease.ts";
import type { OpenHandle } from "../platform/open-handle.ts";
import { systemCode, unlessMissing } from "../errors.ts";
import { HarnessError } from "@tau/protocol";

/** Makes a directory, and those above it. It is lost with the power, with all that is in it, until its name is synced. */
export async function makeDirectory(fs: FileSystem, path: string): Promise<void> {
  if (await lookAt(fs, path)) return;
  const above = dirname(path);
  if (above !== path) await makeDirectory(fs, above);
  await fs.mkdir(path, { recursive: true, mode: 0o700 });
  await syncDirectory(fs, above);
}

/** Brings the names in a directory to the disk: without its name, a file is lost with the power. */
export async function syncDirectory(fs: FileSystem, path: string): Promise<void> {
  await closeAfter(await fs.open(path, constants.O_RDONLY), (directory) => directory.sync());
}

/** Undefined when the system refuses: for what may be missing. */
export async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Undefined when there is no such file, or when it is larger than `maxBytes`. Fails with `EINVAL` for a pipe or a device. */
export async function readWhole(fs: FileSystem, path: string, maxBytes?: number): Promise<Buffer | undefined> {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const handle = await unlessMissing(fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (!handle) return undefined;
  return await closeAfter(handle, async () => {
    const stats = await handle.stat();
    mustBeRegular(path, stats);
    const size = maxBytes === undefined ? 0 : stats.size;
    return maxBytes !== undefined && size > maxBytes ? undefined : await readUpTo(handle, Infinity, size);
  });
}

/** Throws for a pipe or a device, which could be read or written without end. The system refuses a directory by itself. */
export function mustBeRegular(path: string, stats: Pick<Stats, "isFile" | "isDirectory">): void {
  if (stats.isFile() || stats.isDirectory()) return;
  throw Object.assign(new Error(`${path} is not a regular file.`), { code: "EINVAL" });
}

/** The beginning of a file, at most `maxBytes`. With `size`, what it probably has is read at once. */
export async function readUpTo(handle: OpenHandle, maxBytes: number, size = 0): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let position = 0; position < maxBytes;) {
    const chunk = Buffer.allocUnsafe(Math.min(maxBytes - position, Math.max(64 * 1024, size - position)));
    const count = await handle.read(chunk, position);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    position += count;
  }
  return Buffer.concat(chunks);
}

const writeFailures: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EFBIG: "the file has reached the size limit",
  EACCES: "writing is not allowed",
  EPERM: "writing is not allowed",
  EROFS: "the disk is read-only",
  EIO: "the disk failed",
  ENOENT: "there is no such directory",
  ENOTDIR: "a part of the path is not a directory",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "links lead in a circle",
};

/** For people: a file that the system did not let us read. */
export const formatReadFailure = (path: string, code: string): string =>
  `${path} could not be read (${code}). Check that it is a regular file and that you have permission to read it.`;

/** Why the system did not write, for people: `the disk is full (ENOSPC)`. */
export const formatWriteFailure = (code: string): string => `${writeFailures[code] ?? "the disk refused"} (${code})`;

/** Errors of the system that are about writing become `write_failed`, with the name of the file. */
export async function namingFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = systemCode(cause) ?? "";
    if (!Object.hasOwn(writeFailures, code)) throw cause;
    const message = `${path} could not be written: ${formatWriteFailure(code)}. It was not changed.`;
    throw new HarnessError("write_failed", message, { cause });
  }
}

/** Writes a text file that only its owner may read. Fails with `EEXIST` where a file exists, unless `replaces`. */
export const writeTextFile = (path: string, text: string, { replaces = false } = {}): Promise<void> =>
  namingFile(path, () => writeWhole(nodeFileSystem, { path, bytes: Buffer.from(text), ids: systemIds, replaces }));

/** Fails with `EEXIST` where a file exists. */
async function renameNew(fs: FileSystem, draft: string, path: string): Promise<void> {
  try {
    await fs.link(draft, path);
    await fs.unlink(draft);
  } catch (error) {
    if (!noLinkCodes.has(systemCode(error))) throw error;
    // Without hard links, an empty file reserves the name for a moment.
    await (await fs.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)).close();
    await fs.rename(draft, path);
  }
}

/** Keeps the content of a file under a second name. */
export async function keepAs(fs: FileSystem, from: string, { path, ids }: { path: string; ids: Ids }): Promise<void> {
  try {
    await fs.link(from, path);
  } catch (error) {
    const bytes = noLinkCodes.has(systemCode(error)) ? await readWhole(fs, from) : undefined;
    if (!bytes) throw error;
    await writeWhole(fs, { path, bytes, ids, replaces: false });
  }
}

export interface WholeFile {
  path: string;
  bytes: Uint8Array;
  /** Names the draft. */
  ids: Ids;
  /** Default 0600: only its owner may read it. */
  mode?: number;
  /** Whether an existing file is replaced. Default true; otherwise it fails with `EEXIST`. */
  replaces?: boolean;
  /** Whether the file is on the disk when it resolves. Default true. */
  syncs?: boolean;
}

/**
 * Old or new, never neither and never half: a draft beside it takes its place when it is on the disk. Makes missing
 * directories, which only their owner may look into.
 */
export async function writeWhole(
  fs: FileSystem,
  { path, bytes, ids, mode = 0o600, replaces = true, syncs = true }: WholeFile,
): Promise<void> {
  const draft = `${path}.${ids()}`;
  await makeDirectory(fs, dirname(path));
  try {
    const handle = await fs.open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    await closeAfter(handle, async () => {
      await handle.write(bytes);
      if (syncs) await handle.sync();
    });
    // A link, unlike a rename, never replaces a file.
    if (replaces) await fs.rename(draft, path);
    else await renameNew(fs, draft, path);
  } catch (error) {
    await orUndefined(fs.unlink(draft));
    throw error;
  }
  if (syncs) await syncDirectory(fs, dirname(path));
}

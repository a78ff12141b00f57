/**
 * Files of a cache that are believed only if this user has written them for the same key: they hold code. A file that is
 * damaged, renamed, of another user or writable by others is ignored, and made again.
 */
import { hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { systemIds } from "@tau/ai";
import { nodeFileSystem, systemCode } from "@tau/tools/platform";
import { orUndefined, writeWhole } from "@tau/tools/durable";

export interface CachedFile {
  path: string;
  /** Identifies what the content was made from. Must not have line breaks. */
  key: string;
}

const digestLength = 64;

/** The digest covers the key: a file that was given another name must not be taken for what belongs to that name. */
const getDigest = (keyed: Buffer): string => hash("sha256", keyed, "hex");

/** Reads what was written for this key; undefined if there is nothing that can be trusted. */
export function readCachedFile({ path, key }: CachedFile): Buffer | undefined {
  const bytes = readOwnFile(path);
  const keyed = bytes?.subarray(digestLength + 1);
  if (!keyed || bytes?.toString("latin1", 0, digestLength) !== getDigest(keyed)) return undefined;
  const start = Buffer.byteLength(key) + 1;
  return keyed.toString("utf8", 0, start) === `${key}\n` ? keyed.subarray(start) : undefined;
}

/** Writes the file. If that fails, the content is made again the next time: the directory of the user may be read-only. */
export async function writeCachedFile({ path, key }: CachedFile, content: Buffer): Promise<void> {
  const keyed = Buffer.concat([Buffer.from(`${key}\n`), content]);
  const bytes = Buffer.concat([Buffer.from(`${getDigest(keyed)}\n`), keyed]);
  await orUndefined(writeWhole(nodeFileSystem, { path, bytes, ids: systemIds, syncs: false }));
}

/** Synchronous, because these are small local files and each await costs more than the read. */
function readOwnFile(path: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    // A pipe in the place of the file must not make us wait.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || !isOnlyOurs(stats)) return undefined;
    const bytes = Buffer.allocUnsafe(stats.size);
    return bytes.subarray(0, readSync(descriptor, bytes));
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const othersMayWrite = constants.S_IWGRP | constants.S_IWOTH;

/** Where the system has no owners of files, everything is. */
const isOnlyOurs = ({ uid, mode }: { uid: number; mode: number }): boolean =>
  process.geteuid === undefined || (uid === process.geteuid() && (mode & othersMayWrite) === 0);

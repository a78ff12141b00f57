/** Indexes of logs, kept in files of this node. They may be lost or old at any time, and are checked before use. */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ids } from "@tau/ai";
import { systemCode } from "@tau/tools/platform";

interface CachedIndex {
  /** Which log it belongs to. */
  identity: string;
  /** See `Segments.encode`. */
  segments: Buffer;
  /** See `LogStore.writeIndex`. */
  index: Buffer;
}

export interface IndexCache {
  read(sessionId: string): Promise<CachedIndex | undefined>;
  write(sessionId: string, cached: CachedIndex): Promise<void>;
}

export const noCache: IndexCache = { read: async () => undefined, write: async () => undefined };

export function createIndexCache(directory: string, ids: Ids): IndexCache {
  const getPath = (sessionId: string) =>
    join(directory, `${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)}.idx`);
  return {
    async read(sessionId) {
      const bytes = await orUndefined(readFile(getPath(sessionId)));
      return bytes && decode(bytes);
    },
    async write(sessionId, cached) {
      const path = getPath(sessionId);
      const draft = `${path}.${ids()}`;
      await orUndefined(mkdir(directory, { recursive: true, mode: 0o700 }));
      await orUndefined(writeFile(draft, encode(cached), { mode: 0o600 }));
      await orUndefined(rename(draft, path));
      await orUndefined(rm(draft, { force: true }));
    },
  };
}

/** Three parts, after their lengths and a checksum of everything. */
function encode({ identity, segments, index }: CachedIndex): Buffer {
  const parts = [Buffer.from(identity), segments, index];
  const lengths = Buffer.alloc(12);
  for (const [place, part] of parts.entries()) lengths.writeUInt32LE(part.length, 4 * place);
  const content = Buffer.concat([lengths, ...parts]);
  return Buffer.concat([hash(content), content]);
}

function decode(bytes: Buffer): CachedIndex | undefined {
  const content = bytes.subarray(hashBytes);
  if (content.length < 12 || !hash(content).equals(bytes.subarray(0, hashBytes))) return undefined;
  let start = 12;
  const take = (place: number) => content.subarray(start, (start += content.readUInt32LE(4 * place)));
  return { identity: take(0).toString(), segments: take(1), index: take(2) };
}

const hashBytes = 16;
const hash = (content: Buffer) => createHash("sha256").update(content).digest().subarray(0, hashBytes);

/** A disk that refuses costs only time. */
async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Files that are read and written whole. */
import { constants } from "node:fs";
import { dirname } from "node:path";
import type { Ids } from "@tau/ai";
import type { FileSystem } from "@tau/tools/platform";
import { ifThere, makeDirectory, orUndefined, syncDirectory } from "./on-disk.ts";

/** Undefined when there is no such file. */
export async function readWhole(fs: FileSystem, path: string): Promise<Buffer | undefined> {
  const handle = await ifThere(fs.open(path, constants.O_RDONLY));
  if (!handle) return undefined;
  try {
    const chunks: Buffer[] = [];
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      const count = await handle.read(chunk, position);
      if (count === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, count));
      position += count;
    }
  } finally {
    await handle.close();
  }
}

export interface WholeFile {
  path: string;
  bytes: Uint8Array;
  /** Names the draft. */
  ids: Ids;
  /** Default 0600: only its owner may look into it. */
  mode?: number;
}

/**
 * Old or new, never neither and never half: a draft beside it takes its place when it is on the disk. Makes missing
 * directories, which only their owner may look into.
 */
export async function writeWhole(fs: FileSystem, { path, bytes, ids, mode = 0o600 }: WholeFile): Promise<void> {
  const draft = `${path}.${ids()}`;
  await makeDirectory(fs, dirname(path));
  try {
    const handle = await fs.open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    try {
      await handle.write(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fs.rename(draft, path);
  } catch (error) {
    await orUndefined(fs.unlink(draft));
    throw error;
  }
  await syncDirectory(fs, dirname(path));
}

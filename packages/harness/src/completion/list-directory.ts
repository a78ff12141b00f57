/** Lists one directory, whatever its size: the names are read in parts, and keys are served between them. */
import { type Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { orUndefined } from "@tau/tools/durable";
import type { PathList } from "./path-list.ts";

const namesPerRead = 512;

/** Adds what is in the directory. One that cannot be read is empty. */
export async function listDirectory(
  list: PathList,
  { directory, signal }: { directory: string; signal: AbortSignal },
): Promise<void> {
  const entries = await orUndefined(opendir(directory, { bufferSize: namesPerRead }));
  if (entries) await orUndefined(readEntries(entries, { list, directory, signal }));
}

async function readEntries(
  entries: AsyncIterable<Dirent>,
  { list, directory, signal }: { list: PathList; directory: string; signal: AbortSignal },
): Promise<void> {
  for await (const entry of entries) {
    if (signal.aborted) return;
    // A name that is not UTF-8 cannot be written in a prompt.
    if (entry.name.includes("\ufffd")) continue;
    const suffix = (await isDirectory(directory, entry)) ? "/" : "";
    if (!list.append(Buffer.from(`${entry.name}${suffix}\0`))) return;
  }
}

async function isDirectory(directory: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return (await orUndefined(stat(join(directory, entry.name))))?.isDirectory() ?? false;
}

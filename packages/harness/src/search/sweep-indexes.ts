/** Removes the indexes of logs that are gone, and what a killed process left of one. */
import { join } from "node:path";
import { orUndefined } from "@tau/tools/durable";
import { type FileSystem, lookAt } from "@tau/tools/platform";

/** Another process may still be writing a younger draft. */
const maxDraftAgeMs = 60 * 60 * 1000;

export async function sweepIndexes(
  fs: FileSystem,
  { directory, names, nowMs }: { directory: string; names: readonly string[]; nowMs: number },
): Promise<void> {
  const known = new Set(names);
  for (const name of names) {
    if (!name.includes(indexSuffix)) continue;
    // Most are indexes of a log that is there.
    if (name.endsWith(indexSuffix) && known.has(name.slice(0, -".search".length))) continue;
    const [, log, draft] = /^(.+\.jsonl)\.search(\.[\da-f-]{36})?$/.exec(name) ?? [];
    if (log === undefined) continue;
    const path = join(directory, name);
    const isDead = !known.has(log) || (draft !== undefined && (await isOld(fs, path, nowMs)));
    if (isDead) await orUndefined(fs.unlink(path));
  }
}

const indexSuffix = ".jsonl.search";

async function isOld(fs: FileSystem, path: string, nowMs: number): Promise<boolean> {
  const stats = await orUndefined(lookAt(fs, path));
  return stats !== undefined && nowMs - stats.mtimeMs > maxDraftAgeMs;
}

/** Removes copies of files that were to be sent, and that a crash has left. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { maxReplyAgeMs } from "./decide-delivery.ts";
import type { OutboxReply } from "./records.ts";

/** Keeps new ones: they may belong to a reply that is being recorded. A directory that cannot be read is left as it is. */
export async function removeUnusedFiles(
  directory: string,
  replies: Iterable<Pick<OutboxReply, "file">>,
  nowMs: number,
): Promise<void> {
  const used = new Set([...replies].map(({ file }) => file?.path));
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const writtenAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? nowMs;
    if (!used.has(path) && nowMs - writtenAt > maxReplyAgeMs) await rm(path, { force: true }).catch(() => {});
  }
}

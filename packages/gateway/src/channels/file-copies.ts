/** Copies of files that are sent to a platform, until they are: in a directory of the gateway, or in its storage. */
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogKey, Storage } from "@tau/harness/session";
import { GatewayError } from "../errors.ts";
import { maxReplyAgeMs } from "./decide-delivery.ts";
import type { OutboxReply } from "./records.ts";

export interface FileCopies {
  /** Returns the name by which the copy is found: durable when it resolves. `id` is a new one. */
  add(id: string, bytes: Uint8Array): Promise<string>;
  /** Undefined if it is gone. */
  read(path: string): Promise<Buffer | undefined>;
  remove(path: string): Promise<void>;
  /** Removes what a crash has left. Keeps new ones: they may belong to a reply that is being recorded. */
  removeUnused(replies: Iterable<Pick<OutboxReply, "file">>, nowMs: number): Promise<void>;
}

const isOld = (writtenAtMs: number, nowMs: number): boolean => nowMs - writtenAtMs > maxReplyAgeMs;

const listUsed = (replies: Iterable<Pick<OutboxReply, "file">>): ReadonlySet<string | undefined> =>
  new Set([...replies].map(({ file }) => file?.path));

export const createCopiesInFiles = (directory: string): FileCopies => ({
  async add(id, bytes) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, id);
    await writeFile(path, bytes, { mode: 0o600, flush: true });
    return path;
  },
  read: (path) => readFile(path).catch(() => undefined),
  remove: (path) => rm(path, { force: true }),
  async removeUnused(replies, nowMs) {
    const used = listUsed(replies);
    // A directory that cannot be read is left as it is.
    for (const name of await readdir(directory).catch(() => [])) {
      const path = join(directory, name);
      const writtenAtMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? nowMs;
      if (!used.has(path) && isOld(writtenAtMs, nowMs)) await rm(path, { force: true }).catch(() => {});
    }
  },
});

const keyStart = "gateway/channel-file-";
const blobName = "content";

/** Each copy is a log, because a blob is removed with its log. Its path is the key. */
export const createStoredCopies = (storage: Storage): FileCopies => ({
  async add(id, bytes) {
    const key: LogKey = `${keyStart}${id}`;
    const store = await storage.open(key, { createdAt: new Date(0).toISOString() });
    try {
      const outcome = await store.append(Buffer.from("{}\n"), { position: 0, sync: true });
      if (outcome.kind !== "appended")
        throw new GatewayError("unavailable", `The file could not be kept: ${outcome.reason}.`);
      await store.writeBlob(blobName, bytes);
    } finally {
      await store.close();
    }
    return key;
  },
  async read(path) {
    if (!path.startsWith(keyStart)) return undefined;
    const store = await storage.open(path as LogKey);
    return await store.readBlob(blobName).finally(() => store.close());
  },
  async remove(path) {
    if (path.startsWith(keyStart)) await storage.remove(path as LogKey);
  },
  async removeUnused(replies, nowMs) {
    const used = listUsed(replies);
    for (const { key, modifiedMs } of await storage.list("gateway"))
      if (key.startsWith(keyStart) && !used.has(key) && isOld(modifiedMs, nowMs)) await storage.remove(key);
  },
});

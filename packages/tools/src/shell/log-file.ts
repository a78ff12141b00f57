/** Keeps the whole output of a command: a private file with a limit. */
import { constants } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { systemCode } from "../errors.ts";
import type { FileSystem, OpenHandle } from "../platform/file-system.ts";
import { formatBytes } from "../truncate.ts";
import { removeAbandoned, temporaryName } from "./temporary-logs.ts";
import { lastBoundary } from "./code-points.ts";

const maxLogBytes = 64 * 1024 * 1024;
/** Temporary files are often kept in memory, and a session may run for days. */
const maxKeptBytes = 512 * 1024 * 1024;

export interface LogFile {
  readonly path: string;
  /** Whether there was more than the limit allows. */
  readonly isFull: boolean;
  /** Why nothing is kept, if writing failed: the file is removed then. */
  readonly failure: string | undefined;
  /** The caller must not change `text` until it is written. Never rejects: a full disk is no reason to stop a command. */
  write(text: Buffer): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Opens log files that only their owner can read. */
export interface Logs {
  open(name: string): Promise<LogFile>;
  /** For the end of the session: removes the files, unless they are in a directory that was given. Never rejects. */
  remove(): Promise<void>;
}

interface LogsOptions {
  fs: FileSystem;
  ids: Ids;
  clock: Clock;
  /** Created when it is missing. Default: the system's temporary files, where nothing stays. */
  directory?: string | undefined;
  /** Limits one file. Default 64 MB. */
  maxBytes?: number | undefined;
  /** Limits all complete temporary files together: the oldest are removed beyond that. Default 512 MB. */
  maxTotalBytes?: number | undefined;
}

export function createLogs(options: LogsOptions): Logs {
  const { fs, ids, clock, directory, maxBytes = maxLogBytes, maxTotalBytes = maxKeptBytes } = options;
  const temporary = new Set<string>();
  /** The oldest first. */
  const complete = new Map<string, number>();
  let sweeping: Promise<unknown> | undefined;
  const inDirectory = async (directory: string, name: string) => {
    await fs.mkdir(directory, { recursive: true, mode: 0o700 });
    return join(directory, `${name}-${ids()}.log`);
  };
  const amongTemporary = (name: string) => {
    // Not awaited: this command does not depend on it.
    sweeping ??= Promise.allSettled([removeAbandoned({ fs, clock, directory: tmpdir() })]);
    const path = join(tmpdir(), temporaryName(name, ids()));
    temporary.add(path);
    return path;
  };
  const remove = async (paths: Iterable<string>) => {
    // What cannot be removed now is removed as abandoned, later.
    await Promise.allSettled([...paths].map((path) => temporary.delete(path) && fs.unlink(path)));
  };
  const removeOldest = async () => {
    let total = [...complete.values()].reduce((sum, bytes) => sum + bytes, 0);
    for (const [path, bytes] of complete) {
      if (total <= maxTotalBytes) return;
      total -= bytes;
      complete.delete(path);
      await remove([path]);
    }
  };
  return {
    async open(name) {
      try {
        const path = directory === undefined ? amongTemporary(name) : await inDirectory(directory, name);
        const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
        const handle = await fs.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
        const onClose = async (bytes: number) => {
          if (!temporary.has(path)) return;
          complete.set(path, bytes);
          await removeOldest();
        };
        return createLogFile({ fs, path, handle, maxBytes, onClose });
      } catch (error) {
        return brokenLog(name, getReason(error));
      }
    },
    async remove() {
      await sweeping;
      await remove(temporary);
    },
  };
}

/** Keeps nothing, and says why. */
export const createNoLogs = (reason: string): Logs => ({
  open: (name) => Promise.resolve(brokenLog(name, reason)),
  remove: () => Promise.resolve(),
});

interface OpenLog {
  fs: FileSystem;
  path: string;
  handle: OpenHandle;
  maxBytes: number;
  /** Never rejects. */
  onClose: (bytes: number) => Promise<void>;
}

function createLogFile({ fs, path, handle, maxBytes, onClose }: OpenLog): LogFile {
  let left = maxBytes;
  let isFull = false;
  let failure: string | undefined;
  let writing = Promise.resolve();
  const put = async (text: Buffer) => {
    const fitting = text.subarray(0, lastBoundary(text, left));
    await handle.write(fitting);
    left -= fitting.length;
    if (fitting.length === text.length) return;
    isFull = true;
    await handle.write(Buffer.from(`\n[Output beyond ${formatBytes(maxBytes)} was not kept.]\n`));
  };
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      failure ??= getReason(error);
    }
  };
  return {
    path,
    get isFull() {
      return isFull;
    },
    get failure() {
      return failure;
    },
    write(text) {
      const isOver = () => isFull || failure !== undefined;
      return isOver() ? writing : (writing = writing.then(() => (isOver() ? undefined : attempt(() => put(text)))));
    },
    async close() {
      await writing;
      await attempt(() => handle.close());
      if (failure === undefined) await onClose(maxBytes - left);
      else await attempt(() => fs.unlink(path));
    },
  };
}

const brokenLog = (path: string, failure: string): LogFile => ({
  path,
  isFull: false,
  failure,
  write: () => Promise.resolve(),
  close: () => Promise.resolve(),
});

const getReason = (error: unknown) => systemCode(error) ?? (error instanceof Error ? error.message : String(error));

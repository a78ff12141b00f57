/** Where the whole output of a command goes: a private file with a limit. */
import { constants } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ids } from "@tau/ai";
import { systemCode } from "../errors.ts";
import type { FileSystem, OpenHandle } from "../platform/file-system.ts";
import { formatBytes } from "../truncate.ts";

export const mostLogBytes = 64 * 1024 * 1024;

export interface LogFile {
  readonly path: string;
  /** Whether there was more than the limit allows. */
  readonly isFull: boolean;
  /** Why the file is not whole, if writing failed. */
  readonly failure: string | undefined;
  /** Never rejects: a full disk is no reason to stop a command. */
  write(bytes: Uint8Array): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Opens log files, in one directory that only its owner can look into. */
export interface Logs {
  open(name: string): Promise<LogFile>;
}

export interface LogsOptions {
  fs: FileSystem;
  ids: Ids;
  /** Created when it is missing. Default: a new one among the system's temporary files. */
  directory?: string | undefined;
  /** Default 64 MB. */
  maxBytes?: number | undefined;
}

export function createLogs({ fs, ids, directory, maxBytes = mostLogBytes }: LogsOptions): Logs {
  let ready: Promise<string> | undefined;
  const make = async () => {
    const path = directory ?? join(tmpdir(), `tau-${ids()}`);
    // A new temporary directory must be ours alone: one that exists already was put there by somebody else.
    await fs.mkdir(path, { recursive: directory !== undefined, mode: 0o700 });
    return path;
  };
  return {
    async open(name) {
      let path = name;
      try {
        path = join(await (ready ??= make()), `${name}-${ids()}.log`);
        const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
        return createLogFile(path, await fs.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600), maxBytes);
      } catch (error) {
        ready = undefined;
        return brokenLog(path, reasonOf(error));
      }
    },
  };
}

function createLogFile(path: string, handle: OpenHandle, maxBytes: number): LogFile {
  let left = maxBytes;
  let isFull = false;
  let failure: string | undefined;
  let writing = Promise.resolve();
  const put = async (bytes: Uint8Array) => {
    if (failure !== undefined || isFull) return;
    try {
      await handle.write(bytes.subarray(0, left));
      left -= Math.min(left, bytes.length);
      if (left > 0) return;
      isFull = true;
      await handle.write(Buffer.from(`\n[Output beyond ${formatBytes(maxBytes)} was not kept.]\n`));
    } catch (error) {
      failure = reasonOf(error);
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
    write: (bytes) => (isFull ? writing : (writing = writing.then(() => put(bytes)))),
    async close() {
      await writing;
      try {
        await handle.close();
      } catch (error) {
        failure ??= reasonOf(error);
      }
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

const reasonOf = (error: unknown) => systemCode(error) ?? (error instanceof Error ? error.message : String(error));

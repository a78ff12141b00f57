/** File systems for tests: fast enough for very many calls, stopped before any of them, or counting them. */
import * as fs from "node:fs";
import { type FileSystem, nodeFileSystem, type OpenHandle } from "../src/platform/file-system.ts";

/** Real files, without the detour over threads, and without waiting for the disk. */
export const directFileSystem: FileSystem = {
  async open(path, flags, mode) {
    const fd = fs.openSync(path, flags, mode);
    return {
      fd,
      stat: async () => fs.fstatSync(fd),
      read: async (buffer, position) => fs.readSync(fd, buffer, 0, buffer.length, position),
      write: async (data, position) => void fs.writeSync(fd, data, 0, data.length, position ?? null),
      sync: async () => undefined,
      datasync: async () => undefined,
      truncate: async (length) => fs.ftruncateSync(fd, length),
      chmod: async (given) => fs.fchmodSync(fd, given),
      chown: async (uid, gid) => fs.fchownSync(fd, uid, gid),
      close: async () => fs.closeSync(fd),
    };
  },
  stat: async (path) => fs.statSync(path),
  lstat: async (path) => fs.lstatSync(path),
  realpath: async (path) => fs.realpathSync.native(path),
  readlink: async (path) => fs.readlinkSync(path),
  async readdir(path) {
    const entries = fs.readdirSync(path, { withFileTypes: true });
    return entries.map((entry) => ({
      name: entry.name,
      isDirectory: entry.isDirectory(),
      isSymbolicLink: entry.isSymbolicLink(),
    }));
  },
  mkdir: async (path, options) => void fs.mkdirSync(path, options),
  rename: async (from, to) => fs.renameSync(from, to),
  link: async (from, to) => fs.linkSync(from, to),
  unlink: async (path) => fs.unlinkSync(path),
  rmdir: async (path) => fs.rmdirSync(path),
};

/** Lets `act` come before every call, also of open files. Nothing is closed without it: a dead process closes nothing. */
export function beforeEachCall(real: FileSystem, act: (call: string) => Promise<void>): FileSystem {
  const watch = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, property, receiver) {
        const value: unknown = Reflect.get(object, property, receiver);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          await act(String(property));
          const result: unknown = await Reflect.apply(value, object, args);
          return property === "open" ? watch(result as OpenHandle) : result;
        };
      },
    });
  return watch({ ...real });
}

/** Real files that count the bytes that are read from them. */
export function countReads(): { fileSystem: FileSystem; getBytesRead(): number } {
  let bytesRead = 0;
  const open: FileSystem["open"] = async (path, flags, mode) => {
    const handle = await nodeFileSystem.open(path, flags, mode);
    const read: OpenHandle["read"] = async (buffer, position) => {
      const count = await handle.read(buffer, position);
      bytesRead += count;
      return count;
    };
    return { ...handle, read };
  };
  return { fileSystem: { ...nodeFileSystem, open }, getBytesRead: () => bytesRead };
}

/**
 * Lets workers go on one at a time, in rounds, each for as many turns as the next of `bursts` says; without end when
 * there are no more.
 */
export async function takeTurns(
  bursts: readonly number[],
  workers: readonly ((itsTurn: () => Promise<void>) => Promise<void>)[],
): Promise<void> {
  const waiting = new Map<number, () => void>();
  const ended = new Set<number>();
  const all = Promise.all(
    workers.map(async (work, at) => {
      try {
        await work(async () => await new Promise<void>((resolve) => waiting.set(at, resolve)));
      } finally {
        ended.add(at);
      }
    }),
  );
  all.catch(() => undefined);
  for (let round = 0; ended.size < workers.length; round++) {
    const at = round % workers.length;
    for (let turns = bursts[round] ?? Number.POSITIVE_INFINITY; turns > 0 && !ended.has(at); turns--) {
      while (!waiting.has(at) && !ended.has(at)) await new Promise((resolve) => setImmediate(resolve));
      waiting.get(at)?.();
      waiting.delete(at);
    }
  }
  await all;
}

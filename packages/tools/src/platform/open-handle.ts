/**
 * An open file over its bare descriptor. Node's `FileHandle` does the same and makes an edit take an eighth longer. Its
 * safety is kept: a file is closed once, and not while a call is running, because the system reuses the descriptor.
 *
 * `stat` and `close` are synchronous: they take a microsecond or two, where the detour over a thread costs fifteen. While
 * written data has not been synced they are asynchronous, because a network file system may make them wait.
 */
import * as fs from "node:fs";
import { called, type Done } from "./callback.ts";

/** An open file. Numbers are bytes. */
export interface OpenHandle {
  readonly fd: number;
  stat(): Promise<fs.Stats>;
  /** Reads into `buffer` and says how many bytes came; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  /** Writes all of `data`, or rejects. Without `position`, where the file stands (or at its end, opened for append). */
  write(data: Uint8Array, position?: number): Promise<void>;
  sync(): Promise<void>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  close(): Promise<void>;
}

export async function openRaw(path: string, flags: number, mode?: number): Promise<OpenHandle> {
  return toHandle(await called<number>((done) => fs.open(path, flags, mode, done)), path);
}

/** A plain object, so that a test can replace one of its functions. */
function toHandle(fd: number, path: string): OpenHandle {
  let running = 0;
  let closed: Promise<void> | undefined;
  let whenQuiet: (() => void) | undefined;
  /** How often it was changed, and how many of these changes are on the disk. */
  let [changes, syncedChanges] = [0, 0];
  const call = <T>(start: (done: Done<T>) => void): Promise<T> => {
    if (closed) return Promise.reject(closedError());
    return new Promise<T>((resolve, reject) => {
      start((error, value) => {
        if (--running === 0) whenQuiet?.();
        if (error) reject(nameFile(error, path));
        else resolve(value as T);
      });
      // Afterwards: Node throws for arguments that are not valid, and then never calls back.
      running++;
    });
  };
  const close = async () => {
    if (running > 0) await new Promise<void>((resolve) => (whenQuiet = resolve));
    if (changes === syncedChanges) return fs.closeSync(fd);
    await called((done) => fs.close(fd, done));
  };
  const synced = async (start: (done: Done<void>) => void) => {
    const before = changes;
    await call(start);
    syncedChanges = before;
  };
  return {
    fd,
    async stat() {
      if (changes !== syncedChanges) return await call<fs.Stats>((done) => fs.fstat(fd, done));
      if (closed) throw closedError();
      return fs.fstatSync(fd);
    },
    read: (buffer, position) => call((done) => fs.read(fd, buffer, 0, buffer.length, position, done)),
    async write(data, position) {
      changes++;
      // A call may write less than it was given, and an interrupted one usually does.
      for (let written = 0; written < data.length;) {
        const target = position === undefined ? null : position + written;
        const from = written;
        written += await call<number>((done) => fs.write(fd, data, from, data.length - from, target, done));
      }
    },
    sync: () => synced((done) => fs.fsync(fd, done)),
    datasync: () => synced((done) => fs.fdatasync(fd, done)),
    truncate(length) {
      changes++;
      return call((done) => fs.ftruncate(fd, length, done));
    },
    chmod: (mode) => call((done) => fs.fchmod(fd, mode, done)),
    chown: (uid, gid) => call((done) => fs.fchown(fd, uid, gid, done)),
    close: () => (closed ??= close()),
  };
}

/** Node names the file only where a call is given its path, and a full disk is noticed when it is written. */
function nameFile(error: NodeJS.ErrnoException, path: string): Error {
  if (error.syscall === undefined || error.path !== undefined) return error;
  error.path = path;
  error.message = `${error.message} '${path}'`;
  return error;
}

const closedError = () => Object.assign(new Error("EBADF: the file is closed"), { code: "EBADF" });

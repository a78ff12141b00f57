/**
 * An open file of this system, over its bare number. `FileHandle` of Node does the same and costs an eighth more for an
 * edit. What it does for safety is done here too: a file is closed once, and not while a call is under way, because the
 * system gives its number to the next that is opened.
 */
import * as fs from "node:fs";

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

type Done<T> = (error: NodeJS.ErrnoException | null, value?: T) => void;

export function openRaw(path: string, flags: number, mode?: number): Promise<OpenHandle> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, mode, (error, fd) => (error ? reject(error) : resolve(new RawHandle(fd))));
  });
}

class RawHandle implements OpenHandle {
  readonly fd: number;
  #running = 0;
  #closed: Promise<void> | undefined;
  #whenQuiet: (() => void) | undefined;

  constructor(fd: number) {
    this.fd = fd;
  }

  stat(): Promise<fs.Stats> {
    return this.#call((done) => fs.fstat(this.fd, done));
  }

  read(buffer: Uint8Array, position: number): Promise<number> {
    return this.#call((done) => fs.read(this.fd, buffer, 0, buffer.length, position, done));
  }

  async write(data: Uint8Array, position?: number): Promise<void> {
    // A call may write less than it was given, and an interrupted one usually does.
    for (let written = 0; written < data.length;) {
      const at = position === undefined ? null : position + written;
      const from = written;
      written += await this.#call<number>((done) => fs.write(this.fd, data, from, data.length - from, at, done));
    }
  }

  sync(): Promise<void> {
    return this.#call((done) => fs.fsync(this.fd, done));
  }

  datasync(): Promise<void> {
    return this.#call((done) => fs.fdatasync(this.fd, done));
  }

  truncate(length: number): Promise<void> {
    return this.#call((done) => fs.ftruncate(this.fd, length, done));
  }

  chmod(mode: number): Promise<void> {
    return this.#call((done) => fs.fchmod(this.fd, mode, done));
  }

  chown(uid: number, gid: number): Promise<void> {
    return this.#call((done) => fs.fchown(this.fd, uid, gid, done));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#whenQuiet = resolve));
    await new Promise<void>((resolve, reject) => fs.close(this.fd, (error) => (error ? reject(error) : resolve())));
  }

  #call<T>(start: (done: Done<T>) => void): Promise<T> {
    if (this.#closed) return Promise.reject(Object.assign(new Error("EBADF: the file is closed"), { code: "EBADF" }));
    this.#running++;
    return new Promise<T>((resolve, reject) => {
      start((error, value) => {
        if (--this.#running === 0) this.#whenQuiet?.();
        if (error) reject(error);
        else resolve(value as T);
      });
    });
  }
}

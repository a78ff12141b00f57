/** Writes lines behind a log in the background: in order, into a file that does not grow without end. */
import { constants } from "node:fs";
import { dirname } from "node:path";
import type { FileSystem, OpenHandle } from "@tau/tools/platform";
import { ifThere, makeDirectory } from "../durable-file.ts";

export interface LogWriterOptions {
  path: string;
  fileSystem: FileSystem;
  /** From this size on the file is moved to `path.1`. */
  maxBytes: number;
  /** The line that says how many were dropped; undefined when it cannot be said. */
  droppedLine: (lines: number) => string | undefined;
}

/** How much may wait for a slow disk. */
const maxWaitingBytes = 1024 * 1024;

const { O_APPEND, O_CREAT, O_WRONLY } = constants;

interface OpenLog {
  handle: OpenHandle;
  ino: number;
}

export class LogWriter {
  readonly #options: LogWriterOptions;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Lines nobody will read, and that nobody was told of yet. */
  #dropped = 0;
  #open: OpenLog | undefined;
  /** The last line in the file may be half a line. */
  #isTorn = false;
  #work: Promise<void> | undefined;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  add(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > maxWaitingBytes) return this.drop();
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#work ??= this.#writeAll();
  }

  drop(): void {
    this.#dropped++;
    this.#work ??= this.#writeAll();
  }

  /** Resolves when nothing waits any more. Never rejects. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async close(): Promise<void> {
    await this.#work;
    // What a disk has refused at the very end it may still tell of.
    if (this.#dropped > 0) await (this.#work ??= this.#writeAll());
    await this.#forget();
  }

  async #writeAll(): Promise<void> {
    // What is logged in the same moment is written together.
    await Promise.resolve();
    while (this.#waiting.length > 0 || this.#dropped > 0) {
      const lines = this.#waiting;
      const dropped = this.#dropped;
      this.#waiting = [];
      this.#dropped = 0;
      const isWritten = await this.#write(lines, dropped);
      for (const line of lines) this.#waitingBytes -= line.length;
      if (isWritten) continue;
      this.#dropped += lines.length + dropped;
      // A disk that refuses is asked again when there is something new.
      if (this.#waiting.length === 0) break;
    }
    this.#work = undefined;
  }

  async #write(lines: readonly Buffer[], dropped: number): Promise<boolean> {
    try {
      // What was dropped came after all that waited: there was no room behind it.
      const notice = dropped > 0 ? this.#options.droppedLine(dropped) : undefined;
      const whole = notice === undefined ? lines : [...lines, Buffer.from(notice)];
      if (whole.length === 0) return true;
      const bytes = Buffer.concat(this.#isTorn ? [lineFeed, ...whole] : whole);
      const handle = await this.#ready(bytes.length);
      this.#isTorn = true;
      await handle.write(bytes);
      this.#isTorn = false;
      return true;
    } catch (error) {
      // A log that cannot be written must not harm what it tells of.
      void error;
      await this.#forget();
      return false;
    }
  }

  /** The file, open, with room for so many bytes more. */
  async #ready(more: number): Promise<OpenHandle> {
    const { fileSystem, path, maxBytes } = this.#options;
    const stats = await ifThere(fileSystem.stat(path));
    // Another process may have moved it, or a person deleted it.
    if (this.#open && stats?.ino !== this.#open.ino) await this.#forget();
    this.#open ??= await this.#openLog();
    if (stats && stats.size > 0 && stats.size + more > maxBytes) {
      await fileSystem.rename(path, `${path}.1`);
      await this.#forget();
      this.#open = await this.#openLog();
    }
    return this.#open.handle;
  }

  async #openLog(): Promise<OpenLog> {
    const { fileSystem, path } = this.#options;
    await makeDirectory(fileSystem, dirname(path));
    const handle = await fileSystem.open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600);
    try {
      const { ino, mode } = await handle.stat();
      if ((mode & 0o077) !== 0) await handle.chmod(0o600);
      return { handle, ino };
    } catch (error) {
      await closed(handle);
      throw error;
    }
  }

  async #forget(): Promise<void> {
    const log = this.#open;
    this.#open = undefined;
    if (log) await closed(log.handle);
  }
}

/** A close that fails has closed all the same. */
async function closed(handle: OpenHandle): Promise<void> {
  await handle.close().catch(() => undefined);
}

const lineFeed = Buffer.from("\n");

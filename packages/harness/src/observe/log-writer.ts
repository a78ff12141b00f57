/** Writes the lines of a log in the background, in order, into a file of limited size. */
import { constants } from "node:fs";
import { dirname } from "node:path";
import { type FileSystem, type OpenHandle, unlessMissing } from "@tau/tools/platform";
import { makeDirectory } from "@tau/tools/durable";

interface LogWriterOptions {
  path: string;
  fileSystem: FileSystem;
  /** A larger file is renamed to `path.1`. */
  maxBytes: number;
  /** The line about dropped lines. Undefined if it cannot be created. */
  formatDropped: (lines: number) => string | undefined;
}

/** The size of the buffer for a slow disk. */
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
  /** The number of dropped lines that is not yet in the log. */
  #dropped = 0;
  #open: OpenLog | undefined;
  /** The last line in the file may be incomplete. */
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
    // One more attempt to log the number of lines that the disk refused at the end.
    if (this.#dropped > 0) await (this.#work ??= this.#writeAll());
    await this.#closeFile();
  }

  async #writeAll(): Promise<void> {
    // Lines of the same tick are written together.
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
      // After a failure, the next attempt is with the next line.
      if (this.#waiting.length === 0) break;
    }
    this.#work = undefined;
  }

  async #write(lines: readonly Buffer[], dropped: number): Promise<boolean> {
    try {
      // Dropped lines came after all waiting lines, since the buffer was full.
      const notice = dropped > 0 ? this.#options.formatDropped(dropped) : undefined;
      const whole = notice === undefined ? lines : [...lines, Buffer.from(notice)];
      if (whole.length === 0) return true;
      const bytes = Buffer.concat(this.#isTorn ? [lineFeed, ...whole] : whole);
      const handle = await this.#openFile(bytes.length);
      this.#isTorn = true;
      await handle.write(bytes);
      this.#isTorn = false;
      return true;
    } catch (error) {
      // A log that cannot be written must not disturb the program.
      void error;
      await this.#closeFile();
      return false;
    }
  }

  /** Renames the file first if it would become too large. */
  async #openFile(byteCount: number): Promise<OpenHandle> {
    const { fileSystem, path, maxBytes } = this.#options;
    const stats = await unlessMissing(fileSystem.stat(path));
    // Another process may have renamed the file, or the user may have deleted it.
    if (this.#open && stats?.ino !== this.#open.ino) await this.#closeFile();
    this.#open ??= await this.#openLog();
    if (stats && stats.size > 0 && stats.size + byteCount > maxBytes) {
      await fileSystem.rename(path, `${path}.1`);
      await this.#closeFile();
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
      await closeHandle(handle);
      throw error;
    }
  }

  async #closeFile(): Promise<void> {
    const log = this.#open;
    this.#open = undefined;
    if (log) await closeHandle(log.handle);
  }
}

/** The handle is closed also if this fails. */
async function closeHandle(handle: OpenHandle): Promise<void> {
  await handle.close().catch(() => undefined);
}

const lineFeed = Buffer.from("\n");

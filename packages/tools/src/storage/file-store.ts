/** A log in a file. The file only grows; bytes that were not acknowledged may be cut off again. */
import { constants } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { PendingWork } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import {
  formatWriteFailure,
  makeDirectory,
  mustBeRegular,
  orUndefined,
  readWhole,
  syncDirectory,
  writeWhole,
} from "../durable/index.ts";
import {
  acquireLease,
  type FileSystem,
  type Lease,
  lookAt,
  nodeFileSystem,
  type OpenHandle,
  systemCode,
} from "../platform/index.ts";
import { closedError, closedOutcome } from "./closed.ts";
import { toBusy } from "./side-files.ts";
import { type AcquireOutcome, type AppendOutcome, type LogBusy, type LogStore, mustBeBlobName } from "./storage.ts";

export interface FileStoreOptions {
  path: string;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

export const createFileStore = (options: FileStoreOptions): LogStore => new FileStore(options);

/** The file of a log. Undefined for a log that is not in a file. */
export const getLogPath = (store: LogStore): string | undefined =>
  store instanceof FileStore ? store.name : undefined;

/** The directory of the blobs of the log in a file. Named like everything that belongs to the log, so that it goes when the log does. */
export const getBlobDirectory = (path: string): string => `${path}.results`;

/** The file, open for writing. */
interface OpenLog {
  handle: OpenHandle;
  identity: string;
}

class FileStore implements LogStore {
  readonly name: string;
  readonly #fs: FileSystem;
  readonly #clock: Clock;
  readonly #ids: Ids;
  #reading: Promise<OpenHandle> | undefined;
  #writing: OpenLog | undefined;
  #lease: Lease | undefined;
  /** Why nothing can be written any more. */
  #failure: AppendOutcome | undefined;
  /** Calls that use an open file. `close` waits for them, so that no file is closed while it is in use. */
  readonly #pending = new PendingWork();
  #closing: Promise<void> | undefined;

  constructor({ path, fileSystem = nodeFileSystem, clock = systemClock, ids = systemIds }: FileStoreOptions) {
    this.name = path;
    this.#fs = fileSystem;
    this.#clock = clock;
    this.#ids = ids;
  }

  async stat() {
    const stats = await lookAt(this.#fs, this.name);
    if (stats) mustBeRegular(this.name, stats);
    return stats && { size: stats.size, identity: formatIdentity(stats) };
  }

  async read(position: number, length: number): Promise<Buffer> {
    if (this.#closing) throw closedError(this.name);
    // The file may not exist yet.
    if (length === 0) return Buffer.alloc(0);
    return await this.#pending.add(this.#read(position, length));
  }

  async #read(position: number, length: number): Promise<Buffer> {
    // Through an open handle, a file that was deleted or replaced can still be read.
    const handle = this.#writing?.handle ?? (await this.#openForReading());
    const buffer = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const count = await handle.read(buffer.subarray(done), position + done);
      if (count === 0) break;
      done += count;
    }
    return buffer.subarray(0, done);
  }

  async #openForReading(): Promise<OpenHandle> {
    const opening = (this.#reading ??= this.#fs.open(this.name, constants.O_RDONLY));
    try {
      return await opening;
    } catch (error) {
      // The next attempt may succeed.
      if (this.#reading === opening) this.#reading = undefined;
      throw error;
    }
  }

  async append(bytes: Uint8Array, options: { position: number; sync: boolean }): Promise<AppendOutcome> {
    if (this.#closing) return closedOutcome;
    return this.#failure ?? (await this.#pending.add(this.#append(bytes, options)));
  }

  async #append(bytes: Uint8Array, { position, sync }: { position: number; sync: boolean }): Promise<AppendOutcome> {
    try {
      const writing = this.#writing ?? (await this.#openForWriting(position));
      if ("kind" in writing) return this.#fail(writing);
      const before = await this.#findChange(writing, position);
      if (before) return this.#fail(before);
      await writing.handle.write(bytes);
      if (sync && !(await this.sync())) return this.#fail(syncFailure);
      const end = position + bytes.length;
      const after = await this.#findChange(writing, end);
      return after ? this.#fail(after) : { kind: "appended", position: end };
    } catch (error) {
      return await this.#undoWrite(bytes, position, error);
    }
  }

  async sync(): Promise<boolean> {
    if (!this.#writing || this.#failure?.kind === "failed") return !this.#failure;
    try {
      await this.#writing.handle.datasync();
      return true;
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      // After a failed sync the kernel may have dropped what it could not write, and a second sync would succeed.
      this.#fail({ ...syncFailure, reason: `${syncFailure.reason} (${code})` });
      return false;
    }
  }

  async cut(position: number): Promise<string> {
    const { size } = await this.#fs.stat(this.name);
    const copy = (await this.#isZeros(position, size))
      ? "not copied (nothing but zeros)"
      : await this.#copyAside(position, size);
    const writing = this.#writing ?? (await this.#openForWriting(size));
    if ("kind" in writing || (await this.#findChange(writing, size))) {
      throw new HarnessError("overtaken", "another program changed it while it was opened");
    }
    await writing.handle.truncate(position);
    await writing.handle.datasync();
    return copy;
  }

  /** A torn tail may be larger than the memory. */
  async *#readChunks(start: number, end: number): AsyncGenerator<Buffer> {
    for (let position = start; position < end;) {
      const chunk = await this.#read(position, Math.min(copyChunkBytes, end - position));
      if (chunk.length === 0) return;
      yield chunk;
      position += chunk.length;
    }
  }

  async #isZeros(start: number, end: number): Promise<boolean> {
    for await (const chunk of this.#readChunks(start, end)) {
      if (!chunk.equals(zeros.subarray(0, chunk.length))) return false;
    }
    return true;
  }

  async #copyAside(start: number, end: number): Promise<string> {
    const path = `${this.name}.torn-${this.#clock.now()}-${this.#ids().slice(0, 8)}`;
    const copy = await this.#fs.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      for await (const chunk of this.#readChunks(start, end)) await copy.write(chunk);
      await copy.sync();
      await syncDirectory(this.#fs, dirname(path));
    } catch (error) {
      await orUndefined(this.#fs.unlink(path));
      throw error;
    } finally {
      await orUndefined(copy.close());
    }
    return path;
  }

  /** Writes a draft, which takes the place of the file when it is on the disk. Until then the file is not changed. */
  async replace(bytes: Uint8Array): Promise<AppendOutcome> {
    if (this.#closing) return closedOutcome;
    if (this.#failure) return this.#failure;
    // Reads use handles of the old file, which are closed below.
    await this.#pending.whenSettled();
    return await this.#pending.add(this.#replace(bytes));
  }

  async #replace(bytes: Uint8Array): Promise<AppendOutcome> {
    try {
      const lease = await this.#acquireToWrite();
      if (lease.kind === "busy") return this.#fail(overtakenBy(lease));
      const size = (await this.#writing?.handle.stat())?.size;
      const change = this.#writing && (await this.#findChange(this.#writing, size!));
      if (change) return this.#fail(change);
      await writeWhole(this.#fs, { path: this.name, bytes, ids: this.#ids });
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      // If the draft took its place all the same, the next append notices.
      return { kind: "failed", reason: formatWriteFailure(code), canRetry: true };
    }
    await this.#closeHandles();
    return { kind: "appended", position: bytes.length };
  }

  async acquire(): Promise<AcquireOutcome> {
    if (this.#lease) return { kind: "held", generation: this.#lease.generation };
    // A session that is never written leaves no lock file behind.
    if (!(await this.stat())) return { kind: "held", generation: 0 };
    return await this.#acquireLease();
  }

  async #acquireLease(): Promise<AcquireOutcome> {
    const outcome = await acquireLease(lockPath(this.name), { fileSystem: this.#fs, ids: this.#ids });
    if (outcome.kind === "busy") return toBusy(outcome);
    this.#lease = outcome.lease;
    return { kind: "held", generation: outcome.lease.generation };
  }

  /** `acquire` has no lease if there was no file yet; another process may have begun it since. */
  async #acquireToWrite(): Promise<AcquireOutcome> {
    if (this.#lease) return { kind: "held", generation: this.#lease.generation };
    await makeDirectory(this.#fs, dirname(this.name));
    return await this.#acquireLease();
  }

  async readIndex(): Promise<Buffer | undefined> {
    return await orUndefined(readWhole(this.#fs, indexPath(this.name), maxIndexBytes));
  }

  async writeIndex(bytes: Uint8Array): Promise<void> {
    await orUndefined(writeWhole(this.#fs, { path: indexPath(this.name), bytes, ids: this.#ids, syncs: false }));
  }

  async writeBlob(name: string, bytes: Uint8Array): Promise<void> {
    await writeWhole(this.#fs, { path: this.#getBlobPath(name), bytes: Buffer.from(bytes), ids: this.#ids });
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    return await readWhole(this.#fs, this.#getBlobPath(name));
  }

  #getBlobPath(name: string): string {
    mustBeBlobName(name);
    return join(getBlobDirectory(this.name), name);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#pending.whenSettled();
    this.#failure ??= closedOutcome;
    await this.#closeHandles();
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease) await this.#release(lease);
  }

  /** Everything is synced by now, so a handle that fails to close must not keep the lease. */
  async #closeHandles(): Promise<void> {
    const handles = [this.#reading, this.#writing?.handle];
    this.#reading = undefined;
    this.#writing = undefined;
    for (const opening of handles) {
      const handle = opening && (await orUndefined(Promise.resolve(opening)));
      if (handle) await orUndefined(handle.close());
    }
  }

  /** Without hard links a lease is marked as free. A full disk has no space for that, but the lock file can be removed. */
  async #release(lease: Lease): Promise<void> {
    try {
      await lease.release();
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      if (await orUndefined(lease.isHeld())) await orUndefined(this.#fs.unlink(lockPath(this.name)));
    }
  }

  async #openForWriting(position: number): Promise<OpenLog | AppendOutcome> {
    if (!this.#lease) {
      const lease = position === 0 ? await this.#acquireToWrite() : await this.#acquireLease();
      if (lease.kind === "busy") return overtakenBy(lease);
    }
    const handle = await this.#fs.open(this.name, position === 0 ? createFlags : appendFlags, 0o600);
    try {
      const identity = formatIdentity(await handle.stat());
      // A new file is lost in a power loss until its directory is synced.
      if (position === 0) await syncDirectory(this.#fs, dirname(this.name));
      const reading = await this.#reading;
      const readIdentity = reading && formatIdentity(await reading.stat());
      if (readIdentity === undefined || readIdentity === identity) return (this.#writing = { handle, identity });
    } catch (error) {
      await orUndefined(handle.close());
      throw error;
    }
    await orUndefined(handle.close());
    return replaced;
  }

  /** Undefined if the file is still the one we opened and ends at `position`. */
  async #findChange({ identity }: OpenLog, position: number): Promise<AppendOutcome | undefined> {
    // Every append checks twice, so the check is synchronous where the file system allows it.
    const stats = await lookAt(this.#fs, this.name);
    if (!stats) return removed;
    if (formatIdentity(stats) !== identity) return replaced;
    if (stats.size === position) return undefined;
    if (position === 0) return { kind: "overtaken", reason: "another process has begun it" };
    const reason = `it has ${stats.size} bytes instead of ${position}: another program wrote to it`;
    return { kind: "overtaken", reason };
  }

  /** After a failed write, cuts off what was written of it. */
  async #undoWrite(bytes: Uint8Array, position: number, error: unknown): Promise<AppendOutcome> {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const reason = formatWriteFailure(code);
    if (!this.#writing && code === "ENOENT" && position > 0) return this.#fail(removed);
    if (!this.#writing) return { kind: "failed", reason, canRetry: true };
    const { handle } = this.#writing;
    try {
      const { size } = await handle.stat();
      if (size !== position) {
        // Only our own bytes may be cut off, and the file must not become longer.
        const rest = await this.#read(position, Math.min(bytes.length + 1, Math.max(0, size - position)));
        const isOurs = size > position && rest.equals(bytes.subarray(0, rest.length));
        if (!isOurs) return this.#fail({ kind: "overtaken", reason: "another program wrote to it" });
        await handle.truncate(position);
      }
      return { kind: "failed", reason, canRetry: true };
    } catch (secondError) {
      if (systemCode(secondError) === undefined) throw secondError;
      const twice = `${reason}, and the partial write cannot be undone`;
      return this.#fail({ kind: "failed", reason: twice, canRetry: false });
    }
  }

  /** Refuses all further appends with the first failure. */
  #fail(outcome: AppendOutcome): AppendOutcome {
    return (this.#failure ??= outcome);
  }
}

/** How much of a torn tail is copied at a time. */
const copyChunkBytes = 1024 * 1024;
const zeros = Buffer.alloc(copyChunkBytes);

const overtakenBy = ({ holder }: LogBusy): AppendOutcome => ({ kind: "overtaken", reason: `${holder.name} writes it` });

const removed: AppendOutcome = { kind: "overtaken", reason: "the file was removed" };
const replaced: AppendOutcome = { kind: "overtaken", reason: "another file was put in its place" };
const syncFailure = { kind: "failed", reason: "the disk refused to sync", canRetry: false } as const;

const appendFlags = constants.O_RDWR | constants.O_APPEND;
/** Symbolic links are not followed. A file that is not empty is found by its size. */
const createFlags = appendFlags | constants.O_CREAT | constants.O_NOFOLLOW;

/** None of our indexes is larger. */
const maxIndexBytes = 256 * 1024 * 1024;

const lockPath = (path: string) => `${path}.lock`;
const indexPath = (path: string) => `${path}.idx`;

const formatIdentity = ({ dev, ino }: { dev: number; ino: number }) => `${dev}:${ino}`;

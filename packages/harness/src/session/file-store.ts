/** A log in a file. Append only; what is not acknowledged may be cut off again, what is never changes. */
import { constants } from "node:fs";
import { dirname } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import {
  acquireLease,
  type FileSystem,
  type Lease,
  nodeFileSystem,
  type OpenHandle,
  systemCode,
  lookAt,
} from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { makeDirectory, orUndefined, syncDirectory } from "../durable-file.ts";
import { type AppendOutcome, closedError, type LogStore } from "./store.ts";

export interface FileStoreOptions {
  path: string;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

export function createFileStore({ path, ...options }: FileStoreOptions): LogStore {
  const { fileSystem: fs = nodeFileSystem, clock = systemClock, ids = systemIds } = options;
  return new FileStore(path, fs, clock, ids);
}

/** The log, open for writing. */
interface Writing {
  handle: OpenHandle;
  identity: string;
}

class FileStore implements LogStore {
  readonly name: string;
  readonly #fs: FileSystem;
  readonly #clock: Clock;
  readonly #ids: Ids;
  #reading: Promise<OpenHandle> | undefined;
  #writing: Writing | undefined;
  #lease: Lease | undefined;
  /** Why nothing can be written any more. */
  #dead: AppendOutcome | undefined;
  /** What is under way with an open file. */
  readonly #work = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(path: string, fs: FileSystem, clock: Clock, ids: Ids) {
    this.name = path;
    this.#fs = fs;
    this.#clock = clock;
    this.#ids = ids;
  }

  async stat() {
    const stats = await lookAt(this.#fs, this.name);
    return stats && { size: stats.size, identity: formatIdentity(stats), modifiedMs: stats.mtimeMs };
  }

  async read(position: number, length: number): Promise<Buffer> {
    if (this.#closing) throw closedError(this.name);
    // Of a log that does not exist yet, nothing can be read all the same.
    if (length === 0) return Buffer.alloc(0);
    return await this.#holding(this.#read(position, length));
  }

  /** Closing waits for it: what it has opened would else stay open, or be closed under it. */
  async #holding<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    try {
      return await work;
    } finally {
      this.#work.delete(work);
    }
  }

  async #read(position: number, length: number): Promise<Buffer> {
    // A file that was deleted or replaced can still be read through what is open.
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
      // The next one may succeed.
      if (this.#reading === opening) this.#reading = undefined;
      throw error;
    }
  }

  async append(bytes: Uint8Array, options: { position: number; sync: boolean }): Promise<AppendOutcome> {
    if (this.#closing) return closed;
    return this.#dead ?? (await this.#holding(this.#append(bytes, options)));
  }

  async #append(bytes: Uint8Array, { position, sync }: { position: number; sync: boolean }): Promise<AppendOutcome> {
    try {
      const writing = this.#writing ?? (await this.#openForWriting(position));
      if ("kind" in writing) return this.#die(writing);
      this.#writing = writing;
      const before = await this.#misplaced(writing, position);
      if (before) return this.#die(before);
      await writing.handle.write(bytes);
      const isSynced = !sync || (await this.sync());
      if (!isSynced) return this.#die(notKept);
      const end = position + bytes.length;
      const after = await this.#misplaced(writing, end);
      return after ? this.#die(after) : { kind: "appended", position: end };
    } catch (error) {
      return await this.#takeBack(bytes, position, error);
    }
  }

  async sync(): Promise<boolean> {
    if (!this.#writing || this.#dead?.kind === "failed") return !this.#dead;
    try {
      await this.#writing.handle.datasync();
      return true;
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      // After a failed sync the kernel may have thrown away what it could not write: a second one would succeed, and lie.
      this.#die({
        kind: "failed",
        reason: `the disk refused to keep what was written (${systemCode(error)})`,
        canRetry: false,
      });
      return false;
    }
  }

  async cut(position: number): Promise<string> {
    const { size } = await this.#fs.stat(this.name);
    const aside = (await this.#isZeros(position, size))
      ? "nowhere, being nothing but zeros"
      : await this.#copyAside(position, size);
    const writing = this.#writing ?? (await this.#openForWriting(size));
    if ("kind" in writing) throw changedWhileOpening(this.name);
    this.#writing = writing;
    if (await this.#misplaced(writing, size)) throw changedWhileOpening(this.name);
    await writing.handle.truncate(position);
    await writing.handle.datasync();
    return aside;
  }

  /** In pieces: a torn end may be larger than memory. */
  async *#pieces(from: number, to: number): AsyncGenerator<Buffer> {
    for (let at = from; at < to;) {
      const piece = await this.#read(at, Math.min(pieceBytes, to - at));
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  async #isZeros(from: number, to: number): Promise<boolean> {
    for await (const piece of this.#pieces(from, to)) if (!piece.equals(zeros.subarray(0, piece.length))) return false;
    return true;
  }

  async #copyAside(from: number, to: number): Promise<string> {
    const path = `${this.name}.torn-${this.#clock.now()}-${this.#ids().slice(0, 8)}`;
    const copy = await this.#fs.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      for await (const piece of this.#pieces(from, to)) await copy.write(piece);
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

  async acquire() {
    // What does not exist is held by nobody, and leaves nothing behind if nothing is ever written.
    if (this.#lease || !(await this.stat())) return { kind: "held" } as const;
    return await this.#takeLease();
  }

  async #takeLease() {
    const outcome = await acquireLease(lockPath(this.name), { fileSystem: this.#fs, ids: this.#ids });
    if (outcome.kind === "busy") return outcome;
    this.#lease = outcome.lease;
    return { kind: "held" } as const;
  }

  async readIndex(): Promise<Buffer | undefined> {
    return await orUndefined(this.#readWhole(indexPath(this.name)));
  }

  async #readWhole(path: string): Promise<Buffer | undefined> {
    const handle = await this.#fs.open(path, constants.O_RDONLY);
    try {
      const { size } = await handle.stat();
      if (size > maxIndexBytes) return undefined;
      const buffer = Buffer.allocUnsafe(size);
      return (await handle.read(buffer, 0)) === size ? buffer : undefined;
    } finally {
      await handle.close();
    }
  }

  async writeIndex(bytes: Uint8Array): Promise<void> {
    const path = indexPath(this.name);
    const draft = `${path}.${this.#ids()}`;
    try {
      const handle = await this.#fs.open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
      try {
        await handle.write(bytes);
      } finally {
        await handle.close();
      }
      await this.#fs.rename(draft, path);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      await orUndefined(this.#fs.unlink(draft));
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#work);
    const handles = [this.#reading && (await orUndefined(this.#reading)), this.#writing?.handle];
    this.#reading = undefined;
    this.#writing = undefined;
    this.#dead ??= closed;
    // What was to be kept is kept by now; a handle that will not close must not keep the lease.
    for (const handle of handles) if (handle) await orUndefined(handle.close());
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease) await this.#giveBack(lease);
  }

  /** A disk that has no room for saying that the lease is free has room for removing it. */
  async #giveBack(lease: Lease): Promise<void> {
    try {
      await lease.release();
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      if (await orUndefined(lease.isHeld())) await orUndefined(this.#fs.unlink(lockPath(this.name)));
    }
  }

  async #openForWriting(position: number): Promise<Writing | AppendOutcome> {
    if (position === 0 && !this.#lease) {
      await makeDirectory(this.#fs, dirname(this.name));
      const taken = await this.#takeLease();
      if (taken.kind === "busy") return { kind: "overtaken", reason: `process ${taken.holder.pid} writes it` };
    }
    const handle = await this.#fs.open(this.name, position === 0 ? createFlags : appendFlags, 0o600);
    try {
      const identity = formatIdentity(await handle.stat());
      // Without its name on the disk, a file is lost with the power.
      if (position === 0) await syncDirectory(this.#fs, dirname(this.name));
      const reading = await this.#reading;
      const read = reading && formatIdentity(await reading.stat());
      if (read === undefined || read === identity) return { handle, identity };
    } catch (error) {
      await orUndefined(handle.close());
      throw error;
    }
    await orUndefined(handle.close());
    return { kind: "overtaken", reason: "another file was put in its place" };
  }

  /** Why the log does not end at `position` any more, or is not ours any more; undefined when all is well. */
  async #misplaced({ identity }: Writing, position: number): Promise<AppendOutcome | undefined> {
    // Twice with every append, so without the detour over a thread where that can be.
    const named = await lookAt(this.#fs, this.name);
    if (!named) return { kind: "overtaken", reason: "the file was removed" };
    if (formatIdentity(named) !== identity) return { kind: "overtaken", reason: "another file was put in its place" };
    if (named.size === position) return undefined;
    if (position === 0) return { kind: "overtaken", reason: "somebody else has begun it" };
    return {
      kind: "overtaken",
      reason: `it has ${named.size} bytes where there should be ${position}: somebody else wrote to it`,
    };
  }

  /** After a failed write: the log must end where it ended before. */
  async #takeBack(bytes: Uint8Array, position: number, error: unknown): Promise<AppendOutcome> {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const reason = `${reasons[code] ?? "the disk refused"} (${code})`;
    if (!this.#writing && code === "ENOENT" && position > 0)
      return this.#die({ kind: "overtaken", reason: "the file was removed" });
    if (!this.#writing) return { kind: "failed", reason, canRetry: true };
    const { handle } = this.#writing;
    try {
      const { size } = await handle.stat();
      if (size !== position) {
        // Only what is ours may be cut off, and nothing may be made longer.
        const rest = await this.#read(position, Math.min(bytes.length + 1, Math.max(0, size - position)));
        const isOurs = size > position && rest.equals(bytes.subarray(0, rest.length));
        if (!isOurs) return this.#die({ kind: "overtaken", reason: "somebody else wrote to it" });
        await handle.truncate(position);
      }
      return { kind: "failed", reason, canRetry: true };
    } catch (second) {
      if (systemCode(second) === undefined) throw second;
      return this.#die({
        kind: "failed",
        reason: `${reason}, and what was half written cannot be taken back`,
        canRetry: false,
      });
    }
  }

  #die(outcome: AppendOutcome): AppendOutcome {
    this.#dead ??= outcome;
    return this.#dead;
  }
}

/** How much of a torn end is copied at a time. */
const pieceBytes = 1024 * 1024;
const zeros = Buffer.alloc(pieceBytes);

const closed: AppendOutcome = { kind: "failed", reason: "the session is closed", canRetry: false };

const notKept: AppendOutcome = {
  kind: "failed",
  reason: "the disk refused to keep what was written",
  canRetry: false,
};

const changedWhileOpening = (name: string) =>
  new HarnessError(
    "overtaken",
    `The session ${name} was changed by something else while it was opened. Open it again.`,
  );

const reasons: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EFBIG: "the file may not grow any more",
  EACCES: "writing is not allowed",
  EPERM: "writing is not allowed",
  EROFS: "the disk is read-only",
  EIO: "the disk failed",
  ENOENT: "the directory is gone",
};

const appendFlags = constants.O_RDWR | constants.O_APPEND;
/** A link that somebody put there is not followed; a file that should be empty and is not shows by its size. */
const createFlags = appendFlags | constants.O_CREAT | constants.O_NOFOLLOW;

/** No index of ours is larger: what is belongs to somebody else. */
const maxIndexBytes = 256 * 1024 * 1024;

const lockPath = (path: string) => `${path}.lock`;
const indexPath = (path: string) => `${path}.idx`;

const formatIdentity = ({ dev, ino }: { dev: number; ino: number }) => `${dev}:${ino}`;

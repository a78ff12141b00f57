/** A log in a file. Append only; what is not acknowledged may be cut off again, what is never changes. */
import { constants, type Stats } from "node:fs";
import { dirname } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import {
  acquireLease,
  type FileSystem,
  type Lease,
  nodeFileSystem,
  type OpenHandle,
  systemCode,
} from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { ifThere, makeDirectory, orUndefined, syncDirectory } from "../on-disk.ts";
import type { AppendOutcome, LogStore } from "./store.ts";

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
  #reading: OpenHandle | undefined;
  #writing: Writing | undefined;
  #lease: Lease | undefined;
  /** Why nothing can be written any more. */
  #dead: AppendOutcome | undefined;

  constructor(path: string, fs: FileSystem, clock: Clock, ids: Ids) {
    this.name = path;
    this.#fs = fs;
    this.#clock = clock;
    this.#ids = ids;
  }

  async stat() {
    const stats = await ifThere(this.#fs.stat(this.name));
    return stats && { size: stats.size, identity: identityOf(stats), modifiedMs: stats.mtimeMs };
  }

  async read(position: number, length: number): Promise<Buffer> {
    // Of a log that does not exist yet, nothing can be read all the same.
    if (length === 0) return Buffer.alloc(0);
    // A file that was deleted or replaced can still be read through what is open.
    const handle = this.#writing?.handle ?? (this.#reading ??= await this.#fs.open(this.name, constants.O_RDONLY));
    const buffer = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const count = await handle.read(buffer.subarray(done), position + done);
      if (count === 0) break;
      done += count;
    }
    return buffer.subarray(0, done);
  }

  async append(bytes: Uint8Array, { position, sync }: { position: number; sync: boolean }): Promise<AppendOutcome> {
    if (this.#dead) return this.#dead;
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
    const aside = await this.#copyAside(await this.read(position, size - position));
    const writing = this.#writing ?? (await this.#openForWriting(size));
    if ("kind" in writing) throw changedWhileOpening(this.name);
    this.#writing = writing;
    if (await this.#misplaced(writing, size)) throw changedWhileOpening(this.name);
    await writing.handle.truncate(position);
    await writing.handle.datasync();
    return aside;
  }

  async #copyAside(bytes: Buffer): Promise<string> {
    const path = `${this.name}.torn-${this.#clock.now()}-${this.#ids().slice(0, 8)}`;
    const copy = await this.#fs.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await copy.write(bytes);
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
    const outcome = await acquireLease(`${this.name}.lock`, { fileSystem: this.#fs, ids: this.#ids });
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
      if (size > mostIndexBytes) return undefined;
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

  async close(): Promise<void> {
    const handles = [this.#reading, this.#writing?.handle];
    this.#reading = undefined;
    this.#writing = undefined;
    this.#dead ??= { kind: "failed", reason: "the session is closed", canRetry: false };
    // What was to be kept is kept by now; a handle that will not close must not keep the lease.
    for (const handle of handles) if (handle) await orUndefined(handle.close());
    const lease = this.#lease;
    this.#lease = undefined;
    await lease?.release();
  }

  async #openForWriting(position: number): Promise<Writing | AppendOutcome> {
    if (position === 0 && !this.#lease) {
      await makeDirectory(this.#fs, dirname(this.name));
      const taken = await this.#takeLease();
      if (taken.kind === "busy") return { kind: "overtaken", reason: `process ${taken.holder.pid} writes it` };
    }
    const handle = await this.#fs.open(this.name, position === 0 ? createFlags : appendFlags, 0o600);
    try {
      const identity = identityOf(await handle.stat());
      // Without its name on the disk, a file is lost with the power.
      if (position === 0) await syncDirectory(this.#fs, dirname(this.name));
      const read = this.#reading && identityOf(await this.#reading.stat());
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
    const named = await ifThere(this.#look());
    if (!named) return { kind: "overtaken", reason: "the file was removed" };
    if (identityOf(named) !== identity) return { kind: "overtaken", reason: "another file was put in its place" };
    if (named.size === position) return undefined;
    return {
      kind: "overtaken",
      reason: `it has ${named.size} bytes where there should be ${position}: somebody else wrote to it`,
    };
  }

  /** Twice with every append, so without the detour over a thread where that can be. */
  async #look(): Promise<Stats> {
    return this.#fs.statNow ? this.#fs.statNow(this.name) : await this.#fs.stat(this.name);
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
        const rest = await this.read(position, Math.min(bytes.length + 1, Math.max(0, size - position)));
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
const mostIndexBytes = 256 * 1024 * 1024;

const indexPath = (path: string) => `${path}.idx`;

const identityOf = ({ dev, ino }: { dev: number; ino: number }) => `${dev}:${ino}`;

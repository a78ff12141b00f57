/**
 * A file system in memory that simulates a power loss: it remembers what was synced, and `afterCrash` returns what is left
 * after a restart.
 */
import { constants, type Stats } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { FileSystem, OpenHandle } from "@tau/tools/platform";

export interface CrashFileSystem extends FileSystem {
  /** How many calls were made, including those of handles. */
  readonly calls: number;
  /** How many calls succeed before the power loss. Later calls fail and change nothing. Default: all. */
  powerAfter: number;
  /** Returns what is left after a crash. This file system is not changed. */
  afterCrash(luck?: CrashLuck): CrashFileSystem;
}

/** Says what survives without a sync. A disk may do any of this. */
export interface CrashLuck {
  /** The share of the appended bytes, from 0 to 1. Default 0. */
  bytes?: number;
  /** Whether a file keeps its length, with zeros for lost bytes. Default false. */
  zeros?: boolean;
  /** Whether the entries of directories survive. Default false. */
  names?: boolean;
}

interface Inode {
  ino: number;
  isDirectory: boolean;
  data: Buffer;
  synced: Buffer;
  names: Map<string, Inode>;
  syncedNames: Map<string, Inode>;
}

export const createCrashFileSystem = (): CrashFileSystem => mount(createInode(1, true), 1);

const createInode = (ino: number, isDirectory: boolean): Inode => ({
  ino,
  isDirectory,
  data: Buffer.alloc(0),
  synced: Buffer.alloc(0),
  names: new Map(),
  syncedNames: new Map(),
});

function mount(root: Inode, lastIno: number): CrashFileSystem {
  let calls = 0;
  let ino = lastIno;
  const counted: Counted =
    (call) =>
    async (...args) => {
      if (++calls > self.powerAfter) fail("EIO", "the power is gone");
      return call(...args);
    };
  const find = (path: string): Inode | undefined =>
    resolve(path)
      .split("/")
      .filter(Boolean)
      .reduce<Inode | undefined>((inode, name) => inode?.names.get(name), root);
  const get = (path: string) => find(path) ?? fail("ENOENT", path);
  const getParent = (path: string) => get(dirname(resolve(path)));
  const create = (path: string, isDirectory: boolean) => {
    const inode = createInode(++ino, isDirectory);
    getParent(path).names.set(basename(path), inode);
    return inode;
  };
  const createDirectories = (path: string): void => {
    if (find(path)) return;
    createDirectories(dirname(resolve(path)));
    create(path, true);
  };
  const self: CrashFileSystem = {
    get calls() {
      return calls;
    },
    powerAfter: Number.POSITIVE_INFINITY,
    afterCrash: (luck = {}) => mount(copySurvivors(root, luck, new Map()), ino),
    open: counted((path: string, flags: number) => {
      const existing = find(path);
      if (existing && flags & constants.O_EXCL) fail("EEXIST", path);
      if (!existing && !(flags & constants.O_CREAT)) fail("ENOENT", path);
      return openHandle(existing ?? create(path, false), { counted, isAppending: (flags & constants.O_APPEND) !== 0 });
    }),
    stat: counted((path: string) => getStats(get(path))),
    lstat: (path) => self.stat(path),
    realpath: counted((path: string) => get(path) && resolve(path)),
    async readlink(path) {
      return fail("EINVAL", path);
    },
    readdir: counted((path: string) => {
      const { names } = get(path);
      return [...names].map(([name, { isDirectory }]) => ({ name, isDirectory, isSymbolicLink: false }));
    }),
    mkdir: counted((path: string, { recursive = false } = {}) => {
      if (recursive) return createDirectories(path);
      if (find(path)) fail("EEXIST", path);
      create(path, true);
    }),
    rename: counted((from: string, to: string) => {
      getParent(to).names.set(basename(to), get(from));
      getParent(from).names.delete(basename(from));
    }),
    link: counted((from: string, to: string) => {
      if (find(to)) fail("EEXIST", to);
      getParent(to).names.set(basename(to), get(from));
    }),
    unlink: counted((path: string) => {
      get(path);
      getParent(path).names.delete(basename(path));
    }),
  };
  return self;
}

/** Makes a function count as a call, which fails without power. */
type Counted = <Args extends unknown[], Result>(call: (...args: Args) => Result) => (...args: Args) => Promise<Result>;

function openHandle(inode: Inode, { counted, isAppending }: { counted: Counted; isAppending: boolean }): OpenHandle {
  let position = 0;
  const sync = counted(() => {
    inode.synced = Buffer.from(inode.data);
    inode.syncedNames = new Map(inode.names);
  });
  return {
    fd: -1,
    stat: counted(() => getStats(inode)),
    read: counted((buffer: Uint8Array, start: number) =>
      inode.data.copy(buffer, 0, Math.min(start, inode.data.length)),
    ),
    write: counted((bytes: Uint8Array, offset?: number) => {
      const start = isAppending ? inode.data.length : (offset ?? position);
      const gap = Buffer.alloc(Math.max(0, start - inode.data.length));
      const rest = inode.data.subarray(start + bytes.length);
      inode.data = Buffer.concat([inode.data.subarray(0, start), gap, bytes, rest]);
      position = start + bytes.length;
    }),
    sync,
    datasync: sync,
    truncate: counted((length: number) => {
      const gap = Buffer.alloc(Math.max(0, length - inode.data.length));
      inode.data = Buffer.concat([inode.data.subarray(0, length), gap]);
    }),
    chmod: counted(() => undefined),
    chown: counted(() => undefined),
    close: counted(() => undefined),
  };
}

/** Copies the part of a tree that is on the disk. A file with two names stays one file. */
function copySurvivors(inode: Inode, luck: CrashLuck, seen: Map<Inode, Inode>): Inode {
  const known = seen.get(inode);
  if (known) return known;
  const copy = createInode(inode.ino, inode.isDirectory);
  seen.set(inode, copy);
  copy.data = copy.synced = getSurvivingBytes(inode, luck);
  for (const [name, child] of luck.names ? inode.names : inode.syncedNames) {
    const childCopy = copySurvivors(child, luck, seen);
    copy.names.set(name, childCopy);
    copy.syncedNames.set(name, childCopy);
  }
  return copy;
}

function getSurvivingBytes({ data, synced }: Inode, { bytes = 0, zeros = false }: CrashLuck): Buffer {
  const isAppended = data.length > synced.length && data.subarray(0, synced.length).equals(synced);
  if (!isAppended) return bytes === 1 ? data : synced;
  const kept = data.subarray(0, synced.length + Math.floor((data.length - synced.length) * bytes));
  return zeros ? Buffer.concat([kept, Buffer.alloc(data.length - kept.length)]) : Buffer.from(kept);
}

function getStats({ ino, isDirectory, data }: Inode): Stats {
  const facts = { dev: 1, ino, size: data.length, mtimeMs: 0, mode: 0o600, nlink: 1, uid: 0, gid: 0 };
  const kind = { isDirectory: () => isDirectory, isFile: () => !isDirectory, isSymbolicLink: () => false };
  return { ...facts, ...kind } as Stats;
}

function fail(code: string, message: string): never {
  throw Object.assign(new Error(`${code}: ${message}`), { code });
}

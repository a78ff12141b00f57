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
  /** What is left after a crash. This file system is not changed. */
  afterCrash(luck?: CrashLuck): CrashFileSystem;
}

/** What survives without a sync. A disk may do any of this. */
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
  const countCall = () => {
    if (++calls > self.powerAfter) fail("EIO", "the power is gone");
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
    async open(path, flags) {
      countCall();
      const existing = find(path);
      if (existing && flags & constants.O_EXCL) fail("EEXIST", path);
      if (!existing && !(flags & constants.O_CREAT)) fail("ENOENT", path);
      return openHandle(existing ?? create(path, false), {
        countCall,
        isAppending: (flags & constants.O_APPEND) !== 0,
      });
    },
    async stat(path) {
      countCall();
      return getStats(get(path));
    },
    lstat: (path) => self.stat(path),
    async realpath(path) {
      countCall();
      get(path);
      return resolve(path);
    },
    async readlink(path) {
      return fail("EINVAL", path);
    },
    async readdir(path) {
      countCall();
      const { names } = get(path);
      return [...names].map(([name, { isDirectory }]) => ({ name, isDirectory, isSymbolicLink: false }));
    },
    async mkdir(path, { recursive = false } = {}) {
      countCall();
      if (recursive) return createDirectories(path);
      if (find(path)) fail("EEXIST", path);
      create(path, true);
    },
    async rename(from, to) {
      countCall();
      getParent(to).names.set(basename(to), get(from));
      getParent(from).names.delete(basename(from));
    },
    async link(from, to) {
      countCall();
      if (find(to)) fail("EEXIST", to);
      getParent(to).names.set(basename(to), get(from));
    },
    async unlink(path) {
      countCall();
      get(path);
      getParent(path).names.delete(basename(path));
    },
  };
  return self;
}

function openHandle(
  inode: Inode,
  { countCall, isAppending }: { countCall: () => void; isAppending: boolean },
): OpenHandle {
  let position = 0;
  const sync = async () => {
    countCall();
    inode.synced = Buffer.from(inode.data);
    inode.syncedNames = new Map(inode.names);
  };
  return {
    fd: -1,
    async stat() {
      countCall();
      return getStats(inode);
    },
    async read(buffer, start) {
      countCall();
      return inode.data.copy(buffer, 0, Math.min(start, inode.data.length));
    },
    async write(bytes, offset) {
      countCall();
      const start = isAppending ? inode.data.length : (offset ?? position);
      const gap = Buffer.alloc(Math.max(0, start - inode.data.length));
      const rest = inode.data.subarray(start + bytes.length);
      inode.data = Buffer.concat([inode.data.subarray(0, start), gap, bytes, rest]);
      position = start + bytes.length;
    },
    sync,
    datasync: sync,
    async truncate(length) {
      countCall();
      const gap = Buffer.alloc(Math.max(0, length - inode.data.length));
      inode.data = Buffer.concat([inode.data.subarray(0, length), gap]);
    },
    chmod: async () => countCall(),
    chown: async () => countCall(),
    close: async () => countCall(),
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

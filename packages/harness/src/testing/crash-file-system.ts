/**
 * A file system in memory that loses its power: it remembers what was brought to the disk, by `sync` and `datasync` of
 * files and by `sync` of directories, and `afterCrash` shows what a machine finds that starts again.
 */
import { constants, type Stats } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { FileSystem, OpenHandle } from "@tau/tools/platform";

export interface CrashFileSystem extends FileSystem {
  /** How many calls were made, also of open files. */
  readonly calls: number;
  /** How many calls succeed before the power is gone: each later one fails and changes nothing. Default: all. */
  powerAfter: number;
  /** What is there after a crash. This one stays as it is. */
  afterCrash(luck?: CrashLuck): CrashFileSystem;
}

/** What survives although nobody asked for it. A disk may do any of this. */
export interface CrashLuck {
  /** How much of what was appended to a file and not synced, from 0 to 1. Default 0. */
  bytes?: number;
  /** Whether a file has the length it had, with zeros for what is lost. Default false. */
  zeros?: boolean;
  /** Whether directories are as they were, synced or not. Default false. */
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

export function createCrashFileSystem(): CrashFileSystem {
  const root = newInode(1, true);
  return mount(root, 1);
}

const newInode = (ino: number, isDirectory: boolean): Inode => ({
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
  const spend = () => {
    if (++calls > self.powerAfter) throw failure("EIO", "the power is gone");
  };
  const find = (path: string): Inode | undefined =>
    resolve(path)
      .split("/")
      .filter(Boolean)
      .reduce<Inode | undefined>((inode, name) => inode?.names.get(name), root);
  const get = (path: string) => find(path) ?? fail("ENOENT", path);
  const getParent = (path: string) => get(dirname(resolve(path)));
  const make = (path: string, isDirectory: boolean) => {
    const inode = newInode(++ino, isDirectory);
    getParent(path).names.set(basename(path), inode);
    return inode;
  };
  const makeDirectories = (path: string): void => {
    if (find(path)) return;
    makeDirectories(dirname(resolve(path)));
    make(path, true);
  };
  const self: CrashFileSystem = {
    get calls() {
      return calls;
    },
    powerAfter: Number.POSITIVE_INFINITY,
    afterCrash: (luck = {}) => mount(survivor(root, luck, new Map()), ino),
    async open(path, flags) {
      spend();
      const there = find(path);
      if (there && flags & constants.O_EXCL) fail("EEXIST", path);
      if (!there && !(flags & constants.O_CREAT)) fail("ENOENT", path);
      return openHandle(there ?? make(path, false), { spend, isAppending: (flags & constants.O_APPEND) !== 0 });
    },
    async stat(path) {
      spend();
      return getStats(get(path));
    },
    lstat: (path) => self.stat(path),
    async realpath(path) {
      spend();
      get(path);
      return resolve(path);
    },
    async readlink(path) {
      return fail("EINVAL", path);
    },
    async readdir(path) {
      spend();
      const { names } = get(path);
      return [...names].map(([name, { isDirectory }]) => ({ name, isDirectory, isSymbolicLink: false }));
    },
    async mkdir(path, { recursive = false } = {}) {
      spend();
      if (recursive) return makeDirectories(path);
      if (find(path)) fail("EEXIST", path);
      make(path, true);
    },
    async rename(from, to) {
      spend();
      getParent(to).names.set(basename(to), get(from));
      getParent(from).names.delete(basename(from));
    },
    async link(from, to) {
      spend();
      if (find(to)) fail("EEXIST", to);
      getParent(to).names.set(basename(to), get(from));
    },
    async unlink(path) {
      spend();
      get(path);
      getParent(path).names.delete(basename(path));
    },
  };
  return self;
}

function openHandle(inode: Inode, { spend, isAppending }: { spend: () => void; isAppending: boolean }): OpenHandle {
  let position = 0;
  const sync = async () => {
    spend();
    inode.synced = Buffer.from(inode.data);
    inode.syncedNames = new Map(inode.names);
  };
  return {
    fd: -1,
    async stat() {
      spend();
      return getStats(inode);
    },
    async read(buffer, from) {
      spend();
      return inode.data.copy(buffer, 0, Math.min(from, inode.data.length));
    },
    async write(bytes, at) {
      spend();
      const from = isAppending ? inode.data.length : (at ?? position);
      const gap = Buffer.alloc(Math.max(0, from - inode.data.length));
      const rest = inode.data.subarray(from + bytes.length);
      inode.data = Buffer.concat([inode.data.subarray(0, from), gap, bytes, rest]);
      position = from + bytes.length;
    },
    sync,
    datasync: sync,
    async truncate(length) {
      spend();
      const gap = Buffer.alloc(Math.max(0, length - inode.data.length));
      inode.data = Buffer.concat([inode.data.subarray(0, length), gap]);
    },
    async chmod() {
      spend();
    },
    async chown() {
      spend();
    },
    async close() {
      spend();
    },
  };
}

/** The part of a tree that is on the disk. A file with two names stays one file. */
function survivor(inode: Inode, luck: CrashLuck, seen: Map<Inode, Inode>): Inode {
  const known = seen.get(inode);
  if (known) return known;
  const copy = newInode(inode.ino, inode.isDirectory);
  seen.set(inode, copy);
  copy.data = copy.synced = survivingBytes(inode, luck);
  for (const [name, child] of luck.names ? inode.names : inode.syncedNames) {
    const left = survivor(child, luck, seen);
    copy.names.set(name, left);
    copy.syncedNames.set(name, left);
  }
  return copy;
}

function survivingBytes({ data, synced }: Inode, { bytes = 0, zeros = false }: CrashLuck): Buffer {
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

const failure = (code: string, message: string) => Object.assign(new Error(`${code}: ${message}`), { code });

function fail(code: string, message: string): never {
  throw failure(code, message);
}

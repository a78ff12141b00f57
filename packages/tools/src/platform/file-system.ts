/**
 * The lowest port: single calls to a file system. Code that must survive a failing disk uses it, so that a test can make
 * any one call fail (see `@tau/tools/testing`).
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { systemCode, unlessMissing } from "../errors.ts";
import { copyAttributes } from "./attributes.ts";
import { called } from "./callback.ts";
import { type OpenHandle, openRaw } from "./open-handle.ts";

export type { OpenHandle } from "./open-handle.ts";

export interface FileSystem {
  /** `flags` as in open(2), from `constants` of `node:fs`. */
  open(path: string, flags: number, mode?: number): Promise<OpenHandle>;
  stat(path: string): Promise<fs.Stats>;
  /**
   * Like `stat`, synchronously, where that costs less than the detour over a thread; undefined where nothing exists. Absent
   * where it would take long.
   */
  statNow?(path: string): fs.Stats | undefined;
  /**
   * Opens a file, reads from `position` on until `buffer` is full or the file ends, and says how much that was; undefined
   * where nothing exists. Synchronous, for who reads a thousand files; absent where it would take long.
   */
  readNow?(path: string, buffer: Uint8Array, position: number): number | undefined;
  lstat(path: string): Promise<fs.Stats>;
  realpath(path: string): Promise<string>;
  readlink(path: string): Promise<string>;
  readdir(path: string): Promise<{ name: string; isDirectory: boolean; isSymbolicLink: boolean }[]>;
  mkdir(path: string, options?: { recursive?: boolean; mode?: number }): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Removes an empty directory. Absent where there are none to remove. */
  rmdir?(path: string): Promise<void>;
  /**
   * The real path of an open file, as this port names it. For ports that map paths or reach another machine, where our
   * own system's names for open files say nothing. Without it, Linux is asked through /proc/self/fd. With it, names are
   * looked up again instead of kept open: the port must notice what is replaced between two calls.
   */
  getPath?(handle: OpenHandle): Promise<string>;
  /**
   * Gives `to` the access list and the extended attributes of `from`. True when there were any. Attributes that cannot be
   * copied are lost. Absent where there are none, or they cannot be copied.
   */
  copyAttributes?(from: OpenHandle, to: OpenHandle): Promise<boolean>;
}

export const nodeFileSystem: FileSystem = {
  open: openRaw,
  stat: (path) => called((done) => fs.stat(path, done)),
  // Creating an error with its stack takes longer than the call.
  statNow: (path) => fs.statSync(path, { throwIfNoEntry: false }),
  readNow,
  // Like `statNow`: a name is looked up in the time that the detour over a thread takes ten times.
  lstat: async (path) => fs.lstatSync(path),
  realpath: async (path) => fs.realpathSync.native(path),
  // The kernel answers this from memory: the detour over a thread would cost more.
  readlink: async (path) =>
    /^\/proc\/self\/fd\/\d+$/.test(path) ? fs.readlinkSync(path) : await called((done) => fs.readlink(path, done)),
  async readdir(path) {
    const entries = await called<fs.Dirent[]>((done) => fs.readdir(path, { withFileTypes: true }, done));
    return entries.map((entry) => ({
      name: entry.name,
      isDirectory: entry.isDirectory(),
      isSymbolicLink: entry.isSymbolicLink(),
    }));
  },
  async mkdir(path, { recursive = false, mode } = {}) {
    await (recursive ? makeAll(path, mode) : mkdir(path, mode));
  },
  rename: (from, to) => called((done) => fs.rename(from, to, done)),
  link: (from, to) => called((done) => fs.link(from, to, done)),
  unlink: (path) => called((done) => fs.unlink(path, done)),
  rmdir: (path) => called((done) => fs.rmdir(path, done)),
  copyAttributes: (from, to) => copyAttributes(from.fd, to.fd),
};

function readNow(path: string, buffer: Uint8Array, position: number): number | undefined {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const fd = openNow(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  if (fd === undefined) return undefined;
  try {
    let length = 0;
    while (length < buffer.length) {
      const count = fs.readSync(fd, buffer, length, buffer.length - length, position + length);
      if (count === 0) break;
      length += count;
    }
    return length;
  } finally {
    fs.closeSync(fd);
  }
}

function openNow(path: string, flags: number): number | undefined {
  try {
    return fs.openSync(path, flags);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

const mkdir = (path: string, mode: number | undefined) => called((done) => fs.mkdir(path, mode, done));

/** Creates directories like Node, but gives up where one cannot be created although its parent exists, as in /proc. */
async function makeAll(path: string, mode: number | undefined): Promise<void> {
  try {
    return await makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (systemCode(error) !== "ENOENT" || parent === path) throw error;
    await makeAll(parent, mode);
  }
  await makeOne(path, mode);
}

/** Another process may create it at the same time. */
async function makeOne(path: string, mode: number | undefined): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (systemCode(error) !== "EEXIST" || !(await nodeFileSystem.stat(path)).isDirectory()) throw error;
  }
}

/** The stats of a path; undefined where nothing exists. Synchronous where that is cheap, else over a thread. */
export async function lookAt(fs: Pick<FileSystem, "stat" | "statNow">, path: string): Promise<fs.Stats | undefined> {
  const look = async () => (fs.statNow ? fs.statNow(path) : await fs.stat(path));
  return await unlessMissing(look());
}

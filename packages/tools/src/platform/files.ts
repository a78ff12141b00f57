/**
 * Files as tools see them: opened first and judged afterwards, by the path they really have, so that a link that is
 * swapped in between leads nowhere; and written whole or not at all.
 */
import { constants, type Stats } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { type Ids, systemIds } from "@tau/ai";
import { systemCode, ToolsError } from "../errors.ts";
import { type FileSystem, nodeFileSystem, type OpenHandle } from "./file-system.ts";

export type Access = "read" | "write";

/** Asked after something was opened, with the path it really has. Throws to refuse. */
export type Guard = (realPath: string, access: Access) => void | Promise<void>;

/** A regular file, open for reading. */
export interface ReadableFile {
  readonly realPath: string;
  readonly size: number;
  /** Tells this state of the file from later ones. */
  readonly stamp: string;
  /** Reads into `buffer` from `position` and says how many bytes came; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface Files {
  /** Opens a regular file. Anything that could block or never end (pipes, sockets, devices) is refused at once. */
  openRead(path: string): Promise<ReadableFile>;
  /** The whole content, at most `maxBytes`, and a stamp that tells this state of the file from later ones. */
  readWhole(path: string, maxBytes: number): Promise<{ realPath: string; bytes: Buffer; stamp: string }>;
  /** What a path leads to; undefined when it leads nowhere. */
  stat(path: string): Promise<Stats | undefined>;
  /** The entries of a directory, in no order. */
  list(path: string): Promise<{ name: string; isDirectory: boolean; isSymbolicLink: boolean }[]>;
  /** The path a file really has, or would have if it existed. */
  realPath(path: string): Promise<string>;
  /**
   * Replaces a file's content: old or new, never neither and never half. Creates missing directories; keeps the mode,
   * the owner and a link that leads to the file. Returns the path that was written. With the stamp of a reading, it
   * refuses with `overtaken` when somebody else has changed the file since.
   */
  writeWhole(
    path: string,
    bytes: Uint8Array,
    options?: { ifUnchanged?: string },
  ): Promise<{ realPath: string; created: boolean }>;
}

export interface FilesOptions {
  /** Default: allows everything. */
  guard?: Guard;
  /** Default: the real one. */
  fileSystem?: FileSystem;
  /** Names temporary files. Default: the system's. */
  ids?: Ids;
}

export function createFiles(options: FilesOptions = {}): Files {
  const system: System = {
    fs: options.fileSystem ?? nodeFileSystem,
    guard: options.guard ?? (() => undefined),
    ids: options.ids ?? systemIds,
  };
  return {
    openRead: (path) => openRead(system, path),
    readWhole: (path, maxBytes) => readWhole(system, path, maxBytes),
    stat: (path) => unlessMissing(system.fs.stat(path)),
    async list(path) {
      const directory = await openDirectory(system, path, "read");
      try {
        return await system.fs.readdir(directory.path);
      } finally {
        await directory.handle.close();
      }
    },
    realPath: (path) => realPathOf(system, path),
    writeWhole: (path, bytes, options = {}) => writeWhole(system, path, bytes, options.ifUnchanged),
  };
}

interface System {
  fs: FileSystem;
  guard: Guard;
  ids: Ids;
}

async function openRead(system: System, path: string): Promise<ReadableFile> {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const handle = await open(system, path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new ToolsError("not_a_file", `${path} is ${kindOf(stats)}, not a file.`);
    const realPath = await pathOfHandle(system, handle, path);
    await system.guard(realPath, "read");
    return {
      realPath,
      size: stats.size,
      stamp: stampOf(stats),
      read: (buffer, position) => handle.read(buffer, position),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const stampOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats) => [dev, ino, size, mtimeMs, ctimeMs].join(":");

async function open(system: System, path: string, flags: number): Promise<OpenHandle> {
  try {
    return await system.fs.open(path, flags);
  } catch (error) {
    throw explained(error, path);
  }
}

/** The words for what a system call said. */
export function explained(error: unknown, path: string): unknown {
  switch (systemCode(error)) {
    case "ENOENT":
      return new ToolsError("not_found", `There is no file ${path}.`, { cause: error });
    case "ENOTDIR":
      return new ToolsError("not_found", `A part of ${path} is a file, not a directory.`, { cause: error });
    case "EEXIST":
      return new ToolsError("not_a_directory", `A part of ${path} is a file, not a directory.`, { cause: error });
    case "EISDIR":
      return new ToolsError("not_a_file", `${path} is a directory, not a file.`, { cause: error });
    case "EACCES":
    case "EPERM":
      return new ToolsError("denied", `The system does not allow access to ${path}.`, { cause: error });
    case "ELOOP":
      return new ToolsError("not_found", `${path} is a link that leads in a circle.`, { cause: error });
    case "ENXIO":
      return new ToolsError("not_a_file", `${path} is a socket or a device, not a file.`, { cause: error });
    case "ERR_INVALID_ARG_VALUE":
      return new ToolsError("invalid_input", `${JSON.stringify(path)} cannot be a path.`, { cause: error });
    default:
      return error;
  }
}

export function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
  return stats.isFile() ? "a file" : "something else";
}

/** Where an open file really is, however it was reached. Linux knows; elsewhere the name has to lead back to it. */
async function pathOfHandle(system: System, handle: OpenHandle, path: string): Promise<string> {
  if (process.platform === "linux") {
    const named = await system.fs.readlink(`/proc/self/fd/${handle.fd}`);
    // Of what was removed meanwhile the system tells a name that it does not have: nobody could judge it by that.
    if (!named.endsWith(" (deleted)") || (await handle.stat()).nlink > 0) return named;
    throw new ToolsError("denied", `${path} was removed or replaced while it was being opened. Try again.`);
  }
  const real = await system.fs.realpath(path);
  const [opened, named] = [await handle.stat(), await system.fs.stat(real)];
  if (opened.ino === named.ino && opened.dev === named.dev) return real;
  throw new ToolsError("denied", `${path} changed while it was being opened.`);
}

async function readWhole(system: System, path: string, maxBytes: number) {
  const file = await openRead(system, path);
  try {
    if (file.size > maxBytes) {
      throw new ToolsError("too_large", `${path} has ${file.size} bytes; at most ${maxBytes} can be handled whole.`);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    // Files under /proc say that they are empty and are not, so the end is where they say, or where nothing comes.
    for (;;) {
      const buffer = Buffer.allocUnsafe(Math.max(64 * 1024, file.size - size + 1));
      const count = await file.read(buffer, size);
      size += count;
      if (size > maxBytes) throw new ToolsError("too_large", `${path} has more than ${maxBytes} bytes.`);
      chunks.push(buffer.subarray(0, count));
      if (count > 0 && size !== file.size) continue;
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
      return { realPath: file.realPath, bytes, stamp: file.stamp };
    }
  } finally {
    await file.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Follows links also where the last part does not exist yet. */
async function realPathOf(system: System, path: string): Promise<string> {
  const real = await unlessMissing(system.fs.realpath(path));
  if (real !== undefined) return real;
  const link = await unlessMissing(system.fs.lstat(path));
  if (link?.isSymbolicLink()) {
    const target = await system.fs.readlink(path);
    // The directory first: `..` in a link leads up from where the link really is.
    return await realPathOf(
      system,
      isAbsolute(target) ? target : join(await realPathOf(system, dirname(path)), target),
    );
  }
  const parent = dirname(path);
  return parent === path ? path : join(await realPathOf(system, parent), basename(path));
}

/** A directory that is held open. `path` leads into it even if its name is taken over by something else meanwhile. */
interface OpenDirectory {
  handle: OpenHandle;
  path: string;
  realPath: string;
}

async function openDirectory(system: System, path: string, access: Access): Promise<OpenDirectory> {
  let handle: OpenHandle;
  try {
    handle = await system.fs.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    if (systemCode(error) === "ENOTDIR") throw new ToolsError("not_a_directory", `${path} is not a directory.`);
    if (systemCode(error) === "ENOENT") throw new ToolsError("not_found", `There is no directory ${path}.`);
    throw explained(error, path);
  }
  try {
    const realPath = await pathOfHandle(system, handle, path);
    await system.guard(realPath, access);
    const anchored = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : realPath;
    return { handle, path: anchored, realPath };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function writeWhole(system: System, path: string, bytes: Uint8Array, ifUnchanged: string | undefined) {
  const target = await realPathOf(system, path);
  await system.guard(target, "write");
  const existing = await unlessMissing(system.fs.stat(target));
  if (existing && !existing.isFile()) throw new ToolsError("not_a_file", `${path} is ${kindOf(existing)}, not a file.`);
  const directory = await openForWriting(system, dirname(target), path);
  try {
    // The directory may have become another one since its name was looked up.
    if (join(directory.realPath, basename(target)) !== target) {
      throw new ToolsError("denied", `The directory of ${path} changed while it was being written.`);
    }
    await replace(system, directory, { name: basename(target), bytes, existing, ifUnchanged });
    return { realPath: target, created: existing === undefined };
  } catch (error) {
    throw explained(error, path);
  } finally {
    await directory.handle.close();
  }
}

async function openForWriting(system: System, directory: string, path: string): Promise<OpenDirectory> {
  try {
    if (!(await unlessMissing(system.fs.stat(directory)))) await system.fs.mkdir(directory, { recursive: true });
    return await openDirectory(system, directory, "write");
  } catch (error) {
    throw explained(error, path);
  }
}

/** Writes beside the file and renames over it: whoever looks sees the old content or the new. */
async function replace(
  system: System,
  directory: OpenDirectory,
  { name, bytes, existing, ifUnchanged }: Replacement,
): Promise<void> {
  const temporary = join(directory.path, `.tau-${system.ids()}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await system.fs.open(temporary, flags, existing ? existing.mode & 0o7777 : 0o666);
  try {
    try {
      await handle.write(bytes);
      if (existing) await keepOwnerAndMode(handle, existing);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await refuseChanged(system, join(directory.path, name), name, ifUnchanged);
    await system.fs.rename(temporary, join(directory.path, name));
  } catch (error) {
    await unlessMissing(system.fs.unlink(temporary));
    throw error;
  }
  await syncDirectory(directory.handle);
}

/** Some file systems cannot do it, and need not. */
async function syncDirectory(handle: OpenHandle): Promise<void> {
  try {
    await handle.sync();
  } catch (error) {
    const code = systemCode(error);
    if (code !== "EINVAL" && code !== "ENOTSUP") throw error;
  }
}

interface Replacement {
  name: string;
  bytes: Uint8Array;
  existing: Stats | undefined;
  ifUnchanged: string | undefined;
}

/** As late as it can be looked at: between this and the renaming there is no time for anybody. */
async function refuseChanged(system: System, path: string, name: string, stamp: string | undefined): Promise<void> {
  if (stamp === undefined) return;
  const now = await unlessMissing(system.fs.stat(path));
  if (now && stampOf(now) === stamp) return;
  throw new ToolsError(
    "overtaken",
    `${name} was changed by somebody else meanwhile. Nothing was written; read it again.`,
  );
}

async function keepOwnerAndMode(handle: OpenHandle, existing: Stats): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== existing.uid || own.gid !== existing.gid) {
    try {
      await handle.chown(existing.uid, existing.gid);
    } catch (error) {
      // Only the owner of everything may give files away. The content matters more than whose it is.
      if (systemCode(error) !== "EPERM") throw error;
    }
  }
  // The umask takes away from the mode that a new file is asked for, and so does giving it away.
  if (own.mode !== existing.mode || own.uid !== existing.uid) await handle.chmod(existing.mode & 0o7777);
}

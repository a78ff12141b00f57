/**
 * Files as tools see them. A file is opened first and the guard is asked afterwards, with its real path, so that
 * replacing a link in between gains nothing. Files are written whole or not at all.
 */
import { constants, type Stats } from "node:fs";
import { systemIds, type Ids } from "@tau/ai";
import { closeAfter } from "@tau/ai/internal";
import { ToolsError, unlessMissing } from "../errors.ts";
import { explaining, getKind } from "./explain.ts";
import { type FileSystem, nodeFileSystem } from "./file-system.ts";
import { type Access, ask, type Guard } from "./guard.ts";
import {
  type FilesState,
  holdsDirectories,
  lookUp,
  open,
  openDirectory,
  pathOfHandle,
  unlessFailing,
} from "./open-path.ts";
import { move, remove, type RemoveOptions } from "./remove.ts";
import { getStamp, writeWhole, type WriteOptions } from "./replace.ts";
import { createReusedBuffer } from "./reused-buffer.ts";

export type { Access, Guard, GuardedFile } from "./guard.ts";

/** A regular file, open for reading. */
export interface ReadableFile {
  readonly realPath: string;
  readonly size: number;
  /** Distinguishes this state of the file from later ones. */
  readonly stamp: string;
  /** Reads into `buffer` from `position` and says how many bytes came; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Every failure is a `ToolsError` that says what happened to which path, and what to do. */
export interface Files {
  /** Opens a regular file. Anything that could block or never end (pipes, sockets, devices) is refused at once. */
  openRead(path: string): Promise<ReadableFile>;
  /**
   * The whole content, at most `maxBytes`, and a stamp that distinguishes this state of the file from later ones. Where
   * the file holds what is `expected`, the bytes may be that very buffer; do not change them then.
   */
  readWhole(
    path: string,
    maxBytes: number,
    options?: { expected?: Buffer | undefined },
  ): Promise<{ realPath: string; bytes: Buffer; stamp: string }>;
  /** Describes what a path leads to; undefined when it leads nowhere. Refused where the guard does not allow reading. */
  stat(path: string): Promise<Stats | undefined>;
  /** The entries of a directory, in no order. */
  list(path: string): Promise<{ name: string; isDirectory: boolean; isSymbolicLink: boolean }[]>;
  /** The path a file really has, or would have if it existed. Refused where the guard does not allow `access`. */
  realPath(path: string, access?: Access): Promise<string>;
  /**
   * Replaces a file's content: old or new, never neither and never half. Creates missing directories; keeps the mode,
   * the owner, access lists, extended attributes and a link that leads to the file, as far as the system allows it.
   * Other names of the same file (hard links) keep the old content. Returns the path that was written, and the stamp of
   * the file unless another process has changed it already. With the stamp of a reading, or `missing` for a file that
   * did not exist, it refuses with `overtaken` when the file was changed or created since by another process.
   */
  writeWhole(
    path: string,
    bytes: Uint8Array,
    options?: WriteOptions,
  ): Promise<{ realPath: string; created: boolean; stamp: string | undefined }>;
  /** Removes a regular file. A link is refused, not followed. */
  remove(path: string, options?: RemoveOptions): Promise<void>;
  /** Gives a regular file another name, which must be free, and makes the directories that it needs. A link is refused. */
  move(from: string, to: string, options?: RemoveOptions): Promise<{ realPath: string; stamp: string | undefined }>;
}

export interface FilesOptions {
  /** Default: allows everything. */
  guard?: Guard;
  /** Default: the real one. */
  fileSystem?: FileSystem;
  /** Names temporary files. Default: the system's. */
  ids?: Ids;
}

export function createFiles({ guard = () => undefined, ...options }: FilesOptions = {}): Files {
  return createGuardedFiles(options)(guard);
}

/** Files for any number of guards. They share what is known of the disk, so that a call can have files of its own. */
export function createGuardedFiles(options: Omit<FilesOptions, "guard"> = {}): (guard: Guard) => Files {
  const shared: Omit<FilesState, "guard"> = {
    fs: options.fileSystem ?? nodeFileSystem,
    ids: options.ids ?? systemIds,
    plain: new Set(),
    swept: new Set(),
    reusedBuffer: createReusedBuffer(),
  };
  return (guard) => guardFiles({ ...shared, guard });
}

function guardFiles(state: FilesState): Files {
  return {
    openRead: (path) => explaining(path, () => openRead(state, path)),
    readWhole: (path, maxBytes, { expected } = {}) =>
      explaining(path, () => readWhole(state, path, maxBytes, expected)),
    stat: (path) => explaining(path, () => getStat(state, path)),
    list: (path) => explaining(path, () => list(state, path)),
    realPath: (path, access = "read") =>
      explaining(path, async () => {
        const realPath = await lookUp(state, path, access);
        await ask(state.guard, realPath, access);
        return realPath;
      }),
    writeWhole: (path, bytes, options = {}) => explaining(path, () => writeWhole(state, path, bytes, options)),
    remove: (path, options = {}) => explaining(path, () => remove(state, path, options)),
    move: (from, to, options = {}) => explaining(from, () => move(state, from, to, options)),
  };
}

async function openRead(state: FilesState, path: string): Promise<ReadableFile> {
  // Without O_NONBLOCK, opening a pipe that has no writer would wait for ever.
  const handle = await open(state, path, constants.O_RDONLY | constants.O_NONBLOCK, "read");
  return await unlessFailing(handle, async () => {
    const realPath = await pathOfHandle(state, handle, path);
    const stats = await handle.stat();
    await ask(state.guard, realPath, "read", stats.isFile() ? stats.nlink : 1);
    if (!stats.isFile()) throw new ToolsError("not_a_file", `${path} is ${getKind(stats)}, not a file.`);
    if (isStream(realPath)) {
      throw new ToolsError("not_a_file", `${path} never ends and is used up by reading. Use a command such as dmesg.`);
    }
    return {
      realPath,
      size: stats.size,
      stamp: getStamp(stats),
      read: (buffer, position) => explaining(path, () => handle.read(buffer, position)),
      close: () => explaining(path, () => handle.close()),
    };
  });
}

/** Streams that the kernel lists as files: a reader waits for more, and what one reader gets the next does not. */
const isStream = (realPath: string) => /\/proc\/kmsg$|\/trace_pipe(_raw)?$/.test(realPath);

/** `O_PATH`: opens a name only, without the right to read it and without waking a device. Linux only. */
const asName = 0o10000000;

async function getStat(state: FilesState, path: string): Promise<Stats | undefined> {
  if (!holdsDirectories(state)) {
    const realPath = await lookUp(state, path, "read");
    await ask(state.guard, realPath, "read");
    return await unlessMissing(state.fs.lstat(realPath));
  }
  const handle = await unlessMissing(open(state, path, asName, "read"));
  if (!handle) return undefined;
  return await closeAfter(handle, async () => {
    const [realPath, stats] = [await pathOfHandle(state, handle, path), await handle.stat()];
    await ask(state.guard, realPath, "read", stats.isFile() ? stats.nlink : 1);
    return stats;
  });
}

async function list(state: FilesState, path: string) {
  const directory = await openDirectory(state, path);
  return await closeAfter(directory.handle, () => state.fs.readdir(directory.path));
}

async function readWhole(state: FilesState, path: string, maxBytes: number, expected: Buffer | undefined) {
  const file = await openRead(state, path);
  try {
    if (file.size > maxBytes) {
      throw new ToolsError("too_large", `${path} has ${file.size} bytes; at most ${maxBytes} can be handled whole.`);
    }
    const isLikely = expected?.length === file.size;
    const chunks: Buffer[] = [];
    let size = 0;
    // Files under /proc have the size 0 and still content, so a file ends at its size or where no more bytes come.
    for (;;) {
      const length = Math.max(64 * 1024, file.size - size + 1);
      const buffer = isLikely ? state.reusedBuffer.take(length) : Buffer.allocUnsafe(length);
      const count = await file.read(buffer, size);
      size += count;
      if (size > maxBytes) throw new ToolsError("too_large", `${path} has more than ${maxBytes} bytes.`);
      chunks.push(buffer.subarray(0, count));
      if (count > 0 && size !== file.size) continue;
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
      const { realPath, stamp } = file;
      if (!isLikely || !bytes.equals(expected)) return { realPath, bytes, stamp };
      state.reusedBuffer.giveBack(buffer);
      return { realPath, bytes: expected, stamp };
    }
  } finally {
    await file.close();
  }
}

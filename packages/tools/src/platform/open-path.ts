/** Opens files and directories by path. An open file is asked for its real path: its name may lead elsewhere a moment later. */
import { constants } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Ids } from "@tau/ai";
import { systemCode, tolerate, ToolsError, unlessMissing } from "../errors.ts";
import type { FileSystem, OpenHandle } from "./file-system.ts";
import { type Access, ask, type Guard } from "./guard.ts";
import type { ReusedBuffer } from "./reused-buffer.ts";

/** The state that the functions of `Files` share. */
export interface FilesState {
  readonly fs: FileSystem;
  readonly guard: Guard;
  readonly ids: Ids;
  /** Stamps of files that are known to have no attributes beyond mode and owner. */
  readonly plain: Set<string>;
  /** Directories that were searched for temporary files of killed writes. */
  readonly swept: Set<string>;
  /** For reading content that is probably known already. */
  readonly reusedBuffer: ReusedBuffer;
}

/** Linux tells the path of an open file, and opens names beneath an open directory. Elsewhere names are looked up again. */
export const holdsDirectories = ({ fs }: Pick<FilesState, "fs">): boolean =>
  process.platform === "linux" && !fs.getPath;

/** Opens what `path` leads to. Where the guard refuses, the failure does not tell whether something is there. */
export async function open(state: FilesState, path: string, flags: number, access: Access): Promise<OpenHandle> {
  try {
    return await state.fs.open(path, flags);
  } catch (error) {
    await ask(state.guard, await nearestPath(state, path), access);
    throw error;
  }
}

/** The real path; of a link that cannot be followed, such as one in a circle, the path of the link. */
async function nearestPath(state: FilesState, path: string): Promise<string> {
  try {
    return await getRealPath(state, path);
  } catch (error) {
    const parent = dirname(path);
    if (systemCode(error) === undefined || parent === path) throw error;
    return join(await nearestPath(state, parent), basename(path));
  }
}

/** The real path of something that is about to be judged. */
export async function lookUp(state: FilesState, path: string, access: Access): Promise<string> {
  try {
    return await getRealPath(state, path);
  } catch (error) {
    await ask(state.guard, await nearestPath(state, path), access);
    throw error;
  }
}

/** Where an open file really is, however it was reached. */
export async function pathOfHandle(state: Pick<FilesState, "fs">, handle: OpenHandle, path: string): Promise<string> {
  const { fs } = state;
  if (fs.getPath) return await fs.getPath(handle);
  if (holdsDirectories(state)) {
    const named = await fs.readlink(`/proc/self/fd/${handle.fd}`);
    // For a file that was removed meanwhile the system tells a name that it no longer has. A guard cannot judge by that.
    if (!named.endsWith(" (deleted)") || (await handle.stat()).nlink > 0) return named;
    throw new ToolsError("denied", `${path} was removed or replaced while it was being opened. Try again.`);
  }
  const real = await fs.realpath(path);
  const [opened, named] = [await handle.stat(), await fs.stat(real)];
  if (opened.ino === named.ino && opened.dev === named.dev) return real;
  throw new ToolsError("denied", `${path} changed while it was being opened. Try again.`);
}

/** Follows links also where the last part does not exist yet. */
async function getRealPath(state: FilesState, path: string): Promise<string> {
  const { fs } = state;
  const real = await unlessMissing(fs.realpath(path));
  if (real !== undefined) return real;
  const link = await unlessMissing(fs.lstat(path));
  if (link?.isSymbolicLink()) {
    const target = await fs.readlink(path);
    // The directory first: `..` in a link leads up from where the link really is.
    return await getRealPath(
      state,
      isAbsolute(target) ? target : join(await getRealPath(state, dirname(path)), target),
    );
  }
  const parent = dirname(path);
  return parent === path ? path : join(await getRealPath(state, parent), basename(path));
}

/** A directory that is kept open. `path` leads into it even if its name is given to something else meanwhile. */
export interface HeldDirectory {
  readonly handle: OpenHandle;
  readonly path: string;
  readonly realPath: string;
}

const asDirectory = constants.O_RDONLY | constants.O_DIRECTORY;

/** Opens a directory to list it. */
export async function openDirectory(state: FilesState, path: string): Promise<HeldDirectory> {
  let handle: OpenHandle;
  try {
    handle = await open(state, path, asDirectory, "read");
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOTDIR") throw new ToolsError("not_a_directory", `${path} is not a directory.`, { cause: error });
    if (code === "ENOENT") throw new ToolsError("not_found", `There is no directory ${path}.`, { cause: error });
    throw error;
  }
  return await unlessFailing(handle, async () => {
    const held = await hold(state, handle, path);
    await ask(state.guard, held.realPath, "read");
    return held;
  });
}

async function hold(state: FilesState, handle: OpenHandle, path: string): Promise<HeldDirectory> {
  const realPath = await pathOfHandle(state, handle, path);
  return { handle, realPath, path: holdsDirectories(state) ? `/proc/self/fd/${handle.fd}` : realPath };
}

/** Closes `handle` when `work` fails; otherwise the caller closes it. */
export async function unlessFailing<T>(handle: OpenHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The nearest directory above `target`, a real path, that exists; and the names of the missing ones, topmost first. */
export async function openNearest(
  state: FilesState,
  target: string,
  path: string,
): Promise<{ directory: HeldDirectory; missing: string[] }> {
  const missing: string[] = [];
  for (let directoryPath = dirname(target); ; directoryPath = dirname(directoryPath)) {
    try {
      const handle = await state.fs.open(directoryPath, asDirectory);
      const directory = await unlessFailing(handle, async () => {
        const held = await hold(state, handle, directoryPath);
        if (held.realPath !== directoryPath) throw changed(path);
        return held;
      });
      return { directory, missing };
    } catch (error) {
      if (systemCode(error) === "ENOENT" && directoryPath !== dirname(directoryPath)) {
        missing.unshift(basename(directoryPath));
        continue;
      }
      await ask(state.guard, target, "write");
      throw systemCode(error) === "ENOTDIR" ? throughFile(error, path) : error;
    }
  }
}

/**
 * Makes the directories `names` below `start`, each beneath the one that is held open: a name that is swapped for a link
 * meanwhile leads nowhere. Closes all but the last. Where directories cannot be held, what was made is looked at
 * afterwards: best effort.
 */
export async function makeDirectories(
  state: FilesState,
  start: HeldDirectory,
  names: readonly string[],
  path: string,
): Promise<HeldDirectory> {
  let directory = start;
  for (const name of names) {
    const above = directory;
    directory = await unlessFailing(above.handle, () => makeDirectory(state, above, name, path));
    await unlessFailing(directory.handle, () => above.handle.close());
  }
  return directory;
}

async function makeDirectory(
  state: FilesState,
  above: HeldDirectory,
  name: string,
  path: string,
): Promise<HeldDirectory> {
  const child = join(above.path, name);
  // Another process may have made a directory or a file of that name: opening it tells which.
  await tolerate(state.fs.mkdir(child), "EEXIST");
  const handle = await state.fs.open(child, asDirectory).catch((error: unknown) => {
    throw systemCode(error) === "ENOTDIR" ? throughFile(error, path) : error;
  });
  return await unlessFailing(handle, async () => {
    const held = await hold(state, handle, child);
    if (held.realPath !== join(above.realPath, name)) throw changed(path);
    return held;
  });
}

const throughFile = (cause: unknown, path: string) =>
  new ToolsError("not_a_directory", `A part of ${path} is a file, not a directory.`, { cause });

export const changed = (path: string) =>
  new ToolsError("denied", `The directory of ${path} changed while it was being written. Try again.`);

/** Where things really are: what is open is asked for its path, since a name may lead elsewhere a moment later. */
import { constants } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Ids } from "@tau/ai";
import { systemCode, ToolsError } from "../errors.ts";
import { unlessMissing } from "./explain.ts";
import type { FileSystem, OpenHandle } from "./file-system.ts";
import { type Access, ask, type Guard } from "./guard.ts";
import type { Spare } from "./spare.ts";

/** What everything in `Files` shares. */
export interface Ground {
  readonly fs: FileSystem;
  readonly guard: Guard;
  readonly ids: Ids;
  /** States of files that are known to have no attributes beyond mode and owner. */
  readonly plain: Set<string>;
  /** Directories that were looked through for what killed writes left. */
  readonly swept: Set<string>;
  /** For reading what is probably known already. */
  readonly spare: Spare;
}

/** Linux names an open file, and opens names beneath a directory that is held. Elsewhere names are looked up again. */
export const holdsDirectories = ({ fs }: Ground): boolean => process.platform === "linux" && !fs.getPath;

/** Opens what `path` leads to. Who may not look there learns nothing from a failure, not even that nothing is there. */
export async function open(ground: Ground, path: string, flags: number, access: Access): Promise<OpenHandle> {
  try {
    return await ground.fs.open(path, flags);
  } catch (error) {
    await ask(ground.guard, await nearestPath(ground, path), access);
    throw error;
  }
}

/** What cannot be followed, such as a link in a circle, is judged by where it is. */
async function nearestPath(ground: Ground, path: string): Promise<string> {
  try {
    return await getRealPath(ground, path);
  } catch (error) {
    const parent = dirname(path);
    if (systemCode(error) === undefined || parent === path) throw error;
    return join(await nearestPath(ground, parent), basename(path));
  }
}

/** The real path of something that is about to be judged. */
export async function lookUp(ground: Ground, path: string, access: Access): Promise<string> {
  try {
    return await getRealPath(ground, path);
  } catch (error) {
    await ask(ground.guard, await nearestPath(ground, path), access);
    throw error;
  }
}

/** Where an open file really is, however it was reached. */
export async function pathOfHandle(ground: Ground, handle: OpenHandle, path: string): Promise<string> {
  const { fs } = ground;
  if (fs.getPath) return await fs.getPath(handle);
  if (holdsDirectories(ground)) {
    const named = await fs.readlink(`/proc/self/fd/${handle.fd}`);
    // Of what was removed meanwhile the system tells a name that it does not have: nobody could judge it by that.
    if (!named.endsWith(" (deleted)") || (await handle.stat()).nlink > 0) return named;
    throw new ToolsError("denied", `${path} was removed or replaced while it was being opened. Try again.`);
  }
  const real = await fs.realpath(path);
  const [opened, named] = [await handle.stat(), await fs.stat(real)];
  if (opened.ino === named.ino && opened.dev === named.dev) return real;
  throw new ToolsError("denied", `${path} changed while it was being opened. Try again.`);
}

/** Follows links also where the last part does not exist yet. */
async function getRealPath(ground: Ground, path: string): Promise<string> {
  const { fs } = ground;
  const real = await unlessMissing(fs.realpath(path));
  if (real !== undefined) return real;
  const link = await unlessMissing(fs.lstat(path));
  if (link?.isSymbolicLink()) {
    const target = await fs.readlink(path);
    // The directory first: `..` in a link leads up from where the link really is.
    return await getRealPath(
      ground,
      isAbsolute(target) ? target : join(await getRealPath(ground, dirname(path)), target),
    );
  }
  const parent = dirname(path);
  return parent === path ? path : join(await getRealPath(ground, parent), basename(path));
}

/** A directory that is held open. `path` leads into it even if its name is taken over by something else meanwhile. */
export interface HeldDirectory {
  readonly handle: OpenHandle;
  readonly path: string;
  readonly realPath: string;
}

const asDirectory = constants.O_RDONLY | constants.O_DIRECTORY;

/** Opens a directory to list it. */
export async function openDirectory(ground: Ground, path: string): Promise<HeldDirectory> {
  let handle: OpenHandle;
  try {
    handle = await open(ground, path, asDirectory, "read");
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOTDIR") throw new ToolsError("not_a_directory", `${path} is not a directory.`, { cause: error });
    if (code === "ENOENT") throw new ToolsError("not_found", `There is no directory ${path}.`, { cause: error });
    throw error;
  }
  return await unlessFailing(handle, async () => {
    const held = await hold(ground, handle, path);
    await ask(ground.guard, held.realPath, "read");
    return held;
  });
}

async function hold(ground: Ground, handle: OpenHandle, path: string): Promise<HeldDirectory> {
  const realPath = await pathOfHandle(ground, handle, path);
  return { handle, realPath, path: holdsDirectories(ground) ? `/proc/self/fd/${handle.fd}` : realPath };
}

/** Closes `handle` when `work` fails; otherwise whoever gets the result does. */
export async function unlessFailing<T>(handle: OpenHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The nearest directory above `target`, a real path, that exists; and the names of those that do not, from above. */
export async function openNearest(
  ground: Ground,
  target: string,
  path: string,
): Promise<{ directory: HeldDirectory; missing: string[] }> {
  const missing: string[] = [];
  for (let at = dirname(target); ; at = dirname(at)) {
    try {
      const handle = await ground.fs.open(at, asDirectory);
      const directory = await unlessFailing(handle, async () => {
        const held = await hold(ground, handle, at);
        if (held.realPath !== at) throw changed(path);
        return held;
      });
      return { directory, missing };
    } catch (error) {
      if (systemCode(error) === "ENOENT" && at !== dirname(at)) {
        missing.unshift(basename(at));
        continue;
      }
      await ask(ground.guard, target, "write");
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
  ground: Ground,
  start: HeldDirectory,
  names: readonly string[],
  path: string,
): Promise<HeldDirectory> {
  let directory = start;
  for (const name of names) {
    const above = directory;
    directory = await unlessFailing(above.handle, () => makeDirectory(ground, above, name, path));
    await unlessFailing(directory.handle, () => above.handle.close());
  }
  return directory;
}

async function makeDirectory(ground: Ground, above: HeldDirectory, name: string, path: string): Promise<HeldDirectory> {
  const child = join(above.path, name);
  try {
    await ground.fs.mkdir(child);
  } catch (error) {
    // Somebody else made it, or something else: opening it tells.
    if (systemCode(error) !== "EEXIST") throw error;
  }
  const handle = await ground.fs.open(child, asDirectory).catch((error: unknown) => {
    throw systemCode(error) === "ENOTDIR" ? throughFile(error, path) : error;
  });
  return await unlessFailing(handle, async () => {
    const held = await hold(ground, handle, child);
    if (held.realPath !== join(above.realPath, name)) throw changed(path);
    return held;
  });
}

const throughFile = (cause: unknown, path: string) =>
  new ToolsError("not_a_directory", `A part of ${path} is a file, not a directory.`, { cause });

export const changed = (path: string) =>
  new ToolsError("denied", `The directory of ${path} changed while it was being written. Try again.`);

/**
 * Opens directories of a workspace one below the other, following no link, and keeps them open: a command that is still running
 * may give their names to something else at any moment.
 */
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { tolerate } from "@tau/tools/platform";

export interface HeldDirectory {
  /** Leads into it whatever its name is now. */
  readonly path: string;
  readonly handle: FileHandle;
}

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Linux opens names beneath an open directory. Elsewhere the path is looked up, and compared. */
const isHeld = process.platform === "linux";

/** Calls `work` with the directory `names` below `root`, a real path; with undefined if there is none, or it is a link. */
export async function withDirectory<T>(
  root: string,
  names: readonly string[],
  work: (directory: HeldDirectory | undefined) => Promise<T>,
): Promise<T> {
  const directory = await openDirectory(root, names);
  try {
    return await work(directory);
  } finally {
    await directory?.handle.close();
  }
}

async function openDirectory(root: string, names: readonly string[]): Promise<HeldDirectory | undefined> {
  if (!isHeld) return await openNamed(root, names);
  let handle = await tryToOpen(root);
  for (const name of names) {
    if (!handle) return undefined;
    const above: FileHandle = handle;
    handle = await tryToOpen(`/proc/self/fd/${above.fd}/${name}`).finally(() => above.close());
  }
  return handle && { handle, path: `/proc/self/fd/${handle.fd}` };
}

async function openNamed(root: string, names: readonly string[]): Promise<HeldDirectory | undefined> {
  const path = join(root, ...names);
  const handle = await tryToOpen(path);
  if (!handle) return undefined;
  if ((await realpath(path)) === path) return { handle, path };
  await handle.close();
  return undefined;
}

const tryToOpen = (path: string): Promise<FileHandle | undefined> =>
  tolerate(open(path, flags), "ENOENT", "ENOTDIR", "ELOOP");

/** Removes and renames files. Unlike writing, neither follows a link. */
import { basename, dirname, join } from "node:path";
import { systemCode, tolerate, ToolsError, unlessMissing } from "../errors.ts";
import { getKind } from "./explain.ts";
import { lookAt } from "./file-system.ts";
import { ask } from "./guard.ts";
import { noLinkCodes } from "./lease.ts";
import { changed, type FilesState, type HeldDirectory, lookUp, makeDirectories, openNearest } from "./open-path.ts";
import { getStamp, refuseChanged, type WriteOptions } from "./replace.ts";

export type RemoveOptions = Pick<WriteOptions, "ifUnchanged" | "isReal">;

export async function remove(state: FilesState, path: string, options: RemoveOptions): Promise<void> {
  const { directory, name } = await openExisting(state, path, options);
  try {
    await refuseChanged(state, join(directory.path, name), name, options.ifUnchanged);
    await state.fs.unlink(join(directory.path, name));
    await sync(directory);
  } finally {
    await directory.handle.close();
  }
}

export async function move(state: FilesState, from: string, to: string, options: RemoveOptions) {
  const source = await openExisting(state, from, options);
  try {
    const target = await openNew(state, to, options);
    try {
      const [oldPath, newPath] = [join(source.directory.path, source.name), join(target.directory.path, target.name)];
      await refuseChanged(state, oldPath, source.name, options.ifUnchanged);
      await giveName(state, { oldPath, newPath, to });
      await sync(target.directory);
      await sync(source.directory);
      const stats = await lookAt(state.fs, newPath);
      return { realPath: target.realPath, stamp: stats && getStamp(stats) };
    } finally {
      await target.directory.handle.close();
    }
  } finally {
    await source.directory.handle.close();
  }
}

/** A link, unlike a rename, never replaces a file that appears meanwhile. */
async function giveName(
  { fs }: FilesState,
  { oldPath, newPath, to }: { oldPath: string; newPath: string; to: string },
): Promise<void> {
  try {
    await fs.link(oldPath, newPath);
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw exists(to);
    if (!noLinkCodes.has(systemCode(error))) throw error;
    if (await unlessMissing(fs.lstat(newPath))) throw exists(to);
    return await fs.rename(oldPath, newPath);
  }
  await fs.unlink(oldPath);
}

interface NamedFile {
  directory: HeldDirectory;
  name: string;
  realPath: string;
}

/** The path of the name itself: only its directory is followed. */
async function findName(state: FilesState, path: string, { isReal }: RemoveOptions): Promise<string> {
  const target = join(await lookUp(state, dirname(path), "write"), basename(path));
  if (isReal && target !== path) throw changed(path);
  return target;
}

async function openExisting(state: FilesState, path: string, options: RemoveOptions): Promise<NamedFile> {
  const realPath = await findName(state, path, options);
  const { directory, missing } = await openNearest(state, realPath, path);
  try {
    const name = basename(realPath);
    const stats = missing.length > 0 ? undefined : await unlessMissing(state.fs.lstat(join(directory.path, name)));
    await ask(state.guard, realPath, "write", stats?.nlink);
    if (!stats) throw new ToolsError("not_found", `There is no file ${path}.`);
    const kind = stats.isSymbolicLink() ? "a link" : getKind(stats);
    if (!stats.isFile()) throw new ToolsError("not_a_file", `${path} is ${kind}, not a file.`);
    return { directory, name, realPath };
  } catch (error) {
    await directory.handle.close();
    throw error;
  }
}

async function openNew(state: FilesState, path: string, options: RemoveOptions): Promise<NamedFile> {
  const realPath = await findName(state, path, options);
  const { directory, missing } = await openNearest(state, realPath, path);
  const name = basename(realPath);
  try {
    await ask(state.guard, realPath, "write");
    if (missing.length === 0 && (await unlessMissing(state.fs.lstat(join(directory.path, name))))) throw exists(path);
  } catch (error) {
    await directory.handle.close();
    throw error;
  }
  return { directory: await makeDirectories(state, directory, missing, path), name, realPath };
}

const exists = (path: string) => new ToolsError("overtaken", `${path} exists already. Nothing was moved.`);

/** Some file systems cannot sync a directory, and do not need to. */
const sync = (directory: HeldDirectory) => tolerate(directory.handle.sync(), "EINVAL", "ENOTSUP");

/**
 * Temporary files as commands in the sandbox see them. Commands have a directory of their own for `/tmp`, and the file tools
 * have to find there what a command wrote, and to write where a command looks.
 */
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Files } from "@tau/tools";
import { isWithin } from "@tau/tools/platform";

interface TemporaryFilesOptions {
  /** Directories such as `/tmp`, as people write them. */
  directories: readonly string[];
  /** Directories that are the same inside and outside, although they may be below a temporary one: the workspace. */
  getShared: () => readonly string[];
  /** Finds the path that commands see in their place; undefined where they see the same. */
  findInner: () => Promise<string | undefined>;
}

export const getTemporaryDirectories = (): readonly string[] => ["/tmp", "/var/tmp", tmpdir()];

/**
 * The files of a tool, with paths below the temporary directories led to where commands find them. A file that exists outside
 * only is the one outside.
 */
export function withTemporaryFiles(files: Files, { directories, getShared, findInner }: TemporaryFilesOptions): Files {
  const resolvePath = async (path: string): Promise<string> => {
    const outer = directories.find((directory) => isWithin(directory, path) && directory !== path);
    if (outer === undefined || getShared().some((directory) => isWithin(directory, path))) return path;
    const inner = await findInner();
    if (inner === undefined || isWithin(inner, path)) return path;
    const moved = join(inner, relative(outer, path));
    const exists = async (candidate: string) => (await files.stat(candidate)) !== undefined;
    return (await exists(moved)) || !(await exists(path)) ? moved : path;
  };
  return {
    openRead: async (path) => files.openRead(await resolvePath(path)),
    readWhole: async (path, ...rest) => files.readWhole(await resolvePath(path), ...rest),
    stat: async (path) => files.stat(await resolvePath(path)),
    list: async (path) => files.list(await resolvePath(path)),
    realPath: async (path, access) => files.realPath(await resolvePath(path), access),
    writeWhole: async (path, ...rest) => files.writeWhole(await resolvePath(path), ...rest),
    remove: async (path, ...rest) => files.remove(await resolvePath(path), ...rest),
    move: async (from, to, ...rest) => files.move(await resolvePath(from), await resolvePath(to), ...rest),
  };
}

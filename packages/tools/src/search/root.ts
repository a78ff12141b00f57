/** The root of a search, and how results are named. */
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { ToolsError } from "../errors.ts";
import { showName } from "../files/show-name.ts";
import { resolveExisting } from "../files/path.ts";
import type { Files } from "../platform/files.ts";

export interface SearchRoot {
  path: string;
  isDirectory: boolean;
  /** Where ripgrep runs, and what it is to search there. */
  cwd: string;
  target: string;
  /** Whether there is a `.git` in `cwd` or above it. */
  isInRepository: boolean;
  /** The name in results of a path that ripgrep reported. */
  show(reported: string): string;
}

/** Opens the root once, so that the guard of the files is asked. */
export async function openRoot({ files, cwd }: { files: Files; cwd: string }, typed: string): Promise<SearchRoot> {
  const path = await resolveExisting(files, cwd, typed);
  const stats = await files.stat(path);
  if (!stats) throw new ToolsError("not_found", `There is no file or directory ${typed}.`);
  const isDirectory = stats.isDirectory();
  if (isDirectory) await files.list(path);
  else await (await files.openRead(path)).close();
  const prefix = getPrefix(cwd, isDirectory ? path : dirname(path));
  // `files` may keep the files of a path elsewhere, which ripgrep does not know.
  const realPath = await files.realPath(path);
  const directory = isDirectory ? realPath : dirname(realPath);
  return {
    path,
    isDirectory,
    cwd: directory,
    target: isDirectory ? "./" : `./${basename(realPath)}`,
    isInRepository: await isInRepository(files, directory),
    show: (reported) => showName(prefix + (isDirectory ? inside(reported) : basename(path))),
  };
}

async function isInRepository(files: Files, realDirectory: string): Promise<boolean> {
  try {
    for (let path = realDirectory; ; path = dirname(path)) {
      if (await files.stat(join(path, ".git"))) return true;
      if (path === dirname(path)) return false;
    }
  } catch (error) {
    // A directory that may not be read counts as having none.
    if (error instanceof ToolsError && error.code === "denied") return false;
    throw error;
  }
}

/** Globs are relative to the root. Models give whole paths too: what those have of the root is cut off. */
export const toRelativeGlob = ({ path, cwd }: SearchRoot, glob: string): string => {
  const root = [path, cwd].find((directory) => glob.startsWith(`${directory}/`));
  return root === undefined ? glob : glob.slice(root.length);
};

/** For the model, when a glob chose nothing that may have been meant for another place; else empty. */
export const adviseOnGlob = (root: SearchRoot, glob: string): string =>
  /^[/~]/.test(glob) && toRelativeGlob(root, glob) === glob
    ? `[The glob is relative to ${root.path}. To search elsewhere, set path.]`
    : "";

/** The path below the root, without the `./` that keeps ripgrep from taking a name for an option. */
export const inside = (reported: string): string => (reported.startsWith("./") ? reported.slice(2) : reported);

/** Relative to where the agent works; beyond that, a chain of `..` would tell less than the whole path. */
function getPrefix(cwd: string, directory: string): string {
  const path = relative(cwd, directory);
  if (path === "") return "";
  const isOutside = path === ".." || path.startsWith("../") || isAbsolute(path);
  return `${isOutside ? directory : path}/`.replace(/^\/+$/, "/");
}

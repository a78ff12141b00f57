/** Finds the directories of the machine that a session for somebody else must not see: all but those of the system's programs. */
import { isWithin } from "@tau/tools/platform";
import { findRealPath, listNames, lookAtPath } from "./look.ts";

/** Names in the root directory that programs need, or that every sandbox has of its own. */
const systemNames = new Set("bin sbin lib lib32 lib64 libx32 usr etc nix gnu proc dev sys run tmp".split(" "));

/**
 * The directories to hide. `names` are those in the root directory. Of the system's directories, the one directly below is hidden if
 * the workspace is in it, such as `/usr/src`: its neighbours are there too. Pure.
 */
export function listOutsideDirectories(names: readonly string[], workspace: string): string[] {
  const [, first = "", second] = workspace.split("/");
  const besides = systemNames.has(first) && first !== "tmp" && second !== undefined ? [`/${first}/${second}`] : [];
  return [...names.filter((name) => !systemNames.has(name)).map((name) => `/${name}`), ...besides];
}

/** Only those that exist, by their real paths, and none that leads to a directory of the system. */
export const findOutsideDirectories = (workspace: string): string[] =>
  listOutsideDirectories(listNames("/"), workspace).filter(
    (path) =>
      path !== workspace &&
      findRealPath(path) === path &&
      lookAtPath(path)?.isDirectory() === true &&
      !isWithin(workspace, path),
  );

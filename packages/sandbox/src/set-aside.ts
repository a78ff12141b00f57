/** Takes files of a command out of the workspace, and keeps them where a person can look at them. */
import { cpSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "@tau/tools/platform";
import { getErrorMessage } from "@tau/ai/internal";
import { giveOwnerRights, inHeldDirectory } from "./held-directory.ts";
import { listNames, lookAtPath } from "./look.ts";

export type SetAsideOutcome =
  /** Where it is now. */
  | { readonly kind: "kept"; readonly path: string }
  /** It could not be kept, and was removed. */
  | { readonly kind: "removed"; readonly reason: string }
  /** It is still there. */
  | { readonly kind: "failed"; readonly reason: string };

export interface SetAside {
  /** A real path up to its last name. */
  (path: string): SetAsideOutcome;
}

/** `getId` must never give the same text twice. */
export function createSetAside(directory: string, getId: () => string): SetAside {
  return (path) => {
    const name = `${basename(path)}-${getId()}`;
    const outcome = inHeldDirectory(path, (held) => take(held, join(directory, name)));
    if (outcome === "beside") return { kind: "kept", path: join(dirname(path), name) };
    return outcome ?? { kind: "failed", reason: "its directory changed" };
  };
}

/** `beside`: it has the name of the target, in the directory where it was. */
function take(path: string, target: string, isOpened = false): SetAsideOutcome | "beside" {
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    if (!move(path, target)) return putBeside(path, target, "it is too large to be copied");
    return { kind: "kept", path: target };
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    if (isOpened || systemCode(error) !== "EACCES") return putBeside(path, target, getErrorMessage(error));
    giveOwnerRights(dirname(path));
    openAll(path);
    return take(path, target, true);
  }
}

function openAll(path: string): void {
  if (!lookAtPath(path)?.isDirectory()) return;
  giveOwnerRights(path);
  for (const name of listNames(path)) openAll(join(path, name));
}

/** Links are moved as they are, and followed nowhere. False where it would have to be copied and is too large. */
function move(path: string, target: string): boolean {
  try {
    renameSync(path, target);
    return true;
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
  }
  if (!isCheapToCopy(path)) return false;
  try {
    cpSync(path, target, { recursive: true, verbatimSymlinks: true });
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  }
  rmSync(path, { recursive: true, force: true });
  return true;
}

/** A full disk or a file that cannot be copied must not cost what a person may have put there. */
function putBeside(path: string, target: string, reason: string): SetAsideOutcome | "beside" {
  try {
    renameSync(path, join(dirname(path), basename(target)));
    return "beside";
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return remove(path, reason);
  }
}

const maxCopiedBytes = 16 * 1024 * 1024;
const maxCopiedFiles = 1_000;

/** A command can make a file of any size in no time, and everything waits for the copy. */
function isCheapToCopy(path: string): boolean {
  const paths = [path];
  let bytes = 0;
  for (let index = 0; index < paths.length; index++) {
    const stats = lookAtPath(paths[index]!);
    bytes += stats?.size ?? 0;
    if (stats?.isDirectory()) paths.push(...listNames(paths[index]!).map((name) => join(paths[index]!, name)));
    if (bytes > maxCopiedBytes || paths.length > maxCopiedFiles) return false;
  }
  return true;
}

function remove(path: string, reason: string): SetAsideOutcome {
  try {
    rmSync(path, { recursive: true, force: true });
    return { kind: "removed", reason };
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return { kind: "failed", reason: getErrorMessage(error) };
  }
}

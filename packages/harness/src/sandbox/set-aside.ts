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
    const target = join(directory, `${basename(path)}-${getId()}`);
    return inHeldDirectory(path, (held) => take(held, target)) ?? { kind: "failed", reason: "its directory changed" };
  };
}

function take(path: string, target: string, isOpened = false): SetAsideOutcome {
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    move(path, target);
    return { kind: "kept", path: target };
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    if (isOpened || systemCode(error) !== "EACCES") return remove(path, getErrorMessage(error));
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

/** Links are moved as they are, and followed nowhere. */
function move(path: string, target: string): void {
  try {
    renameSync(path, target);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    cpSync(path, target, { recursive: true, verbatimSymlinks: true });
    rmSync(path, { recursive: true, force: true });
  }
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

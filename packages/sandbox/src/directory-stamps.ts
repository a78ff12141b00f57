/** Recognises directories in which nothing was created, removed or renamed since they were last looked at. */
import { findRealPath, lookAtPath } from "./look.ts";

/**
 * The time of the last change has steps of some milliseconds: a change right after a look may have the same time as one
 * right before. So a directory that has changed only now is not remembered.
 */
export const recentMs = 50;

export class DirectoryStamps {
  readonly #stamps = new Map<string, string>();

  /** Its time of change cannot be set by a program. */
  isUnchanged(directory: string): boolean {
    const stamp = this.#stamps.get(directory);
    return stamp !== undefined && stamp === getStamp(directory);
  }

  /** Must be called before what is in the directory is looked at. */
  remember(directory: string): void {
    const stamp = getStamp(directory);
    if (stamp === undefined) this.#stamps.delete(directory);
    else this.#stamps.set(directory, stamp);
  }
}

/**
 * Reads the stamp of a directory and, for a link, of its target. Undefined if it has changed only now, or in the
 * future.
 */
function getStamp(directory: string): string | undefined {
  const link = lookAtPath(directory);
  if (!link) return "missing";
  const target = link.isSymbolicLink() ? lookAtPath(findRealPath(directory) ?? directory) : undefined;
  const all = [link, ...(target ? [target] : [])];
  if (all.some(({ ctimeMs }) => Date.now() - ctimeMs <= recentMs)) return undefined;
  return all.map(({ dev, ino, ctimeMs }) => `${dev} ${ino} ${ctimeMs}`).join(" ");
}

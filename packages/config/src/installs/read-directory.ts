/**
 * Reads directories of extensions and packages. Synchronous, because a start with no extensions should cost two calls of the system and
 * no module of Node that is not loaded already. What the system refuses is as if it were not there.
 */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { systemCode } from "@tau/tools/platform";

type Kind = "file" | "directory" | undefined;

/** In the order of their names. Links are followed. */
export function listEntries(directory: string): { name: string; kind: Kind }[] {
  // Asked first, because making an error takes longer than the call.
  if (getKind(directory) !== "directory") return [];
  const entries = orUndefinedSync(() => readdirSync(directory, { withFileTypes: true })) ?? [];
  return entries
    .map((entry) => ({
      name: entry.name,
      kind: entry.isSymbolicLink() ? getKind(join(directory, entry.name)) : toKind(entry),
    }))
    .sort((first, second) => (first.name < second.name ? -1 : 1));
}

const maxDepth = 6;
const maxFiles = 5_000;

/** All files below a directory as paths from it with slashes, sorted: without those of dependencies and hidden directories. */
export function listFiles(directory: string): string[] {
  const files: string[] = [];
  const search = (parent: string, depth: number): void => {
    if (depth > maxDepth) return;
    for (const entry of orUndefinedSync(() => readdirSync(join(directory, parent), { withFileTypes: true })) ?? []) {
      if (files.length >= maxFiles) return;
      const name = posix.join(parent, entry.name);
      if (!entry.isDirectory()) files.push(name);
      else if (entry.name !== "node_modules" && !entry.name.startsWith(".")) search(name, depth + 1);
    }
  };
  search("", 0);
  return files.sort();
}

/** Links are followed. */
export function getKind(path: string): Kind {
  const stats = orUndefinedSync(() => statSync(path, { throwIfNoEntry: false }));
  return stats && toKind(stats);
}

function toKind(entry: Pick<Dirent, "isFile" | "isDirectory">): Kind {
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : undefined;
}

/** Undefined when the system refuses: for what may be missing. */
export function orUndefinedSync<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

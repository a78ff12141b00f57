/**
 * Finds repositories below a workspace, and those that commands make there. Git and editors look into them without being
 * asked: the state of a project includes that of the repositories in it, and git runs what their configuration names.
 */
import type { Dirent } from "node:fs";
import { join } from "node:path";
import { DirectoryStamps } from "./directory-stamps.ts";
import { listEntries, lookAtPath } from "./look.ts";

const skipped = new Set(["node_modules", "vendor", "target", "dist", "build", ".git", ".venv", "venv"]);

export class RepositorySearch {
  readonly #stamps = new DirectoryStamps();
  /** Those that are looked at. */
  readonly #directories = new Set<string>();
  readonly #found = new Set<string>();
  readonly #workspace: string;
  readonly #maxDirectories: number;

  /** `maxDirectories`: how many are looked at, the nearest first. */
  constructor(workspace: string, maxDirectories = 1_500) {
    this.#workspace = workspace;
    this.#maxDirectories = maxDirectories;
    this.#directories.add(workspace);
    this.findNew();
  }

  /** Each `.git` below, of whatever kind, and directories that are repositories themselves; also some that are gone. */
  list(): readonly string[] {
    return [...this.#found];
  }

  /** Those that were not there at the last call. Only directories in which something has changed are read. */
  findNew(): string[] {
    const found: string[] = [];
    // Directories that are added are looked at in the same loop.
    for (const directory of this.#directories) {
      if (this.#stamps.isUnchanged(directory)) continue;
      this.#stamps.remember(directory);
      const entries = listEntries(directory);
      if (entries.length === 0 && !lookAtPath(directory)) this.#directories.delete(directory);
      if (directory !== this.#workspace) found.push(...findHere(directory, entries));
      for (const entry of entries) {
        if (this.#directories.size >= this.#maxDirectories) break;
        if (entry.isDirectory() && !skipped.has(entry.name)) this.#directories.add(join(directory, entry.name));
      }
    }
    const added = found.filter((path) => !this.#found.has(path));
    for (const path of added) this.#found.add(path);
    return added;
  }
}

function findHere(directory: string, entries: readonly Dirent[]): string[] {
  const names = new Set(entries.map(({ name }) => name));
  const isRepository = ["HEAD", "objects", "refs"].every((name) => names.has(name));
  return [...(names.has(".git") ? [join(directory, ".git")] : []), ...(isRepository ? [directory] : [])];
}

/**
 * Finds repositories below a workspace, and those that commands make there. Git and editors look into them without being
 * asked: the state of a project includes that of the repositories in it, and git runs what their configuration names.
 */
import type { Dirent } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { DirectoryStamps } from "../directory-stamps.ts";
import { findLinkedPaths } from "./index-file.ts";
import { findRealPath, listEntries, listNames, lookAtPath, readBytes, readText } from "../look.ts";

const skipped = new Set(["node_modules", "vendor", "target", "dist", "build", ".git", ".venv", "venv"]);
/** An index of a million files has less. */
const maxIndexBytes = 256 * 1024 * 1024;

export class RepositorySearch {
  readonly #stamps = new DirectoryStamps();
  /** The directories that are looked at. */
  readonly #directories = new Set<string>();
  readonly #found = new Set<string>();
  /** The repositories that an index names, by its path. */
  readonly #linked = new Map<string, readonly string[]>();
  /** Indexes that git would read and we do not: links, and files that are too large. */
  readonly #unread = new Set<string>();
  #acceptedUnread: ReadonlySet<string> = new Set();
  readonly #workspace: string;
  readonly #maxDirectories: number;

  /** `maxDirectories`: how many are looked at, the nearest first. */
  constructor(workspace: string, maxDirectories = 1_500) {
    this.#workspace = workspace;
    this.#maxDirectories = maxDirectories;
    this.#directories.add(workspace);
    this.findNew();
    this.acceptUnread();
  }

  /** Each `.git` below, of whatever kind, and directories that are repositories themselves; also some that are gone. */
  list(): readonly string[] {
    return [...this.#found];
  }

  /**
   * Finds the repositories that were not there at the last call. Only directories in which something has changed are read.
   */
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
    const added = new Set(found.filter((path) => !this.#found.has(path)));
    const above = findAbove(this.#workspace);
    if (above !== undefined) this.#addLinked(above, added);
    for (const path of this.#found) this.#addLinked(path, added);
    // Repositories that are added are looked at in the same loop.
    for (const path of added) this.#addLinked(path, added);
    for (const path of added) this.#found.add(path);
    return [...added];
  }

  /** Indexes for which nobody knows what they name, but for those that were accepted. */
  listUnread(): readonly string[] {
    return [...this.#unread].filter((path) => !this.#acceptedUnread.has(path));
  }

  /** Accepts the repositories that are there now: no command made them. */
  acceptUnread(): void {
    this.#acceptedUnread = new Set(this.#unread);
  }

  /** Git looks into the repositories that an index names wherever they are, also in directories that are not searched. */
  #addLinked(dotGit: string, added: Set<string>): void {
    for (const path of this.#getLinked(dotGit)) {
      const root = resolve(dirname(dotGit), path);
      const linked = join(root, ".git");
      if (root === this.#workspace || !isWithin(this.#workspace, root) || this.#found.has(linked)) continue;
      // What a link leads to is not looked at, and neither does git.
      if (lookAtPath(linked) && findRealPath(root) === root) added.add(linked);
    }
  }

  /** Read again only if the index has changed. A repository may be made later than the entry for it. */
  #getLinked(dotGit: string): readonly string[] {
    const file = readText(dotGit)?.match(/^gitdir: (.+)$/m)?.[1];
    const directory = file === undefined ? dotGit : resolve(dirname(dotGit), file);
    const index = join(directory, "index");
    const known = this.#linked.get(index);
    if (known && this.#stamps.isUnchanged(index)) return known;
    this.#stamps.remember(index);
    const shared = listNames(directory).filter((name) => name.startsWith("sharedindex."));
    const [bytes, ...others] = [index, ...shared.map((name) => join(directory, name))].map((path) =>
      this.#readIndex(path),
    );
    const paths = bytes
      ? findLinkedPaths(
          bytes,
          others.flatMap((other) => other ?? []),
        )
      : [];
    this.#linked.set(index, paths);
    return paths;
  }

  #readIndex(path: string): Buffer | undefined {
    const bytes = readBytes(path, maxIndexBytes);
    if (bytes || !lookAtPath(path)) this.#unread.delete(path);
    else this.#unread.add(path);
    return bytes;
  }
}

/** The `.git` that git finds from here. */
export function findAbove(workspace: string): string | undefined {
  for (let directory = workspace; ; directory = dirname(directory)) {
    const path = join(directory, ".git");
    if (lookAtPath(path)) return path;
    if (directory === dirname(directory)) return undefined;
  }
}

function findHere(directory: string, entries: readonly Dirent[]): string[] {
  const names = new Set(entries.map(({ name }) => name));
  const isRepository = ["HEAD", "objects", "refs"].every((name) => names.has(name));
  return [...(names.has(".git") ? [join(directory, ".git")] : []), ...(isRepository ? [directory] : [])];
}

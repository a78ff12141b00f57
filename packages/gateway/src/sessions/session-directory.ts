/**
 * The session files of one directory with their times. The directory is watched, so that a list looks only at what has
 * changed; one that cannot be watched is read again each time.
 */
import { type FSWatcher, type Stats, statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { isSessionFile } from "@tau/harness/session";

export interface SessionFile {
  readonly directory: string;
  readonly name: string;
  /** Whole milliseconds. */
  readonly modifiedMs: number;
  readonly size: number;
}

/** A file that was added, changed or removed. */
export interface FileChange {
  readonly before: SessionFile | undefined;
  readonly after: SessionFile | undefined;
}

/** After so many files, other work gets its turn. */
const filesPerTurn = 64;

export class SessionDirectory {
  readonly #path: string;
  readonly #files = new Map<string, SessionFile>();
  /** Names to look at; undefined: all. */
  #changed: Set<string> | undefined;
  #watcher: FSWatcher | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get files(): Iterable<SessionFile> {
    return this.#files.values();
  }

  /** Marks a file that this process has written: the system may report it later. */
  markChanged(name: string): void {
    this.#changed?.add(name);
  }

  /** Looks at what has changed since the last call. Undefined: everything may have. */
  async refresh(): Promise<FileChange[] | undefined> {
    // Before the files are looked at, so that no change is missed.
    this.#watcher ??= this.#watch();
    const changed = this.#changed;
    this.#changed = this.#watcher && new Set();
    const names = changed ?? (await this.#listNames());
    if (!changed) this.#files.clear();
    const changes: FileChange[] = [];
    let count = 0;
    for (const name of names) {
      const before = this.#files.get(name);
      const after = this.#look(name);
      if (after) this.#files.set(name, after);
      else this.#files.delete(name);
      changes.push({ before, after });
      if (++count % filesPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return changed && changes;
  }

  /** Without waiting: it takes microseconds, and to wait for it ten times as long. */
  #look(name: string): SessionFile | undefined {
    const stats = statOrNone(join(this.#path, name));
    if (!stats?.isFile()) return undefined;
    return { directory: this.#path, name, modifiedMs: Math.trunc(stats.mtimeMs), size: stats.size };
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#changed = undefined;
  }

  /** A directory that cannot be read now, such as without permission, is taken for empty until the next call. */
  async #listNames(): Promise<string[]> {
    const names = await readdir(this.#path).catch(() => undefined);
    if (!names) this.#changed = undefined;
    return (names ?? []).filter(isSessionFile);
  }

  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#path, { persistent: false }, (_kind, name) => {
        if (name === null) this.#changed = undefined;
        // The directory itself was moved or removed. There may be another one of this name.
        else if (name === basename(this.#path)) this.close();
        else if (isSessionFile(name)) this.#changed?.add(name);
      });
      watcher.on("error", () => this.close());
      return watcher;
    } catch (error) {
      // Not there any more, or too many are watched: then it is read each time.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return undefined;
    }
  }
}

/** Undefined for what cannot be looked at, for whatever reason: it must not hide the others. */
function statOrNone(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

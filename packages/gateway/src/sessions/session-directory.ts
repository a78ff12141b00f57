/**
 * The session files of one directory with their times. The directory is watched, so that a list looks only at what has
 * changed; one that cannot be watched is read again each time.
 */
import { type FSWatcher, watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSessionFile } from "@tau/harness/session";
import { unlessMissing } from "@tau/tools/platform";

export interface SessionFile {
  readonly directory: string;
  readonly name: string;
  /** Whole milliseconds. */
  readonly modifiedMs: number;
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

  /** A file that this process has written: the system may tell it later. */
  markChanged(name: string): void {
    this.#changed?.add(name);
  }

  /** Looks at what has changed since the last call. Answers whether something has. */
  async refresh(): Promise<boolean> {
    // Before the files are looked at, so that no change is missed.
    this.#watcher ??= this.#watch();
    const changed = this.#changed;
    this.#changed = this.#watcher && new Set();
    const names = changed ?? (await this.#listNames());
    if (!changed) this.#files.clear();
    let count = 0;
    for (const name of names) {
      const stats = await unlessMissing(stat(join(this.#path, name)));
      if (stats?.isFile()) {
        this.#files.set(name, { directory: this.#path, name, modifiedMs: Math.trunc(stats.mtimeMs) });
      } else this.#files.delete(name);
      if (++count % filesPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return changed === undefined || changed.size > 0;
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#changed = undefined;
  }

  async #listNames(): Promise<string[]> {
    return ((await unlessMissing(readdir(this.#path))) ?? []).filter(isSessionFile);
  }

  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#path, { persistent: false }, (_kind, name) => {
        if (name === null) this.#changed = undefined;
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

/**
 * Watches each file and directory once for all who ask: a process with thousands of sessions has the same directories in each,
 * and the system would report every change there to every one of them.
 */
import { type FSWatcher, watch } from "node:fs";
import { basename } from "node:path";

interface WatchListener {
  onChange(): void;
  /** The path is no longer watched. */
  onError(error: Error): void;
}

interface SharedWatcher {
  readonly watcher: FSWatcher;
  /** Listeners for every change. */
  readonly all: Set<WatchListener>;
  /** Listeners for single entries of the directory, by name. */
  readonly named: Map<string, Set<WatchListener>>;
}

export class SharedWatchers {
  readonly #watchers = new Map<string, SharedWatcher>();

  /**
   * Calls the listener after changes of what is at the path. `inode`: another file or directory at the same path has a watcher of
   * its own. `names`: only these entries of a directory; undefined for every change. Throws if the system refuses. Returns how to
   * end it.
   */
  watch(path: string, inode: string, names: ReadonlySet<string> | undefined, listener: WatchListener): () => void {
    const key = `${inode} ${path}`;
    const shared = this.#watchers.get(key) ?? this.#open(path, key);
    const sets = names === undefined ? [shared.all] : Array.from(names, (name) => getNamed(shared, name));
    for (const set of sets) set.add(listener);
    return () => {
      for (const set of sets) set.delete(listener);
      for (const name of names ?? []) if (shared.named.get(name)?.size === 0) shared.named.delete(name);
      if (shared.all.size + shared.named.size === 0) this.#close(key, shared);
    };
  }

  #open(path: string, key: string): SharedWatcher {
    const own = basename(path);
    const watcher = watch(path, { persistent: false }, (_kind, changed) => {
      // A directory that is itself moved or removed reports its own name.
      const isForAll = changed === null || changed === own;
      const named = isForAll ? [...shared.named.values()] : [shared.named.get(changed) ?? []];
      for (const listener of new Set([shared.all, ...named].flatMap((set) => [...set]))) listener.onChange();
    });
    const shared: SharedWatcher = { watcher, all: new Set(), named: new Map() };
    watcher.on("error", (error) => {
      this.#close(key, shared);
      const listeners = new Set([shared.all, ...shared.named.values()].flatMap((set) => [...set]));
      for (const listener of listeners) listener.onError(error);
    });
    this.#watchers.set(key, shared);
    return shared;
  }

  #close(key: string, shared: SharedWatcher): void {
    shared.watcher.close();
    if (this.#watchers.get(key) === shared) this.#watchers.delete(key);
  }
}

function getNamed({ named }: SharedWatcher, name: string): Set<WatchListener> {
  const known = named.get(name) ?? new Set();
  named.set(name, known);
  return known;
}

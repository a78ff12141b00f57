/**
 * Notices every way in which a file is saved: written in place, truncated and written, replaced by a rename, removed and
 * created again, also together with its directory. The first two are noticed at the file, the rest at its directory, or
 * at the nearest directory above it that exists. The target of a link is watched like the link.
 */
import { type FSWatcher, readlinkSync, type Stats, statSync, watch } from "node:fs";
import { basename, dirname, relative, resolve, sep } from "node:path";
import { type Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";

export interface FileWatch {
  close(): void;
}

export interface WatchOptions {
  readonly clock: Clock;
  /** Called `quietMs` after something may have changed, once for all changes in between. */
  onChange(): void;
  /** Called with a sentence when a file or directory cannot be watched. The others are watched all the same. */
  onError(message: string): void;
}

/** Long enough for an editor that saves in several steps; too short for the user to notice. */
export const quietMs = 30;

interface Target {
  readonly path: string;
  /** The one name to watch in a directory; undefined if the path is the file itself. */
  readonly name: string | undefined;
}

interface Watched {
  readonly inode: string;
  readonly watcher: FSWatcher;
}

export function watchFiles(files: readonly string[], { clock, onChange, onError }: WatchOptions): FileWatch {
  const watched = new Map<string, Watched>();
  let cancelTimer: (() => void) | undefined;
  let isClosed = false;

  // Later changes do not restart the timer: a program that saves without a pause is noticed too.
  const startTimer = () => {
    if (!isClosed) cancelTimer ??= clock.setTimer(quietMs, onTimer);
  };
  const onTimer = () => {
    cancelTimer = undefined;
    updateWatchers();
    onChange();
  };
  const updateWatchers = () => {
    const targets = files.flatMap(getTargets);
    const wanted = new Map(targets.map((target) => [`${target.path}\0${target.name ?? ""}`, target]));
    for (const [key, { watcher, inode }] of watched) {
      const target = wanted.get(key);
      if (target && getInode(getStat(target.path)) === inode) continue;
      watcher.close();
      watched.delete(key);
    }
    for (const [key, target] of wanted) if (!watched.has(key)) watchTarget(key, target);
  };
  const watchTarget = (key: string, { path, name }: Target) => {
    const inode = getInode(getStat(path));
    try {
      const watcher = watch(path, { persistent: false }, (_kind, changed) => {
        // A directory that is itself moved or removed reports its own name.
        if (name === undefined || changed === null || changed === name || changed === basename(path)) startTimer();
      });
      watcher.on("error", (error) => onError(`${path} is no longer watched: ${getErrorMessage(error)}.`));
      watched.set(key, { inode, watcher });
    } catch (error) {
      // It was removed meanwhile. The nearest directory that is left is watched next time.
      if (systemCode(error) === "ENOENT") startTimer();
      else onError(`${path} cannot be watched: ${getErrorMessage(error)}.`);
    }
  };

  updateWatchers();
  // For changes from before the watchers were there.
  startTimer();
  return {
    close() {
      isClosed = true;
      cancelTimer?.();
      for (const { watcher } of watched.values()) watcher.close();
      watched.clear();
    },
  };
}

/** Links may form a circle. */
const maxLinks = 8;

function getTargets(file: string): Target[] {
  const targets = [getNearest(file)];
  // The targets of links, also while they are missing.
  for (let path = file, links = 0; links < maxLinks; links++) {
    const target = ifPossible(() => readlinkSync(path));
    if (target === undefined) break;
    path = resolve(dirname(path), target);
    targets.push(getNearest(path));
  }
  // A pipe or a device is neither watched nor read.
  if (getStat(file)?.isFile()) targets.push({ path: file, name: undefined });
  return targets;
}

/** The nearest directory above the file that exists, and the name in it that leads to the file. */
function getNearest(file: string): Target {
  let directory = dirname(file);
  while (!getStat(directory)?.isDirectory() && dirname(directory) !== directory) directory = dirname(directory);
  const [name] = relative(directory, file).split(sep);
  return { path: directory, name };
}

const getStat = (path: string): Stats | undefined => ifPossible(() => statSync(path, { throwIfNoEntry: false }));

/** Undefined if the system refuses. Reading the file reports why; here it is only not watched. */
function ifPossible<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

const getInode = (stats: Stats | undefined): string => (stats ? `${stats.dev}:${stats.ino}` : "");

/**
 * Sees every way in which a file is saved: written in place, truncated and written, replaced by a rename, removed and
 * made again, also with its directory. Watches the file for the first two, and its directory, or what there is of it,
 * for the rest; a link's target is watched like the link.
 */
import { type FSWatcher, readlinkSync, type Stats, statSync, watch } from "node:fs";
import { basename, dirname, relative, resolve, sep } from "node:path";
import { type Clock, getErrorMessage } from "@tau/ai";
import { systemCode } from "@tau/tools/platform";

export interface FileWatch {
  close(): void;
}

export interface WatchOptions {
  readonly clock: Clock;
  /** Called a moment after something may have changed, once for all that happened in between. */
  onChange(): void;
  /** Called when something cannot be watched. What can be is. */
  onTrouble(message: string): void;
}

/** Long enough for a save in several steps; too short to be noticed. */
export const quietMs = 30;

/** What is watched: a file, or a directory for one name in it. */
interface Target {
  readonly path: string;
  readonly name: string | undefined;
}

interface Watched {
  readonly inode: string;
  readonly watcher: FSWatcher;
}

export function watchFiles(files: readonly string[], { clock, onChange, onTrouble }: WatchOptions): FileWatch {
  const watched = new Map<string, Watched>();
  let cancel: (() => void) | undefined;
  let isClosed = false;

  // Not put off by what follows: who saves without end is seen all the same.
  const wake = () => {
    if (!isClosed) cancel ??= clock.setTimer(quietMs, look);
  };
  const look = () => {
    cancel = undefined;
    arm();
    onChange();
  };
  const arm = () => {
    const targets = files.flatMap(getTargets);
    const wanted = new Map(targets.map((target) => [`${target.path}\0${target.name ?? ""}`, target]));
    for (const [key, { watcher, inode }] of watched) {
      const target = wanted.get(key);
      if (target && getInode(getStat(target.path)) === inode) continue;
      watcher.close();
      watched.delete(key);
    }
    for (const [key, target] of wanted) if (!watched.has(key)) start(key, target);
  };
  const start = (key: string, { path, name }: Target) => {
    const inode = getInode(getStat(path));
    try {
      const watcher = watch(path, { persistent: false }, (_kind, changed) => {
        // A directory that is itself moved or removed reports its own name.
        if (name === undefined || changed === null || changed === name || changed === basename(path)) wake();
      });
      watcher.on("error", (error) => onTrouble(`${path} is no longer watched: ${getErrorMessage(error)}`));
      watched.set(key, { inode, watcher });
    } catch (error) {
      // Gone again already: what is left of it is watched, and tells.
      if (systemCode(error) === "ENOENT") wake();
      else onTrouble(`${path} cannot be watched: ${getErrorMessage(error)}`);
    }
  };

  arm();
  // For what happened before anybody watched.
  wake();
  return {
    close() {
      isClosed = true;
      cancel?.();
      for (const { watcher } of watched.values()) watcher.close();
      watched.clear();
    },
  };
}

/** Links may go round in circles. */
const maxLinks = 8;

function getTargets(file: string): Target[] {
  const targets = [nearest(file)];
  // A link's target too, also while it is missing, and the target of that.
  for (let at = file, links = 0; links < maxLinks; links++) {
    const target = ifPossible(() => readlinkSync(at));
    if (target === undefined) break;
    at = resolve(dirname(at), target);
    targets.push(nearest(at));
  }
  // A pipe or a device is nothing to be watched, or read.
  if (getStat(file)?.isFile()) targets.push({ path: file, name: undefined });
  return targets;
}

/** The nearest directory that is there, and the name in it on the way to the file. */
function nearest(file: string): Target {
  let directory = dirname(file);
  while (!getStat(directory)?.isDirectory() && dirname(directory) !== directory) directory = dirname(directory);
  const [name] = relative(directory, file).split(sep);
  return { path: directory, name };
}

const getStat = (path: string): Stats | undefined => ifPossible(() => statSync(path, { throwIfNoEntry: false }));

/** Whoever reads the file says what is wrong with it; here it is only not to be watched. */
function ifPossible<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

const getInode = (stats: Stats | undefined): string => (stats ? `${stats.dev}:${stats.ino}` : "");

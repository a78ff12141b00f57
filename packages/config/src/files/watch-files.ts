/**
 * Notices every way in which a file is saved: written in place, truncated and written, replaced by a rename, removed and
 * created again, also together with its directory. The first two are noticed at the file, the rest at its directory, or
 * at the nearest directory above it that exists. The target of a link is watched like the link. In a directory every
 * entry is reported, but nothing below its subdirectories.
 */
import { lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { type Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";
import { SharedWatchers } from "./shared-watchers.ts";

export interface FileWatch {
  close(): void;
}

export interface WatchOptions {
  readonly clock: Clock;
  /** Called `quietMs` after something may have changed, once for all changes in between, and after `firstCheckMs`. */
  onChange(): void;
  /** Called with a sentence when a file or directory cannot be watched. The others are watched all the same. */
  onError(message: string): void;
}

/** Long enough for an editor that saves in several steps; too short for the user to notice. */
const quietMs = 30;

/** For changes from before the watchers were there. Late, because a program that is starting has more urgent work. */
export const firstCheckMs = 1_000;

/** A system has a limit for all programs together, which may be as low as 8,192. */
const maxWatched = 1_000;

/** The paths to watch. In a directory only these names are watched; undefined for a file, and for all names of a directory. */
type Targets = Map<string, Set<string> | undefined>;

interface Watched {
  readonly inode: string;
  readonly names: Set<string> | undefined;
  readonly stop: () => void;
}

/** The system's watchers belong to the process. */
const sharedWatchers = new SharedWatchers();

/** `paths` are files and directories, which need not exist. */
export function watchFiles(paths: readonly string[], { clock, onChange, onError }: WatchOptions): FileWatch {
  const watched = new Map<string, Watched>();
  let cancelTimer: (() => void) | undefined;
  let isClosed = false;

  // Later changes do not restart the timer: a program that saves without a pause is noticed too.
  const startTimer = () => {
    if (!isClosed) cancelTimer ??= clock.setTimer(quietMs, onTimer);
  };
  const onTimer = () => {
    cancelFirstCheck();
    cancelTimer = undefined;
    updateWatchers();
    onChange();
  };
  const updateWatchers = () => {
    const targets = getTargets(paths);
    for (const [path, { inode, names }] of watched) {
      const isSame = targets.has(path) && isEqual(targets.get(path), names) && getInode(getStat(path)) === inode;
      if (!isSame) unwatch(path);
    }
    for (const [path, names] of targets) {
      if (watched.has(path)) continue;
      if (watched.size < maxWatched) watchPath(path, names);
      else return onError(`${path} is not watched: there are more than ${maxWatched} files and directories.`);
    }
  };
  const unwatch = (path: string) => {
    watched.get(path)?.stop();
    watched.delete(path);
  };
  const watchPath = (path: string, names: Set<string> | undefined) => {
    const inode = getInode(getStat(path));
    try {
      const stop = sharedWatchers.watch(path, inode, names, {
        onChange: startTimer,
        onError: (error) => {
          unwatch(path);
          onError(`${path} is no longer watched: ${getErrorMessage(error)}.`);
        },
      });
      watched.set(path, { inode, names, stop });
    } catch (error) {
      // It was removed meanwhile. The nearest directory that is left is watched next time.
      if (systemCode(error) === "ENOENT") startTimer();
      else onError(`${path} cannot be watched: ${getErrorMessage(error)}.`);
    }
  };

  updateWatchers();
  const cancelFirstCheck = clock.setTimer(firstCheckMs, onTimer);
  return {
    close() {
      isClosed = true;
      cancelFirstCheck();
      cancelTimer?.();
      for (const path of watched.keys()) unwatch(path);
    },
  };
}

const isEqual = (one: Set<string> | undefined, other: Set<string> | undefined): boolean =>
  one === other || (one?.size === other?.size && [...(one ?? [])].every((name) => other?.has(name)));

/** Links may form a circle. */
const maxLinks = 8;

function getTargets(paths: readonly string[]): Targets {
  const targets: Targets = new Map();
  for (const path of paths) {
    addNearest(targets, path);
    // The targets of links, also while they are missing.
    for (let link = path, links = 0; links < maxLinks; links++) {
      const target = readLink(link);
      if (target === undefined) break;
      link = resolve(dirname(link), target);
      addNearest(targets, link);
    }
    const stats = getStat(path);
    // A pipe or a device is neither watched nor read.
    if (stats?.isFile() || stats?.isDirectory()) targets.set(path, undefined);
  }
  return targets;
}

/** The nearest directory above the path that exists, and the name in it that leads to the path. */
function addNearest(targets: Targets, path: string): void {
  let directory = dirname(path);
  while (!getStat(directory)?.isDirectory() && dirname(directory) !== directory) directory = dirname(directory);
  const [name = ""] = relative(directory, path).split(sep);
  if (!targets.has(directory)) targets.set(directory, new Set());
  targets.get(directory)?.add(name);
}

/** The target of a link; undefined for anything else. Most paths are no links, and an exception for each takes long. */
const readLink = (path: string): string | undefined =>
  ifPossible(() =>
    lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : undefined,
  );

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

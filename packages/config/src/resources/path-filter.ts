/**
 * The lists of skills and prompt templates in the settings. A path adds files; `!glob` leaves out what matches, `+path`
 * includes a file or directory in spite of that, and `-path` leaves one out in any case. Pure.
 */
import { isBuiltinEntry } from "./builtin-entries.ts";
import { basename, dirname, resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { matchesGlob } from "../models/scope.ts";

export interface PathFilter {
  /** The paths that the list adds. */
  roots: readonly string[];
  /** Whether a file that was found is used. */
  includes(file: string): boolean;
}

/** Paths are absolute, see `resolvePathEntry`. The files below `always` are used whatever the list says. */
export function createPathFilter(entries: readonly string[], always: readonly string[] = []): PathFilter {
  const withSign = (sign: string) =>
    entries.filter((entry) => entry.startsWith(sign)).map((entry) => entry.slice(sign.length));
  const [globs, included, excluded] = [withSign("!"), withSign("+"), withSign("-")];
  const plain = entries.filter((entry) => !/^[!+-]/.test(entry));
  const isBelow = (paths: readonly string[], file: string) => paths.some((path) => isWithin(path, file));
  return {
    roots: [...plain, ...included],
    includes(file) {
      if (isBelow(always, file)) return true;
      if (isBelow(excluded, file)) return false;
      return isBelow(included, file) || !globs.some((glob) => matchesFile(glob, file));
    },
  };
}

/** A glob without a slash is the name of a file or of a skill's directory; any other is a path. `*` matches slashes too. */
function matchesFile(glob: string, file: string): boolean {
  const names = basename(file) === "SKILL.md" ? [file, dirname(file)] : [file];
  return names.some((path) => matchesGlob(glob, glob.includes("/") ? path : basename(path)));
}

/** Makes the path of an entry absolute. A glob that is a name, or that begins with `*`, matches in every directory. */
export function resolvePathEntry(entry: string, directory: string, fromHome: (path: string) => string): string {
  if (isBuiltinEntry(entry)) return entry;
  const sign = /^[!+-]/.exec(entry)?.[0] ?? "";
  const path = fromHome(entry.slice(sign.length));
  if (sign === "!" && (path.startsWith("*") || !path.includes("/"))) return sign + path;
  return sign + resolve(directory, path);
}

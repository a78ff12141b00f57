/** Decides which resources of a package are used. */
import { posix } from "node:path";
import { matchWildcards } from "@tau/ai/internal";
import { matchesGlob } from "../models/scope.ts";
import { listFiles } from "./read-directory.ts";

/**
 * `names` are paths in the package, and the result are some of them. A plain entry is a path or a glob: with any of them
 * only what matches applies, and an empty list leaves out everything. `!glob` leaves out what matches, `+path` includes one
 * in spite of that, and `-path` leaves one out in any case. Each list is applied to what the one before it left, but its
 * `+path` includes any resource again. Without a list everything applies.
 */
export const filterResources = (names: readonly string[], lists: readonly (readonly string[])[]): string[] =>
  lists.reduce<string[]>((left, list) => applyList(names, left, list), [...names]);

function applyList(names: readonly string[], left: readonly string[], list: readonly string[]): string[] {
  const withSign = (sign: string) => list.filter((entry) => entry.startsWith(sign)).map((entry) => entry.slice(1));
  const [globs, included, excluded] = [withSign("!"), withSign("+"), withSign("-")];
  const plain = list.filter((entry) => !/^[!+-]/.test(entry));
  const isAny = plain.length === 0 && list.length > 0;
  return names.filter((name) => {
    if (excluded.some((path) => isAt(name, path))) return false;
    if (included.some((path) => isAt(name, path))) return true;
    return (
      left.includes(name) &&
      (isAny || plain.some((pattern) => matches(name, pattern))) &&
      !globs.some((glob) => matches(name, glob))
    );
  });
}

const toName = (path: string): string => posix.normalize(path).replace(/\/$/, "");
const isAt = (name: string, path: string): boolean => name === toName(path) || name.startsWith(`${toName(path)}/`);

/** A glob without a slash is a name in any directory, also that of a skill. `*` matches slashes too. */
function matches(name: string, pattern: string): boolean {
  if (isAt(name, pattern)) return true;
  const glob = pattern.replaceAll(/(\*\*\/|\*)+/g, "*");
  if (glob.includes("/")) return matchesGlob(toName(glob), name);
  const names = posix.basename(name) === "SKILL.md" ? [name, posix.dirname(name)] : [name];
  return names.some((each) => matchesGlob(glob, posix.basename(each)));
}

/**
 * The files below a directory that a glob of a manifest names, as paths from there. Unlike in filters, which leave out
 * rather too much, `*` matches within one name only, and `**` any directories: what is found is loaded.
 */
export function findMatches(directory: string, glob: string): string[] {
  const parts = toName(glob).split("/");
  const isAnyDirectories = (part: string) => part === "**";
  return listFiles(directory).filter((name) => matchWildcards(parts, name.split("/"), isAnyDirectories, matchesGlob));
}

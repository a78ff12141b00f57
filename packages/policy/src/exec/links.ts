/** Follows links in paths, part by part as the kernel does. Pure: what is on the disk comes through a port. */
import { hasPattern, isCheapPattern, toRegExp } from "./shell/pattern.ts";
import { isKnown, unknownMark } from "./shell/text.ts";

/** Returns the target of a symbolic link as it is written there; undefined for anything else. */
export type ReadLink = (path: string) => string | undefined;

/** Begins paths that lead through a link whose target is not known. */
const unresolvedRoot = `${unknownMark}link`;

export const isUnresolved = (path: string): boolean => path.startsWith(unresolvedRoot);

/** The target of a link that cannot be known. */
export const unresolvedTarget = unknownMark;

interface FollowOptions {
  /** Links that the script itself makes, by their paths, each with every target that it may have. */
  links: ReadonlyMap<string, readonly string[]>;
  readLink: ReadLink | undefined;
  /** Whether a link at the end of the path is meant itself, as `rm LINK` means it. */
  keepsLast: boolean;
}

const maxPaths = 8;
const maxLinks = 16;
const maxWalks = 256;

/**
 * Every path that an absolute path may lead to. It may have `.` and `..`, which are followed after the link before them.
 * A link that the script makes may also be missing, so the path without it is among the results.
 */
export function followLinks(path: string, { links, readLink, keepsLast }: FollowOptions): string[] {
  const results = new Set<string>();
  const isEntry = keepsLast && !/\/\.?$/.test(path);
  let walks = 0;

  function walk(resolved: string, rest: readonly string[], count: number): void {
    if (results.size >= maxPaths) return;
    if (++walks > maxWalks) {
      results.add(`${unresolvedRoot}/${rest.join("/")}`);
      return;
    }
    const [part, ...others] = rest;
    if (part === undefined) {
      results.add(resolved || "/");
      return;
    }
    if (part === "" || part === ".") return walk(resolved, others, count);
    if (part === "..") return walk(resolved.slice(0, Math.max(resolved.lastIndexOf("/"), 0)), others, count);
    const next = `${resolved}/${part}`;
    if (isEntry && others.length === 0) return walk(next, others, count);
    const own = findOwn(links, resolved, part);
    const onDisk = isOnDisk(next) ? readLink?.(next) : undefined;
    for (const target of onDisk === undefined ? own : [...own, onDisk]) {
      if (count >= maxLinks || !isKnown(target)) results.add(`${unresolvedRoot}/${[part, ...others].join("/")}`);
      else if (target.startsWith("/")) walk("", [...target.split("/"), ...others], count + 1);
      else walk(resolved, [...target.split("/"), ...others], count + 1);
    }
    if (onDisk === undefined) walk(next, others, count);
  }

  walk("", path.split("/"), 0);
  return [...results];
}

/** Devices and processes are other files each time that somebody looks. */
const isOnDisk = (path: string) => isKnown(path) && !hasPattern(path) && !/^\/(?:dev|proc)(?:\/|$)/.test(path);

/** The targets of links in a directory that a name or a pattern means. */
function findOwn(links: FollowOptions["links"], directory: string, name: string): readonly string[] {
  if (links.size === 0) return [];
  if (!hasPattern(name) || !isCheapPattern(name)) return links.get(`${directory}/${name}`) ?? [];
  const pattern = toRegExp(name);
  return [...links].flatMap(([path, targets]) => {
    const start = path.lastIndexOf("/");
    return path.slice(0, start) === directory && pattern.test(path.slice(start + 1)) ? targets : [];
  });
}

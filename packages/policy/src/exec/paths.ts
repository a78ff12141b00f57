/** Where paths lead by their text. Links are followed in `links.ts`. Pure. */
import { posix } from "node:path";
import type { ExecContext } from "./classification.ts";
import { unknownMark } from "./shell/text.ts";

/** An absolute path without `.`, `..` and double slashes; unknown parts and glob characters stay in it. */
export const resolvePath = (path: string, directory: string, home: string): string =>
  normalisePath(toAbsolute(path, directory, home));

/** The path from the root, with `.`, `..` and double slashes as they are. */
export function toAbsolute(path: string, directory: string, home: string): string {
  const expanded = path === "~" || path.startsWith("~/") ? home + path.slice(1) : path;
  return expanded.startsWith("/") || expanded.startsWith(unknownMark) ? expanded : `${directory}/${expanded}`;
}

export const normalisePath = (absolute: string): string => withoutAliases(normalise(absolute));

function normalise(path: string): string {
  const isUnknown = path.startsWith(unknownMark);
  const normal = posix.normalize(isUnknown ? `/${path}` : path).replace(/(?<=.)\/$/, "");
  return isUnknown && normal.startsWith(`/${unknownMark}`) ? normal.slice(1) : normal;
}

/** `/proc/self/root`, `/proc/self/cwd` and such are other names of ordinary directories. */
function withoutAliases(path: string): string {
  let result = path;
  for (let count = 0; count < 8; count++) {
    const next = result
      .replace(/^\/proc\/(?:self|thread-self|\d+|\uFFFF)(?:\/task\/[^/]+)?\/root(?=\/|$)/, "")
      .replace(/^\/private(?=\/(?:etc|var|tmp)(?:\/|$))/, "")
      .replace(/^\/dev\/disk\/\.\.(?=\/)/, "/dev");
    if (next === result) return result || "/";
    result = next === "" ? "/" : next;
  }
  return result;
}

/** The meaning of a path to the person, from the worst to the best. */
export type Zone =
  /** `/`, a directory that the system needs, or a directory above the home or the workspace. */
  | "root"
  /** Below a directory of the system. */
  | "system"
  | "home"
  /** Below the home directory. */
  | "in-home"
  | "workspace"
  /** `.git` and the like below the workspace. */
  | "repository"
  | "in-workspace"
  | "temp"
  | "in-temp"
  | "outside"
  | "unknown";

const systemDirectories = new Set(
  "bin boot dev etc lib lib32 lib64 libx32 opt proc root sbin srv sys usr var home users system library applications mnt media run nix snap volumes cores".split(
    " ",
  ),
);
const tempDirectories = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/var/folders"];

export const isBelow = (path: string, directory: string): boolean =>
  directory === "/" ? path.length > 1 && path.startsWith("/") : path.startsWith(`${directory}/`);

const anyName = new RegExp(`^(?:\\*+|\\.\\*|\\.\\[!?\\^?\\.\\]\\*|\\?\\*?|\\.?${unknownMark}|[*?.${unknownMark}]+)$`);

/**
 * The directory whose whole content a path means: `/etc/*` means `/etc`. A path with a fixed name in every part means
 * itself. A pattern in the middle is cut off, unless a fixed name follows it.
 */
export function toCoveredPath(path: string): string {
  const parts = path.split("/");
  while (parts.length > 1 && anyName.test(parts.at(-1)!)) parts.pop();
  return parts.join("/") || "/";
}

export function getZone(path: string, { home, workspace }: ExecContext): Zone {
  if (path.startsWith(unknownMark)) return "unknown";
  const lower = path.toLowerCase();
  if (path === workspace) return "workspace";
  if (isBelow(path, workspace)) return isRepository(path.slice(workspace.length + 1)) ? "repository" : "in-workspace";
  if (path === home) return "home";
  if (path === "/" || isBelow(workspace, path) || isBelow(home, path)) return "root";
  if (isBelow(path, home)) return "in-home";
  for (const temp of tempDirectories) {
    if (lower === temp) return "temp";
    if (isBelow(lower, temp)) return "in-temp";
  }
  const [, first = "", second] = lower.split("/");
  if (!systemDirectories.has(first) && !/[*?[]/.test(first)) return "outside";
  // A home of another user is as precious as one's own.
  const isWhole = second === undefined || ((first === "home" || first === "users") && lower.split("/").length === 3);
  return isWhole ? "root" : "system";
}

/** By all spellings that some file system treats as the same name. */
const isRepository = (path: string) => /^(?:.*\/)?\.git$/i.test(path) || /^\.(?:hg|svn|jj)$/i.test(path);

/** The name of a program without its directory. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

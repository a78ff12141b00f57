/** Which files are kept, by rule and limit. Pure. */
import type { Stats } from "node:fs";

const mb = 1024 * 1024;

/** New content of one snapshot. */
export const maxSnapshotBytes = 256 * mb;
/** All that is kept of one project. */
export const maxProjectBytes = 1024 * mb;
export const maxAgeMs = 14 * 24 * 60 * 60_000;
/** Files of a directory without git. */
export const maxCopiedFiles = 20_000;

/** Directories that are never looked into where no repository says what to ignore. */
export const skippedDirectories: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  ".jj",
  ".venv",
  "__pycache__",
  "node_modules",
]);

type Kind = "file" | "link" | "directory";
type Look = Pick<Stats, "isFile" | "isSymbolicLink" | "isDirectory" | "size">;

/** Decides about what is at a path: what it is kept as, or why it is not kept. */
export function decideKeeping(stats: Look, maxFileBytes: number): { kind: Kind } | { reason: string } {
  if (stats.isSymbolicLink()) return { kind: "link" };
  if (stats.isDirectory()) return { kind: "directory" };
  if (!stats.isFile()) return { reason: "it is not a regular file" };
  if (stats.size > maxFileBytes)
    return { reason: `it is larger than ${Math.round(maxFileBytes / mb)} MB (the setting undo.maxFileMb)` };
  return { kind: "file" };
}

/** Git takes the rest of the permissions of a file for the user's own affair, and so does undo. */
export const isExecutableMode = (mode: number): boolean => (mode & 0o100) !== 0;

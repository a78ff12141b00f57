/** Which state of each file the model knows, so that it does not replace what it never saw. */
import type { Stats } from "node:fs";
import { ToolsError } from "../errors.ts";
import { getStamp, missingStamp } from "../platform/replace.ts";

/** The stamp of the state that was read, written or edited last, by real path. */
export type SeenFiles = Map<string, string>;

/** After a session has written a file, the model knows its content. */
export function noteWritten(
  seen: SeenFiles | undefined,
  { realPath, stamp }: { realPath: string; stamp: string | undefined },
): void {
  if (stamp !== undefined) seen?.set(realPath, stamp);
}

/** Throws when a file is there whose state the model does not know. Returns the stamp that it must still have. */
export function refuseUnseen(
  seen: SeenFiles,
  { realPath, typed, stats }: { realPath: string; typed: string; stats: Stats | undefined },
): string | undefined {
  if (!stats) return missingStamp;
  if (!stats.isFile()) return undefined;
  const known = seen.get(realPath);
  const stamp = getStamp(stats);
  if (known === stamp) return stamp;
  const [code, what] =
    known === undefined
      ? (["unread", "exists already, and you have not read it in this session"] as const)
      : (["stale", "has changed since you last read or wrote it"] as const);
  throw new ToolsError(code, `${typed} ${what}. Read it first; then write it, or change parts of it with edit.`);
}

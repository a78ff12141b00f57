/** The temporary files of a session's commands: a directory of their own, removed with the session. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { ToolsError } from "@tau/tools";
import { systemCode, tolerate } from "@tau/tools/platform";
import { formatWriteFailure } from "@tau/tools/durable";
import { isInMemory, lookAtPath, unlessUnseen } from "./look.ts";

export interface TemporaryDirectory {
  /**
   * Returns the directory that commands see as `/tmp`. It is another one if somebody has removed it: systems clean up what
   * is old.
   */
  getPath(): string;
  remove(): Promise<void>;
}

const prefix = "tau-sandbox-";

export function createTemporaryDirectory(): TemporaryDirectory {
  let path = makeDirectory();
  return {
    getPath: () => (isOurs(path) ? path : (path = makeDirectory())),
    remove: () => rm(dirname(path), { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Somebody else may have made a directory with the name of one that was removed. */
const isOurs = (path: string): boolean =>
  lookAtPath(dirname(path))?.uid === process.getuid?.() && lookAtPath(path) !== undefined;

/** The outer directory is ours alone; the inner one is open to every user that a command may become. */
function makeDirectory(): string {
  const path = join(makeOuter(), "tmp");
  mkdirSync(path);
  chmodSync(path, 0o1777);
  return path;
}

const onDisk = "/var/tmp";

/**
 * Where temporary files can go, the best place first. On many systems `/tmp` is in memory, where a session has no limit of its
 * own, and `/var/tmp` is on a disk. What a person has chosen is used as it is. Pure.
 */
export const listParents = (
  directory: string,
  isChosen: boolean,
  isInMemory: (path: string) => boolean,
): [string, ...string[]] =>
  isChosen || !isInMemory(directory) || isInMemory(onDisk) ? [directory] : [onDisk, directory];

const findParents = () => listParents(tmpdir(), process.env["TMPDIR"] !== undefined, isInMemory);

function makeOuter(): string {
  const make = (parent: string) => realpathSync(mkdtempSync(join(parent, prefix)));
  const [first, ...others] = findParents();
  const made = others.length > 0 ? unlessUnseen(() => make(first)) : undefined;
  if (made !== undefined) return made;
  try {
    return make(tmpdir());
  } catch (error) {
    const reason = formatWriteFailure(systemCode(error) ?? getErrorMessage(error));
    const message = `Commands have no place for temporary files: nothing can be written to ${tmpdir()}: ${reason}. Set TMPDIR to another directory.`;
    throw new ToolsError("unavailable", message, { cause: error });
  }
}

/** Long enough that the session is over, also one of another container. */
const abandonedMs = 3 * 24 * 3_600 * 1_000;

/** Listing a directory costs more with each session on this machine, so a process with many sessions does not list it for each. */
const lookEveryMs = 3_600_000;
/** When this process last looked into each directory. */
const lookedAtMs = new Map<string, number>();

/** Removes what sessions left that were killed. */
export async function removeAbandonedDirectories(
  clock: Clock,
  parents: readonly string[] = findParents(),
): Promise<void> {
  const uid = process.getuid?.();
  const nowMs = clock.now();
  const due = parents.filter((parent) => nowMs - (lookedAtMs.get(parent) ?? -Infinity) >= lookEveryMs);
  for (const parent of due) lookedAtMs.set(parent, nowMs);
  const lists = await Promise.all(
    due.map(async (parent) => (await readdir(parent)).map((name) => ({ name, path: join(parent, name) }))),
  );
  for (const { name, path } of lists.flat()) {
    if (!name.startsWith(prefix)) continue;
    const stats = await tolerate(stat(path), "ENOENT", "EACCES");
    if (!stats || stats.uid !== uid || nowMs - stats.mtimeMs < abandonedMs) continue;
    await rm(path, { recursive: true, force: true });
  }
}

/** The temporary files of a session's commands: a directory of their own, removed with the session. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { ToolsError } from "@tau/tools";
import { systemCode, tolerate } from "@tau/tools/platform";
import { formatWriteFailure } from "../durable-file.ts";
import { lookAtPath } from "./look.ts";

export interface TemporaryDirectory {
  /** What commands see as `/tmp`. Another one if somebody has removed it: systems clean up what is old. */
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

function makeOuter(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  } catch (error) {
    const reason = formatWriteFailure(systemCode(error) ?? getErrorMessage(error));
    const message = `Commands have no place for temporary files: nothing can be written to ${tmpdir()}: ${reason}. Set TMPDIR to another directory.`;
    throw new ToolsError("unavailable", message, { cause: error });
  }
}

/** Long enough that the session is over, also one of another container. */
const abandonedMs = 3 * 24 * 3_600 * 1_000;

/** Removes what sessions left that were killed. */
export async function removeAbandonedDirectories(clock: Clock): Promise<void> {
  const uid = process.getuid?.();
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const path = join(tmpdir(), name);
    const stats = await tolerate(stat(path), "ENOENT", "EACCES");
    if (!stats || stats.uid !== uid || clock.now() - stats.mtimeMs < abandonedMs) continue;
    await rm(path, { recursive: true, force: true });
  }
}

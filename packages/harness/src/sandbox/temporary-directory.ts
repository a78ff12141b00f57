/** The temporary files of a session's commands: a directory of their own, removed with the session. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@tau/ai";
import { tolerate } from "@tau/tools/platform";

export interface TemporaryDirectory {
  /** What commands see as `/tmp`. */
  readonly path: string;
  remove(): Promise<void>;
}

const prefix = "tau-sandbox-";

/** The outer directory is ours alone; the inner one is open to every user that a command may become. */
export function createTemporaryDirectory(): TemporaryDirectory {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  const path = join(outer, "tmp");
  mkdirSync(path);
  chmodSync(path, 0o1777);
  return { path, remove: () => rm(outer, { recursive: true, force: true, maxRetries: 3 }) };
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

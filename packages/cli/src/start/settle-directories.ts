import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";

/** Puts variables right that name directories which cannot be used: whatever reads them later would fail. */
export function settleDirectories(env: NodeJS.ProcessEnv): void {
  // An empty one would make a path of the working directory of every path below it.
  if (!isAbsolute(env["HOME"] ?? "/")) delete env["HOME"];
  // A user of a container may have none, and then Node throws. `login` takes the root directory too.
  if (env["HOME"] === undefined && !succeeds(homedir)) env["HOME"] = "/";
  // They outlive the shell or the job that made the directory. Without them it is /tmp.
  for (const name of ["TMPDIR", "TMP", "TEMP"]) {
    const path = env[name];
    if (path !== undefined && !canHoldFiles(path)) delete env[name];
  }
}

const canHoldFiles = (path: string): boolean =>
  isAbsolute(path) && succeeds(() => accessSync(path, constants.W_OK | constants.X_OK)) && statSync(path).isDirectory();

function succeeds(look: () => unknown): boolean {
  try {
    look();
    return true;
  } catch {
    return false;
  }
}

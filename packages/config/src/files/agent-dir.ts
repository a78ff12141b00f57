import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The directory with the user's settings, credentials, models and sessions: `TAU_DIR`, else `~/.tau`. Pi's variable
 * `PI_CODING_AGENT_DIR` applies to users who have no `~/.tau` yet, so that it takes nobody's sessions away.
 */
export function defaultAgentDir(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const home = env["HOME"] || homedir();
  if (env["TAU_DIR"]) return expandHome(env["TAU_DIR"], home);
  const own = join(home, ".tau");
  return env["PI_CODING_AGENT_DIR"] && !existsSync(own) ? expandHome(env["PI_CODING_AGENT_DIR"], home) : own;
}

/** `~` is the home directory: not every program that sets a variable or writes a file is a shell. */
export const expandHome = (path: string, home: string): string =>
  path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;

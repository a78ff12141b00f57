import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The directory with the user's settings, credentials, models and sessions: `TAU_DIR`, else `~/.tau`. Pi's variable
 * `PI_CODING_AGENT_DIR` counts for users who have no `~/.tau` yet, so that it takes nobody's sessions away.
 */
export function defaultAgentDir(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (env["TAU_DIR"]) return env["TAU_DIR"];
  const own = join(env["HOME"] || homedir(), ".tau");
  return env["PI_CODING_AGENT_DIR"] && !existsSync(own) ? env["PI_CODING_AGENT_DIR"] : own;
}

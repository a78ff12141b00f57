import { homedir } from "node:os";
import { join } from "node:path";

/** The directory with the user's settings, credentials, models and sessions: `TAU_DIR`, else `~/.tau`. */
export const defaultAgentDir = (): string => process.env["TAU_DIR"] || join(homedir(), ".tau");

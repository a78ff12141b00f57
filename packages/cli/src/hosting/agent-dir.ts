import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { defaultAgentDir } from "@tau/config/settings";
import type { Io } from "../commands/command.ts";

/** The directory with the user's settings, credentials, models and sessions. */
export const getAgentDir = ({ cwd, env }: Io): string => resolve(cwd, defaultAgentDir(env));

/** The directory of sessions: that of the flag, else of pi's variable, else of the settings, else the default. */
export function getSessionDir(io: Io, flag: string | undefined, setting: string | undefined) {
  const { cwd, env } = io;
  const directory = flag ?? (env["PI_CODING_AGENT_SESSION_DIR"] || setting);
  return directory === undefined ? undefined : resolve(cwd, expandHome(io, directory));
}

/** A shell does not expand `~` everywhere. */
export const expandHome = ({ env }: Io, path: string): string =>
  /^~(?=\/|$)/.test(path) ? join(env["HOME"] || homedir(), path.slice(1)) : path;

/** Whether pi's variable says that no server is contacted unasked. */
export const isOffline = ({ env }: Io): boolean => /^(1|true|yes)$/i.test(env["PI_OFFLINE"] ?? "");

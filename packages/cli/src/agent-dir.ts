import { resolve } from "node:path";
import { defaultAgentDir } from "@tau/harness/settings";
import type { Io } from "./command.ts";

/** The directory with the user's settings, credentials, models and sessions. */
export const getAgentDir = ({ cwd, env }: Io): string => resolve(cwd, env["TAU_DIR"] || defaultAgentDir());

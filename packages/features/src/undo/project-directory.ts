/** Where undo keeps what it needs of a workspace. */
import { join } from "node:path";
import { getProjectName } from "../kit/project-name.ts";

export const getProjectDirectory = (agentDir: string, cwd: string): string =>
  join(agentDir, "undo", getProjectName(cwd));

/** Exists only while files are being written, and after a process was killed then. */
export const getJournalPath = (agentDir: string, cwd: string): string =>
  join(getProjectDirectory(agentDir, cwd), "journal.json");

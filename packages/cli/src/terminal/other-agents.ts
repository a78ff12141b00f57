/** Tells a newcomer which other agents were used on this machine. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import type { Io } from "../commands/command.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";

/** At most one line, and only while tau has no directory of its own: at the first start. Call it before anything makes one. */
export async function describeOtherAgents(io: Io): Promise<string[]> {
  const agentDir = getAgentDir(io);
  if (existsSync(agentDir)) return [];
  const { findUsedTools, locateTools } = await import("@tau/config/imports");
  const titles = findUsedTools(locateTools(io.env, io.env["HOME"] || homedir()), agentDir).map(({ title }) => title);
  if (titles.length === 0) return [];
  return [`Found on this machine: ${titles.join(", ")}. To bring over sessions, settings and more: tau import`];
}

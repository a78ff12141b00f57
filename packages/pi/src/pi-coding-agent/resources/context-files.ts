/** Files that tell a model about a project. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { getAgentDir } from "../config.ts";

export interface TextFile {
  path: string;
  content: string;
}

/** Of each directory the first that is there. */
const names = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

function readFirst(directory: string): TextFile[] {
  const path = names.map((name) => join(directory, name)).find((candidate) => existsSync(candidate));
  return path === undefined ? [] : [{ path, content: readFileSync(path, "utf8") }];
}

/** The user's, then those from the root down to the working directory. */
export function loadProjectContextFiles({
  cwd = process.cwd(),
  agentDir = getAgentDir(),
}: { cwd?: string; agentDir?: string } = {}): TextFile[] {
  const directories: string[] = [];
  for (let current = resolve(cwd); ; current = dirname(current)) {
    directories.unshift(current);
    if (dirname(current) === current) break;
  }
  return [resolve(agentDir), ...directories.filter((directory) => directory !== resolve(agentDir))].flatMap(readFirst);
}

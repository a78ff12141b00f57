/** Files that tell a model about a project. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { getAgentDir, tryRead } from "@tau/pi/internal";

export interface TextFile {
  path: string;
  content: string;
}

/** Names of context files. In each directory the first that can be read is used. */
const names = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

function readFirst(directory: string): TextFile[] {
  for (const path of names.map((name) => join(directory, name)).filter((candidate) => existsSync(candidate))) {
    // oxlint-disable-next-line no-console -- programs on pi's libraries read it there
    const warn = (reason: string) => console.warn(`Could not read ${path}: ${reason}`);
    const content = tryRead(() => readFileSync(path, "utf8"), warn);
    if (content !== undefined) return [{ path, content }];
  }
  return [];
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

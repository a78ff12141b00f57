/** Finds the project that a directory belongs to: its repository, also from a worktree of that, else the directory itself. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { getProjectName } from "../kit/project-name.ts";

export function findProject(cwd: string): string {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const stats = statSync(join(directory, ".git"), { throwIfNoEntry: false });
    if (stats?.isDirectory()) return directory;
    if (stats?.isFile()) return findMainRepository(directory) ?? directory;
    if (dirname(directory) === directory) return resolve(cwd);
  }
}

/** The repository whose worktree this is. Undefined for a submodule, which is a project of its own. */
function findMainRepository(worktree: string): string | undefined {
  const text = readFileSync(join(worktree, ".git"), "utf8").slice(0, 4_096);
  const gitDirectory = /^gitdir: (.+)$/m.exec(text)?.[1]?.trim();
  const main = gitDirectory && /^(.*)[/\\]\.git[/\\]worktrees[/\\][^/\\]+$/.exec(resolve(worktree, gitDirectory))?.[1];
  return main || undefined;
}

export const getMemoryRoot = (agentDir: string): string => join(agentDir, "memory");

/** The directory of the facts of a project. */
export const getFactsDirectory = (agentDir: string, cwd: string): string =>
  join(getMemoryRoot(agentDir), getProjectName(findProject(cwd)));

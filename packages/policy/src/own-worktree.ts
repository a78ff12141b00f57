import { relative, sep } from "node:path";
import { isWithin } from "@tau/tools/platform";

/** Whether a directory is, or is in, a worktree that a person works in: `worktrees/PROJECT/NAME` of tau's own directory. Pure. */
export function isOwnWorktree(directory: string, agentDir: string): boolean {
  if (!isWithin(agentDir, directory)) return false;
  const [first, project, name] = relative(agentDir, directory).split(sep);
  return first === "worktrees" && Boolean(project) && Boolean(name) && !name!.startsWith(".");
}

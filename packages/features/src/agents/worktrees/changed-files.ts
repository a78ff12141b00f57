/** Finds the changes in an ordinary worktree since it was made. */
import { splitNul, tryGit } from "./git.ts";
import type { WorktreeRecord } from "./records.ts";

/** The changed files, committed or not; undefined if there is nothing to lose. What git cannot tell counts as changed. */
export async function findChangedFiles({ path, base, branch }: WorktreeRecord): Promise<string[] | undefined> {
  const ask = (...args: string[]) => tryGit(args, { cwd: path });
  // Whatever the configuration hides.
  const status = await ask("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none");
  const tips = await ask("rev-parse", "HEAD^{commit}", `refs/heads/${branch}^{commit}`);
  const isMoved = tips.stdout.toString("utf8") !== `${base}\n${base}\n`;
  if (status.code === 0 && status.stdout.length === 0 && !isMoved) return undefined;
  const changed = await ask("diff", "--name-only", "-z", base);
  const added = await ask("ls-files", "--others", "--exclude-standard", "-z");
  return [...new Set([changed, added].flatMap(({ stdout }) => splitNul(stdout)))].toSorted();
}

/** Finds the git repository of a workspace. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { hostPrograms } from "../kit/host-programs.ts";
import { runGit } from "../kit/run-git.ts";

export interface WorkspaceRepository {
  /** The top directory of its files: a real path. */
  readonly top: string;
  /** With the index; that of a worktree is its own. */
  readonly gitDirectory: string;
  /** With the objects, which all worktrees share. */
  readonly common: string;
  readonly objectFormat: string;
  readonly objectIdLength: number;
}

/** Undefined without git, outside of a repository, and in a directory that a repository ignores. It need not have a commit. */
export async function findRepository(root: string): Promise<WorkspaceRepository | undefined> {
  const args = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-object-format"];
  const { code, stdout } = await runGit(hostPrograms, args, { cwd: root });
  const lines = stdout.toString("utf8").split("\n");
  // A path with a line break would be two lines.
  if (code !== 0 || lines.length !== 5) return undefined;
  const [top, gitDirectory, common, objectFormat] = lines as [string, string, string, string, string];
  const realTop = await realpath(top);
  if (root !== realTop) {
    const ignored = await runGit(hostPrograms, ["check-ignore", "--quiet", "--", root], { cwd: realTop });
    if (ignored.code === 0) return undefined;
  }
  return {
    top: realTop,
    gitDirectory,
    common: await realpath(resolve(root, common)),
    objectFormat,
    objectIdLength: objectFormat === "sha256" ? 64 : 40,
  };
}

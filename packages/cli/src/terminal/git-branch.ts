/** The branch of a repository, read from its files: to start git takes a tenth of the time to the first frame. */
import { dirname, join, resolve } from "node:path";
import { readTextFile } from "@tau/config/settings";
import { lookAt, nodeFileSystem } from "@tau/tools/platform";

/** The branch that is checked out in `directory`; undefined outside of a repository, and without a branch. */
export async function readGitBranch(directory: string): Promise<string | undefined> {
  const gitDirectory = await findGitDirectory(directory);
  const head = gitDirectory && (await readText(join(gitDirectory, "HEAD")));
  return head && parseHead(head);
}

/** `.git` is a directory or, in a worktree and in a submodule, a file that names one. */
async function findGitDirectory(directory: string): Promise<string | undefined> {
  const path = join(directory, ".git");
  const stats = await lookAt(nodeFileSystem, path).catch(() => undefined);
  if (stats?.isDirectory()) return path;
  const [, target] = /^gitdir: (.+?)\n*$/.exec((stats && (await readText(path))) ?? "") ?? [];
  if (target !== undefined) return resolve(directory, target);
  const parent = dirname(directory);
  return parent === directory ? undefined : await findGitDirectory(parent);
}

/** A name that git would refuse is no branch. With tables of references, the name is not in this file but `.invalid`. */
export function parseHead(head: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- git allows none in a name
  const [, name] = /^ref: refs\/heads\/([^\x00-\x20\x7f~^:?*[\\]+)\n?$/.exec(head) ?? [];
  return name === ".invalid" ? undefined : name;
}

/** Undefined for what is no regular file, such as a pipe, and for what cannot be read. */
async function readText(path: string): Promise<string | undefined> {
  const file = await readTextFile(nodeFileSystem, path);
  return file.kind === "text" ? file.text : undefined;
}

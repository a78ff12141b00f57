/**
 * Makes the directory that an isolated task works in: a repository of its own, which reads the objects of the user's repository
 * and writes to its own. Nothing of the user's repository can be changed through it.
 */
import { appendFile, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HarnessError } from "@tau/protocol";
import { unlessMissing } from "@tau/tools/platform";
import { checkoutConfig, getObjects, git, gitLine, readConfig, type Repository, toIdentity } from "./git.ts";

/** Settings that decide how files are written and compared, and who commits. None of them can run a program. */
const copiedKeys =
  /^(?:core\.(?:autocrlf|eol|safecrlf|filemode|symlinks|ignorecase|precomposeunicode)|user\.(?:name|email)|commit\.cleanup)$/;
/** Files of the repository that decide what is ignored, how files are treated, and where its history ends. */
const copiedFiles = ["info/exclude", "info/attributes", "shallow"];

interface MakeOptions {
  path: string;
  includesUncommitted: boolean;
  signal: AbortSignal | undefined;
}

/** Resolves with the commit that is checked out there. `path` must not exist. */
export async function makeIsolated(repository: Repository, options: MakeOptions): Promise<string> {
  const { path, includesUncommitted, signal } = options;
  await initRepository(repository, path, signal);
  // The task sees the branches of the repository as they are now.
  const refs = await git(["for-each-ref", "--format=%(objectname) %(refname)"], { cwd: repository.top, signal });
  await writeFile(join(path, ".git/packed-refs"), refs);
  const base = includesUncommitted ? await commitUncommitted(repository, options) : repository.head;
  await git(["checkout", "--quiet", "--detach", base], { cwd: path, config: checkoutConfig, signal });
  return base;
}

/** Makes an empty repository in a new directory, which reads the objects of another one and treats files as that does. */
export async function initRepository(repository: Repository, path: string, signal?: AbortSignal): Promise<void> {
  const { top, common, objectFormat } = repository;
  const own = join(path, ".git");
  await mkdir(path, { mode: 0o700 });
  await git(["init", "--quiet", "--template=", `--object-format=${objectFormat}`, "--initial-branch=none", path], {
    cwd: top,
    env: { GIT_DEFAULT_REF_FORMAT: "files" },
    config: [["init.defaultRefFormat", "files"]],
    signal,
  });
  await writeAlternates(own, repository);
  await mkdir(join(own, "info"), { recursive: true });
  for (const file of copiedFiles) await unlessMissing(copyFile(join(common, file), join(own, file)));
  const values = await readConfig(top);
  const { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email } = toIdentity(values);
  const copied = [...values].filter(([key]) => copiedKeys.test(key) && !key.startsWith("user."));
  await appendFile(
    join(own, "config"),
    [...copied, ["user.name", name] as const, ["user.email", email] as const].map(formatConfig).join(""),
  );
}

/** Lets a repository read the objects of the user's one. */
export async function writeAlternates(own: string, repository: Repository): Promise<void> {
  const objects = getObjects(repository);
  if (/[\n"]/.test(objects)) {
    throw new HarnessError("invalid_input", `A task cannot be isolated in ${objects}: git cannot read such a path.`);
  }
  await mkdir(join(own, "objects/info"), { recursive: true });
  await writeFile(join(own, "objects/info/alternates"), `${objects}\n`, { flag: "wx" });
}

function formatConfig([key, value]: readonly [string, string]): string {
  const [section, name] = key.split(".") as [string, string];
  const escaped = value.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`);
  return `[${section}]\n\t${name} = "${escaped}"\n`;
}

/**
 * Makes a commit of the files as they are, also of new ones, among the objects of the task. The repository stays as it is, also
 * its index.
 */
async function commitUncommitted(repository: Repository, { path, signal }: MakeOptions): Promise<string> {
  const { top, head } = repository;
  const own = join(path, ".git");
  const index = join(own, "uncommitted-index");
  const source = await gitLine(["rev-parse", "--git-path", "index"], { cwd: top });
  await unlessMissing(copyFile(resolve(top, source), index));
  const env = {
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(own, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: getObjects(repository),
    ...toIdentity(await readConfig(top)),
  };
  const options = { cwd: top, env, signal };
  await git(["add", "--all"], options);
  const tree = await gitLine(["write-tree"], options);
  return await gitLine(["commit-tree", tree, "-p", head, "-m", "Uncommitted work"], options);
}

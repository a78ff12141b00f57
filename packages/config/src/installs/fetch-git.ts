/** Fetches packages with git: one commit, without its history, hooks, filters and submodules. */
import { lstat, mkdir, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HarnessError } from "@tau/protocol";
import { orUndefined } from "@tau/tools/durable";
import { isWithin } from "@tau/tools/platform";
import { installDependencies } from "./fetch-npm.ts";
import type { Fetched, FetchPorts } from "./fetch-ports.ts";
import type { LockedPackage } from "./lock-file.ts";
import { emptyManifest, readManifest } from "./manifest.ts";
import type { GitSource } from "./package-source.ts";
import { type ProgramOutcome, runProgram } from "./run-program.ts";
import { checkSize, refusePackage } from "./tree.ts";

/** The user's git runs only what reaches the server, and the content is the same on every computer. */
const config = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.autocrlf=false",
  "core.eol=lf",
  "core.symlinks=true",
  "submodule.recurse=false",
  "advice.detachedHead=false",
  "init.defaultBranch=main",
  "gc.auto=0",
  // What a server sends stays packed: little data can be very large files.
  "fetch.unpackLimit=1",
].flatMap((setting) => ["-c", setting]);

/** How the user reaches servers; all other variables of git are about another repository. */
const keptVariables =
  /^GIT_(SSH|SSH_COMMAND|SSL_\w+|PROXY_\w+|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|EXEC_PATH)$/;

const getGitEnvironment = (env: FetchPorts["env"]): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("GIT_") || keptVariables.test(name))),
  GIT_TERMINAL_PROMPT: "0",
  // Without a terminal ssh would open a window to ask.
  SSH_ASKPASS_REQUIRE: "never",
  GIT_ALLOW_PROTOCOL: "https:ssh:file",
});

const defaultMaxDownloadBytes = 1024 ** 3;

interface WantedCommit {
  directory: string;
  locked: Pick<LockedPackage, "resolved" | "dependencies"> | undefined;
  /** The directory of the repository that is the package, with slashes. Default: the whole repository. */
  path?: string;
}

/** Fetches a commit into `directory`, which becomes the package. With `locked`, that commit. */
export async function fetchGit(
  source: GitSource,
  { directory, locked, path = "" }: WantedCommit,
  ports: FetchPorts,
): Promise<Fetched> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { maxDownloadBytes = defaultMaxDownloadBytes } = ports;
  const git = (...args: string[]): Promise<ProgramOutcome> =>
    runProgram({
      argv: ["git", ...config, ...args],
      cwd: directory,
      env: getGitEnvironment(ports.env),
      signal: ports.signal,
      // What is downloaded is one file.
      ...(args[0] === "fetch" && { maxFileBytes: maxDownloadBytes }),
    });
  const mustDo = async (...args: string[]): Promise<string> => {
    const outcome = await git(...args);
    if (outcome.kind === "done") return outcome.output.trim();
    if (args[0] === "fetch") await checkDownload(directory, maxDownloadBytes);
    throw new HarnessError("install_failed", `git failed for ${source.url}: ${outcome.reason}`);
  };
  await mustDo("init", "--quiet", "--template=");
  await mkdir(join(directory, ".git", "info"));
  // The package could name a filter that the user's git has. This file has precedence over those of the package.
  await writeFile(join(directory, ".git", "info", "attributes"), "* !filter\n");
  const ref = locked?.resolved ?? source.ref ?? "HEAD";
  const options = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"];
  const shallow = await git(...options, "--depth=1", "--", source.url, ref);
  let target = "FETCH_HEAD";
  if (shallow.kind === "failed") {
    await checkDownload(directory, maxDownloadBytes);
    // Servers may refuse to send a commit by its name, and the beginning of a name is none.
    if (!/^[0-9a-f]{7,40}$/.test(ref)) {
      throw new HarnessError("install_failed", `git failed for ${source.url} at ${ref}: ${shallow.reason}`);
    }
    await mustDo(...options, "--", source.url, "+refs/heads/*:refs/remotes/all/*", "+refs/tags/*:refs/tags/*");
    target = ref;
  }
  const commit = await mustDo("rev-parse", "--verify", "--quiet", "--end-of-options", `${target}^{commit}`);
  if (locked && commit !== locked.resolved) {
    throw new HarnessError("install_failed", `${source.url} has ${commit}, not the commit of the lock.`);
  }
  checkListing(await git("ls-tree", "-r", "-l", "-z", "--full-tree", commit));
  await mustDo("checkout", "--quiet", "--force", "--detach", commit);
  // What is installed is the content. An update fetches it anew.
  await rm(join(directory, ".git"), { recursive: true, force: true });
  if (path !== "") await keepOnly(directory, path);
  const manifest = readManifest(directory) ?? emptyManifest;
  const dependencies = await addDependencies(directory, manifest.dependencies, locked, ports);
  return { root: directory, manifest, locked: { resolved: commit, ...(dependencies && { dependencies }) } };
}

/** Refuses a repository whose download was ended at the limit: git only says that something failed, and leaves the file. */
async function checkDownload(directory: string, maxBytes: number): Promise<void> {
  const packs = join(directory, ".git", "objects", "pack");
  for (const name of (await orUndefined(readdir(packs))) ?? []) {
    const { size } = await lstat(join(packs, name));
    if (size >= maxBytes)
      refusePackage(`its repository is larger than ${formatMegabytes(maxBytes)}, which is the limit`);
  }
}

const formatMegabytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MB`;

/** Refuses a commit before its files are written: a few kilobytes of directories that contain each other can be billions. */
function checkListing(listing: ProgramOutcome): void {
  if (listing.kind === "failed") refusePackage(`its files cannot be listed (${listing.reason})`);
  const sizes = listing.output.split("\0").flatMap((line) => {
    const size = /^\d+ blob [0-9a-f]+ +(\d+)\t/.exec(line)?.[1];
    return size === undefined ? [] : [Number(size)];
  });
  checkSize({ files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) });
}

/** Replaces a repository by one of its directories. */
async function keepOnly(directory: string, path: string): Promise<void> {
  const repository = `${directory}-repository`;
  await rename(directory, repository);
  try {
    const [root, wanted] = await Promise.all([realpath(repository), orUndefined(realpath(join(repository, path)))]);
    if (wanted === undefined || !isWithin(root, wanted) || !(await lstat(wanted)).isDirectory())
      throw new HarnessError("install_failed", `The repository has no directory ${JSON.stringify(path)}.`);
    await rename(wanted, directory);
  } finally {
    await rm(repository, { recursive: true, force: true });
  }
}

async function addDependencies(
  directory: string,
  dependencies: Readonly<Record<string, string>>,
  locked: WantedCommit["locked"],
  ports: FetchPorts,
) {
  if (Object.keys(dependencies).length === 0) return undefined;
  const beside = `${directory}-dependencies`;
  try {
    const packages = await installDependencies(beside, { dependencies, locked: locked?.dependencies }, ports);
    const target = join(directory, "node_modules");
    await rm(target, { recursive: true, force: true });
    await rename(join(beside, "node_modules"), target);
    return packages;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

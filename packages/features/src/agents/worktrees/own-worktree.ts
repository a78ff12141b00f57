/** Worktrees in which a person works: `tau --worktree`. They are in tau's own directory, and stay while they hold changes. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, realpath, rmdir } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import { isWithin, tolerate, unlessMissing } from "@tau/tools/platform";
import { findChangedFiles } from "./changed-files.ts";
import { checkoutConfig, findRepository, git, type Repository, tryGit } from "./git.ts";
import { toSafeId } from "./names.ts";
import { claimRecord, type HeldRecord, holdRecord, listRecords, type WorktreeRecord } from "./records.ts";
import { sweepDirectories } from "./sweep.ts";
import { removeUnchanged, removeWorktree } from "./worktree-manager.ts";

export interface OwnWorktreeOptions {
  /** A directory of the repository. */
  cwd: string;
  /** Tau's own directory. */
  agentDir: string;
  /** The name of the branch. Default: a new one. */
  name?: string;
}

export interface OwnWorktree {
  /** The directory in the worktree that is the same as the one the person started in. */
  readonly cwd: string;
  readonly path: string;
  readonly branch: string;
  /** Ends the work: without changes and commits, worktree and branch are removed. */
  finish(): Promise<OwnWorktreeEnd>;
}

export type OwnWorktreeEnd =
  | { readonly kind: "removed" }
  /** `name`: that of `tau worktrees`. `files`: those that were changed, committed or not. */
  | { readonly kind: "kept"; readonly name: string; readonly files: readonly string[] };

const toRoot = (agentDir: string): string => join(agentDir, "worktrees");

/** Opens the worktree of this name again if there is one, else makes it, beginning with the commit that is checked out. */
export async function openOwnWorktree({ cwd, agentDir, name }: OwnWorktreeOptions): Promise<OwnWorktree> {
  const repository = await findRepository(cwd);
  if (!repository) {
    throw refuse(`A worktree needs a git repository with a commit, and ${cwd} is not in one.`);
  }
  const branch = name ?? `tau-${systemIds().replaceAll("-", "").slice(-8)}`;
  await mustBeBranchName(branch, cwd);
  const directory = join(toRoot(agentDir), toProject(repository));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const real = await realpath(directory);
  await sweepDirectories([real]);
  const record = (await openAgain(real, branch)) ?? (await make(real, branch, repository));
  await record.change({ state: "open", origin: cwd });
  const { path } = record.value;
  const inside = join(path, repository.prefix);
  return {
    cwd: (await unlessMissing(lstat(inside)))?.isDirectory() ? inside.replace(/\/$/, "") : path,
    path,
    branch,
    finish: async () => {
      const end = await finish(record);
      await tolerate(rmdir(toRoot(agentDir)), "ENOENT", "ENOTEMPTY", "EEXIST");
      return end;
    },
  };
}

/** Two repositories may have the same name. */
function toProject({ common }: Repository): string {
  const hash = createHash("sha256").update(common).digest("hex").slice(0, 8);
  return `${toSafeId(basename(toMain(common) ?? common))}-${hash}`;
}

/** The directory with the files of the repository itself; undefined if there is none. */
const toMain = (common: string): string | undefined => (basename(common) === ".git" ? dirname(common) : undefined);

async function mustBeBranchName(name: string, cwd: string): Promise<void> {
  const { code, stdout } = await tryGit(["check-ref-format", "--branch", name], { cwd });
  // Names such as `@{-1}` stand for other branches.
  if (code === 0 && stdout.toString("utf8") === `${name}\n`) return;
  throw refuse(`${JSON.stringify(name)} cannot be the name of a branch. Choose another name for the worktree.`);
}

/** Undefined if there is none. */
async function openAgain(directory: string, branch: string): Promise<HeldRecord | undefined> {
  const name = toSafeId(branch);
  const record = await holdRecord(directory, name);
  if (record === undefined) return undefined;
  if (record === "busy") throw refuse(`The worktree ${name} is in use by another process. Choose another name.`);
  const { path, branch: other } = record.value;
  if (other === branch && existsSync(path)) return record;
  await record.release();
  throw refuse(
    other === branch
      ? `The directory ${path} of the worktree ${name} is gone. To forget it with its branch: tau worktrees remove ${name}`
      : `The directory ${path} is that of the branch ${other}. Choose another name for the worktree.`,
  );
}

async function make(directory: string, branch: string, { top, common, head: base }: Repository): Promise<HeldRecord> {
  const repository = toMain(common) ?? top;
  const exists = await tryGit(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`], { cwd: top });
  // Before a record says that it is ours.
  if (exists.code === 0) throw refuse(`There is already a branch ${branch}. Choose another name for the worktree.`);
  const name = toSafeId(branch);
  const path = join(directory, name);
  const createdAt = new Date(systemClock.now()).toISOString();
  const record = await claimRecord(
    directory,
    { kind: "worktree", name, id: branch, repository, path, branch, base, createdAt, state: "making", origin: top },
    async () => !(await unlessMissing(lstat(path))),
  );
  if (!record) throw refuse(`${path} is in use. Choose another name for the worktree.`);
  try {
    await git(["worktree", "add", "--quiet", "--no-track", "-b", branch, path, base], {
      cwd: top,
      config: checkoutConfig,
    });
    return record;
  } catch (error) {
    await removeWorktree(record, { onlyAtBase: true });
    throw error;
  }
}

async function finish(record: HeldRecord): Promise<OwnWorktreeEnd> {
  const { name } = record.value;
  const files = await findChangedFiles(record.value);
  if (files === undefined && (await removeUnchanged(record))) return { kind: "removed" };
  await record.change({ state: "kept", files: files ?? [] });
  await record.release();
  return { kind: "kept", name, files: files ?? [] };
}

/** The directories with worktrees of people, one for each repository. */
export async function listOwnDirectories(agentDir: string): Promise<string[]> {
  const root = toRoot(agentDir);
  const names = (await tolerate(readdir(root), "ENOENT", "ENOTDIR", "EACCES")) ?? [];
  return names.map((name) => join(root, name));
}

/**
 * Lists the directories that are the same as `cwd` in the worktrees of its repository, without those that a running process works
 * in. Where there is no worktree at all, this is a single look.
 */
export async function listIdleWorktrees({ cwd, agentDir }: Omit<OwnWorktreeOptions, "name">): Promise<string[]> {
  if (!existsSync(toRoot(agentDir))) return [];
  const repository = await findRepository(cwd);
  if (!repository) return [];
  const directory = join(toRoot(agentDir), toProject(repository));
  const paths: string[] = [];
  for (const { name, path } of await listRecords(directory)) {
    const record = path === repository.top ? undefined : await holdRecord(directory, name);
    if (record === undefined || record === "busy") continue;
    await record.release();
    paths.push(join(path, repository.prefix).replace(/\/$/, ""));
  }
  return paths;
}

/** The directory in which the person started whose worktree `cwd` is in; undefined elsewhere. */
export async function findWorktreeOrigin({
  cwd,
  agentDir,
}: Omit<OwnWorktreeOptions, "name">): Promise<string | undefined> {
  const root = await unlessMissing(realpath(toRoot(agentDir)));
  if (root === undefined || !isWithin(root, cwd)) return undefined;
  const [project = "", name = ""] = relative(root, cwd).split(sep);
  const records: WorktreeRecord[] = project === "" ? [] : await listRecords(join(root, project));
  return records.find((record) => record.name === name)?.origin;
}

const refuse = (message: string): HarnessError => new HarnessError("invalid_input", message);

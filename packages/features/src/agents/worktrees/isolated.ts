/** Directories in which tasks work without touching the files, the index and the branches of anybody else. */
import { lstat, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { type ExtensionAPI, getFeatureSettings } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import { unlessMissing } from "@tau/tools/platform";
import { applyChanges } from "./apply-changes.ts";
import { type CollectedChanges, collectChanges } from "./collect-changes.ts";
import { getFanoutDirectory, makeFanoutDirectory, recordsName } from "./directory.ts";
import { findRepository, getObjects, type Repository, tryGit } from "./git.ts";
import { makeIsolated } from "./make-isolated.ts";
import { toBranch, toSafeId } from "./names.ts";
import { claimRecord, type HeldRecord, type WorktreeRecord } from "./records.ts";
import { removeTree } from "./remove.ts";
import { fanoutSettings } from "./settings.ts";

export interface IsolatedOptions {
  /** For its settings, and to ask before changes are applied. Default: changes become a branch. */
  tau?: Pick<ExtensionAPI, "getSettings" | "requestAccess">;
  /** A directory of a git repository with a commit. The task works in the same directory of its copy. */
  cwd: string;
  /** Any text; the names of the directory and the branch are made of it. */
  id: string;
  /** The work that is done there, for people: the message of the commit, and the list of worktrees. */
  description?: string;
  /** Whether files that are not committed are there too. Ignored ones never are. Default: the setting `fanout.uncommitted`. */
  includesUncommitted?: boolean;
  /** The setting `fanout.directory`, without `tau`. */
  directory?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The outcome of the changes of a task. All files are relative to the top of the repository. */
export type IsolatedResult =
  /** There are none, and nothing is left. */
  | { kind: "unchanged" }
  /** They are in the files of the repository, and nothing else is left. */
  | { kind: "applied"; files: string[] }
  /** They are in a branch, as was asked for, or because of `reason`. */
  | { kind: "branch"; branch: string; name: string; files: string[]; reason?: string }
  /** They do not fit the files of the repository. They are in a branch, and the directory is still there. */
  | { kind: "conflicts"; branch: string; name: string; path: string; files: string[]; conflicts: string[] };

export interface FinishOptions {
  /** `patch`: changes are applied if they fit and may be written. `branch`: they become a branch. Default: `patch` with `tau`. */
  result?: "patch" | "branch";
  signal?: AbortSignal | undefined;
}

export interface Isolated {
  /** The name by which `tau worktrees` lists it. */
  readonly name: string;
  /** The directory to work in. */
  readonly cwd: string;
  /** For `openChild`: where the task works, and what it has to read besides. */
  readonly child: { readonly cwd: string; readonly readablePaths: readonly string[] };
  /** Brings the changes back. Call it when nothing works there any more. */
  finish(options?: FinishOptions): Promise<IsolatedResult>;
  /** Removes everything, also changes. */
  discard(): Promise<void>;
}

/** Throws `invalid_input` outside of a repository with a commit. */
export async function openIsolated(options: IsolatedOptions): Promise<Isolated> {
  const { tau, cwd, signal } = options;
  const repository = await findRepository(cwd, signal);
  if (!repository) {
    const message = `A task cannot be isolated in ${cwd}: it is not in a git repository that has a commit.`;
    throw new HarnessError("invalid_input", message);
  }
  const settings = tau ? getFeatureSettings(tau, fanoutSettings).fanout : { uncommitted: false, ...options };
  const directory = await realpath(await makeFanoutDirectory(getFanoutDirectory(settings.directory)));
  const record = await claimName(directory, repository, options);
  try {
    const { path } = record.value;
    const base = await makeIsolated(repository, {
      path,
      includesUncommitted: options.includesUncommitted ?? settings.uncommitted,
      signal,
    });
    await record.change({ base, state: "open" });
  } catch (error) {
    await discardIsolated(record, directory);
    throw error;
  }
  return createIsolated(record, { directory, repository, tau });
}

async function claimName(
  directory: string,
  { top, head }: Repository,
  { id, description }: IsolatedOptions,
): Promise<HeldRecord> {
  const unique = systemIds();
  const branch = toBranch(id, unique);
  const safe = toSafeId(id);
  for (const name of [safe, `${safe}-${unique.slice(-8)}`, `${safe}-${unique}`]) {
    const path = join(directory, name);
    const record: WorktreeRecord = {
      kind: "isolated",
      name,
      id,
      ...(description !== undefined && { description }),
      repository: top,
      path,
      branch,
      base: head,
      createdAt: new Date(systemClock.now()).toISOString(),
      state: "making",
    };
    const claimed = await claimRecord(directory, record, async () => !(await unlessMissing(lstat(path))));
    if (claimed) return claimed;
  }
  throw new HarnessError("invalid_input", `There is no free name for a worktree of ${id} in ${directory}.`);
}

interface IsolatedParts {
  directory: string;
  repository: Repository;
  tau: IsolatedOptions["tau"];
}

function createIsolated(record: HeldRecord, { directory, repository, tau }: IsolatedParts): Isolated {
  const { name, path } = record.value;
  const cwd = resolve(path, repository.prefix);
  let end: Promise<IsolatedResult> | undefined;
  return {
    name,
    cwd,
    child: { cwd, readablePaths: [path, getObjects(repository)] },
    // Once, however often it is called.
    finish: (options = {}) => (end ??= finishIsolated(record, { directory, tau, ...options })),
    discard: async () => {
      end ??= discardIsolated(record, directory).then(() => ({ kind: "unchanged" as const }));
      await end;
    },
  };
}

/** Ends a task's work in an isolated directory. If that fails, the directory and its record stay. */
async function finishIsolated(
  record: HeldRecord,
  { directory, tau, result = tau ? "patch" : "branch", signal }: FinishOptions & Omit<IsolatedParts, "repository">,
): Promise<IsolatedResult> {
  try {
    const collected = await collectRecord(record, directory);
    if (!collected) {
      await discardIsolated(record, directory);
      return { kind: "unchanged" };
    }
    const { files, tip } = collected;
    const { name, id, path, branch, base, repository } = record.value;
    if (result === "branch" || !tau) return await keepBranch(record, files);
    const access = files.map((file) => ({
      capability: "write" as const,
      target: { kind: "path" as const, path: join(repository, file) },
    }));
    const summary = `Apply the changes of ${id} to ${files.length === 1 ? files[0] : `${files.length} files`}`;
    const verdict = await tau.requestAccess(access, { name: "task", summary, signal });
    if (verdict.kind === "denied") return await keepBranch(record, files, verdict.reason);
    const application = await applyChanges(repository, base, tip);
    if (application.kind === "applied") {
      await discardIsolated(record, directory);
      return { kind: "applied", files };
    }
    const { conflicts } = application;
    await record.change({ state: "kept", files, conflicts });
    return { kind: "conflicts", branch, name, path, files, conflicts };
  } finally {
    await record.release();
  }
}

/** Sets the branch of a record to its changes; undefined if there are none. */
export async function collectRecord(record: HeldRecord, directory: string): Promise<CollectedChanges | undefined> {
  const { repository, name } = record.value;
  const found = await findRepository(repository);
  if (!found) throw new HarnessError("invalid_input", `The repository ${repository} is not there any more.`);
  return await collectChanges(found, record.value, join(directory, recordsName, `${name}.git`));
}

async function keepBranch(record: HeldRecord, files: string[], reason?: string): Promise<IsolatedResult> {
  const { name, branch, path } = record.value;
  await record.change({ state: "kept", files });
  await removeTree(path);
  return { kind: "branch", branch, name, files, ...(reason !== undefined && { reason }) };
}

/** Removes the directory, the branch and the record. */
export async function discardIsolated(record: HeldRecord, directory: string): Promise<void> {
  const { path, name, repository, branch } = record.value;
  await removeTree(path);
  await removeTree(join(directory, recordsName, `${name}.git`));
  // The repository may be gone too.
  if (await unlessMissing(lstat(repository))) {
    await tryGit(["update-ref", "-d", `refs/heads/${branch}`], { cwd: repository });
  }
  await record.remove();
}

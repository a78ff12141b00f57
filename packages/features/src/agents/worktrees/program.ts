/** `tau worktrees`: the changes of tasks, and the worktrees of `tau --worktree`, on the command line. */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { resolveFields } from "@tau/config/settings";
import type { ProgramContext } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import { applyChanges, formatPatch } from "./apply-changes.ts";
import { getFanoutDirectory, listFanoutDirectories } from "./directory.ts";
import { git, gitLine } from "./git.ts";
import { discardIsolated } from "./isolated.ts";
import { type HeldRecord, holdRecord, listRecords, type WorktreeRecord } from "./records.ts";
import { fanoutSettings } from "./settings.ts";
import { listOwnDirectories } from "./own-worktree.ts";
import { sweepDirectories } from "./sweep.ts";
import { removeWorktree } from "./worktree-manager.ts";

export async function runWorktreesCommand(context: ProgramContext): Promise<"failed" | void> {
  const { subcommand, positionals, settings, agentDir } = context;
  const fanout = getFanoutDirectory(resolveFields(fanoutSettings, settings.get()).fanout.directory);
  const directories = [...listFanoutDirectories(fanout), ...(await listOwnDirectories(agentDir))];
  // So that those of processes that were killed are shown as they are.
  const { problems } = await sweepDirectories(directories);
  for (const problem of problems) context.err(`${problem}\n`);
  const [name = ""] = positionals;
  switch (subcommand) {
    case "show":
      return await show(context, await find(directories, name));
    case "apply":
      return await withRecord(directories, name, (record, directory) => apply(context, record, directory));
    case "remove":
      return await withRecord(directories, name, (record, directory) => remove(context, record, directory));
    default:
      return await list(context, directories);
  }
}

interface FoundRecord {
  record: WorktreeRecord;
  directory: string;
}

async function findAll(directories: readonly string[]): Promise<FoundRecord[]> {
  const found = await Promise.all(
    directories.map(async (directory) => (await listRecords(directory)).map((record) => ({ record, directory }))),
  );
  return found.flat();
}

/** By its name, or by its path where repositories have worktrees of the same name. */
async function find(directories: readonly string[], name: string): Promise<FoundRecord> {
  const matching = (await findAll(directories)).filter(({ record }) => [record.name, record.path].includes(name));
  if (matching.length > 1) {
    const paths = matching.map(({ record }) => record.path).join("\n");
    throw new HarnessError("invalid_input", `Several worktrees are named ${name}. Give the path of one:\n${paths}`);
  }
  if (matching[0]) return matching[0];
  throw new HarnessError("invalid_input", `There is no worktree ${JSON.stringify(name)}. See tau worktrees list.`);
}

async function list({ has, out }: ProgramContext, directories: readonly string[]): Promise<void> {
  const records = (await findAll(directories)).map(({ record }) => record);
  if (has("json")) return out(`${JSON.stringify(records)}\n`);
  if (records.length === 0) return out("There are no worktrees of tasks.\n");
  for (const record of records) out(`${formatRecord(record)}\n`);
}

/** Pure. */
function formatRecord({ name, state, repository, branch, files = [], conflicts, description }: WorktreeRecord): string {
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  const status = state !== "kept" ? "in use" : `${count} changed${conflicts ? ", does not fit" : ""}, ${branch}`;
  const about = description === undefined ? "" : `\n    ${toLine(description)}`;
  return `${name}  ${repository}  ${status}${about}`;
}

/** Ids and descriptions come from models. */
const toLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").slice(0, 200);

async function show({ out }: ProgramContext, { record }: FoundRecord): Promise<void> {
  for (const conflict of record.conflicts ?? []) out(`# ${conflict}\n`);
  if (record.kind === "worktree") {
    return out(await formatOwnChanges(record));
  }
  mustBeKept(record);
  out((await formatPatch(record.repository, record.base, await findTip(record))).toString("utf8"));
}

/** In a copy of the index new files are marked as added, because `git diff` shows only files that it knows. */
async function formatOwnChanges({ path: cwd, base }: WorktreeRecord): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-index-"));
  try {
    const index = join(directory, "index");
    await copyFile(resolve(cwd, await gitLine(["rev-parse", "--git-path", "index"], { cwd })), index);
    const options = { cwd, env: { GIT_INDEX_FILE: index } };
    await git(["add", "--intent-to-add", "--", "."], options);
    return (await git(["diff", "--no-color", base], options)).toString("utf8");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function apply({ out, err }: ProgramContext, record: HeldRecord, directory: string): Promise<"failed" | void> {
  const { name, repository, base, kind, branch, files = [] } = record.value;
  if (kind === "worktree") {
    throw new HarnessError(
      "invalid_input",
      `${name} is a worktree of its own. Commit its changes there, and merge its branch: git merge ${branch}`,
    );
  }
  mustBeKept(record.value);
  const application = await applyChanges(repository, base, await findTip(record.value));
  if (application.kind === "conflicts") {
    await record.change({ conflicts: application.conflicts });
    err(`The changes of ${name} do not fit the files of ${repository}:\n${application.conflicts.join("\n")}\n`);
    err(`Nothing was changed. Merge them with: git merge ${branch}\n`);
    return "failed";
  }
  await discardIsolated(record, directory);
  out(`Applied to ${repository}:\n${files.join("\n")}\n`);
}

async function remove(context: ProgramContext, record: HeldRecord, directory: string): Promise<"failed" | void> {
  const { name, kind, branch } = record.value;
  if (!context.has("yes")) {
    const answer = await context.ask?.(`Remove ${name} and the branch ${branch} with all changes? (y/n) `);
    if (answer?.trim().toLowerCase() !== "y") {
      context.err(`${name} was not removed.${context.ask ? "" : " Add --yes to remove it without a question."}\n`);
      return "failed";
    }
  }
  await (kind === "isolated" ? discardIsolated(record, directory) : removeWorktree(record));
  context.out(`Removed ${name}.\n`);
}

async function withRecord<T>(
  directories: readonly string[],
  name: string,
  work: (record: HeldRecord, directory: string) => Promise<T>,
): Promise<T> {
  const found = await find(directories, name);
  const { directory } = found;
  const record = await holdRecord(directory, found.record.name);
  if (!record || record === "busy") {
    throw new HarnessError("invalid_input", `The worktree ${name} is in use. Try again when its task has ended.`);
  }
  try {
    return await work(record, directory);
  } finally {
    await record.release();
  }
}

function mustBeKept({ name, state }: WorktreeRecord): void {
  if (state === "kept") return;
  throw new HarnessError("invalid_input", `The worktree ${name} is in use, so its changes are not known yet.`);
}

const findTip = ({ repository, branch }: WorktreeRecord): Promise<string> =>
  gitLine(["rev-parse", "--verify", "--end-of-options", `refs/heads/${branch}^{commit}`], { cwd: repository });

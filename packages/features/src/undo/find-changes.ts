/** Asks git which files differ from the last snapshot, and decides which of them are kept. */
import { constants, type Stats } from "node:fs";
import { access, lstat, readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { tolerate, unlessMissing } from "@tau/tools/platform";
import { UndoError } from "./failure.ts";
import { listParents, type Skipped } from "./file-state.ts";
import type { GitDirectory } from "./git-directory.ts";
import { decideKeeping } from "./keeping-rules.ts";
import { getStamp } from "./workspace-files.ts";

export interface FindOptions {
  root: string;
  maxFileBytes: number;
  signal: AbortSignal | undefined;
  /** Looked at whether git lists them or not: it does not list what is ignored by now. */
  alsoPaths?: readonly string[];
}

interface AddedFile {
  readonly path: string;
  readonly mode: number;
  readonly stamp: string;
}

export interface FoundChanges {
  /** New and changed files and links. */
  readonly added: readonly AddedFile[];
  readonly removed: readonly string[];
  readonly skipped: readonly Skipped[];
  /** All directories without anything in them. */
  readonly directories: readonly string[];
  /** Whether git says what is in a directory only when it no longer takes it for a file: look again then. */
  readonly hasReplaced: boolean;
  /** Whether files are in directories that git does not know: until it does, they have to be listed one by one. */
  readonly hasNewDirectories: boolean;
  /** The size of what was added. */
  readonly newBytes: number;
  /** Which of the added were changed since they were found. */
  findUnsteady(): Promise<Skipped[]>;
}

export const changedWhileRead = "it was changed while it was read";

/** More new directories than this are not looked into one by one. */
const maxDirectories = 200;
const maxEmptyDirectories = 10_000;

export async function findChanges(git: GitDirectory, options: FindOptions): Promise<FoundChanges> {
  const { root, maxFileBytes, signal, alsoPaths = [] } = options;
  const list = async (...args: string[]) =>
    splitNul(await git.git(["ls-files", "-z", "--exclude-standard", ...args], { signal }));
  const listed = await list("--modified", "--deleted", "--others", "--directory");
  const skipped: Skipped[] = [];
  const unseen = listed.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1));
  const newDirectories: string[] = [];
  for (const path of unseen) {
    const own = await unlessMissing(lstat(join(root, path, ".git")));
    if (own) skipped.push({ path, reason: "it is a repository of its own", stamp: "" });
    else newDirectories.push(path);
  }
  const isFew = newDirectories.length <= maxDirectories;
  const inside =
    newDirectories.length === 0
      ? []
      : await list("--others", ...(isFew ? ["--", ...newDirectories.map((path) => `${path}/`)] : []));
  for (const path of inside.filter((each) => each.endsWith("/")))
    skipped.push({ path: path.slice(0, -1), reason: "it is a repository of its own", stamp: "" });
  const files = new Set([...listed, ...inside].filter((path) => !path.endsWith("/")).concat(alsoPaths));
  const added: AddedFile[] = [];
  const removed: string[] = [];
  let newBytes = 0;
  const isReal = createRealCheck(root);
  let hasReplaced = false;
  for (const path of files) {
    if (path.includes("\uFFFD")) {
      skipped.push({ path, reason: "its name is not UTF-8", stamp: "" });
      continue;
    }
    const stats = (await isReal(dirname(path))) ? await lookAt(join(root, path)) : undefined;
    if (!stats) {
      removed.push(path);
      continue;
    }
    const decision = await decide(join(root, path), stats, maxFileBytes);
    if (decision === "removed") {
      removed.push(path);
      hasReplaced = true;
    } else if (decision !== undefined) skipped.push({ path, reason: decision, stamp: getStamp(stats) });
    else {
      added.push({ path, mode: stats.mode & 0o777, stamp: getStamp(stats) });
      newBytes += stats.size;
    }
  }
  return {
    added,
    removed,
    skipped,
    hasReplaced,
    hasNewDirectories: inside.length > 0,
    newBytes,
    directories: await listDirectories(root, newDirectories, removed),
    async findUnsteady() {
      const unsteady: Skipped[] = [];
      for (const { path, stamp } of added) {
        const stats = await lookAt(join(root, path));
        const now = stats ? getStamp(stats) : "missing";
        if (now !== stamp) unsteady.push({ path, reason: changedWhileRead, stamp: now });
      }
      return unsteady;
    },
  };
}

/** Why a file is not kept; `removed` where it became a directory; undefined if it is kept. */
async function decide(path: string, stats: Stats, maxFileBytes: number): Promise<string | undefined> {
  const decision = decideKeeping(stats, maxFileBytes);
  if ("reason" in decision) return decision.reason;
  if (decision.kind === "directory")
    return (await unlessMissing(lstat(join(path, ".git")))) ? "it is a submodule" : "removed";
  if (decision.kind === "link") return undefined;
  const isReadable = await tolerate(
    access(path, constants.R_OK).then(() => true),
    "EACCES",
    "EPERM",
    "ENOENT",
  );
  return isReadable ? undefined : "it cannot be read";
}

/** Whether no part of the path of a directory is a link. */
function createRealCheck(root: string): (directory: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const check = async (directory: string) => {
    const path = join(root, directory);
    return (await tolerate(realpath(path), "ENOENT", "ENOTDIR", "ELOOP")) === path;
  };
  return (directory) => {
    const result = known.get(directory) ?? check(directory);
    known.set(directory, result);
    return result;
  };
}

const lookAt = (path: string): Promise<Stats | undefined> => tolerate(lstat(path), "ENOENT", "ENOTDIR");

/** Lists the directories without anything in them: new ones, and those whose files were removed. */
async function listDirectories(root: string, added: readonly string[], removed: readonly string[]): Promise<string[]> {
  const empty = (await Promise.all(added.map((path) => listEmpty(root, path)))).flat();
  const isReal = createRealCheck(root);
  for (const path of new Set(removed.flatMap((each) => listParents(each)))) {
    const names = (await isReal(path)) ? await tolerate(readdir(join(root, path)), "ENOENT", "ENOTDIR") : undefined;
    if (names?.length === 0) empty.push(path);
  }
  return [...new Set(empty)].toSorted();
}

/** Lists the directories without anything in them, from this one on. */
async function listEmpty(root: string, path: string): Promise<string[]> {
  const entries = await tolerate(readdir(join(root, path), { withFileTypes: true }), "ENOENT", "ENOTDIR", "EACCES");
  if (entries?.length === 0) return [path];
  if (!entries || entries.some(({ name }) => name === ".git")) return [];
  const empty: string[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) empty.push(...(await listEmpty(root, `${path}/${entry.name}`)));
    if (empty.length > maxEmptyDirectories) throw new UndoError("there are too many directories");
  }
  return empty;
}

const splitNul = (bytes: Buffer): string[] => bytes.toString("utf8").split("\0").filter(Boolean);

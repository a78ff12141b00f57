/**
 * Records of the worktrees of tasks. A record is written before anything is made, and removed after everything is gone, so that
 * nothing is forgotten when the process is killed. Its lease shows whether the process still runs.
 */
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { recordsName } from "./directory.ts";
import { acquireLease, type Lease, tolerate, unlessMissing } from "@tau/tools/platform";

export interface WorktreeRecord {
  /** `isolated`: a repository of its own that borrows objects. `worktree`: an ordinary worktree of the repository. */
  kind: "isolated" | "worktree";
  /** The name of the record and of the directory. */
  name: string;
  id: string;
  /** The work that is done there, for people. */
  description?: string;
  /** The top directory of the repository. */
  repository: string;
  path: string;
  branch: string;
  /** The commit that the work began with. For an isolated one with uncommitted work, it is known only there. */
  base: string;
  createdAt: string;
  /**
   * `making`: nobody has worked there yet. `open`: somebody may work there. `kept`: the work has ended, and its changes are in the
   * branch; then the directory may be gone.
   */
  state: "making" | "open" | "kept";
  /** For a worktree in which a person works: the directory in which they started. */
  origin?: string;
  /** The changed files, for `kept`. */
  files?: string[];
  /** Why the changes could not be applied. */
  conflicts?: string[];
}

const toFile = (directory: string, name: string) => join(directory, recordsName, `${name}.json`);
const toLock = (directory: string, name: string) => join(directory, recordsName, `${name}.lock`);

/** A record whose lease this process has. */
export class HeldRecord {
  readonly #directory: string;
  readonly #lease: Lease;
  #record: WorktreeRecord;

  constructor(directory: string, lease: Lease, record: WorktreeRecord) {
    this.#directory = directory;
    this.#lease = lease;
    this.#record = record;
  }

  get value(): WorktreeRecord {
    return this.#record;
  }

  async change(changes: Partial<WorktreeRecord>): Promise<void> {
    this.#record = { ...this.#record, ...changes };
    await writeRecord(this.#directory, this.#record);
  }

  async release(): Promise<void> {
    await this.#lease.release();
  }

  /** Forgets the worktree. Everything of it must be gone. */
  async remove(): Promise<void> {
    await rm(toFile(this.#directory, this.#record.name), { force: true });
    await this.#lease.release();
    await removeIfEmpty(join(this.#directory, recordsName));
    await removeIfEmpty(this.#directory);
  }
}

/**
 * Takes the name, unless it is used: resolves with undefined then. `isFree` is asked while no other process can take it.
 */
export async function claimRecord(
  directory: string,
  record: WorktreeRecord,
  isFree: () => Promise<boolean>,
): Promise<HeldRecord | undefined> {
  // Another process may remove the directory when its last worktree is gone.
  const outcome = await retryMissing(async () => {
    await mkdir(join(directory, recordsName), { recursive: true, mode: 0o700 });
    return await acquireLease(toLock(directory, record.name));
  });
  if (outcome.kind === "busy") return undefined;
  if ((await readRecord(directory, record.name)) || !(await isFree())) {
    await outcome.lease.release();
    return undefined;
  }
  await retryMissing(async () => await writeRecord(directory, record));
  return new HeldRecord(directory, outcome.lease, record);
}

async function retryMissing<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    const result = await unlessMissing(work().then((value) => ({ value })));
    if (result) return result.value;
    if (tries >= 100) return await work();
  }
}

/** Undefined if there is none, or a running process works with it. */
export async function holdRecord(directory: string, name: string): Promise<HeldRecord | "busy" | undefined> {
  if (!(await readRecord(directory, name))) return undefined;
  const outcome = await acquireLease(toLock(directory, name));
  if (outcome.kind === "busy") return "busy";
  const record = await readRecord(directory, name);
  if (record) return new HeldRecord(directory, outcome.lease, record);
  await outcome.lease.release();
  return undefined;
}

export async function listRecords(directory: string): Promise<WorktreeRecord[]> {
  const names = (await tolerate(readdir(join(directory, recordsName)), "ENOENT", "ENOTDIR", "EACCES")) ?? [];
  const found = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  const records = await Promise.all(found.map((name) => readRecord(directory, name)));
  return records.filter((record) => record !== undefined).sort((a, b) => a.createdAt.localeCompare(b.createdAt));
}

/** Removes what killed processes left beside their records. */
export async function removeLeftovers(directory: string): Promise<void> {
  const names = (await tolerate(readdir(join(directory, recordsName)), "ENOENT", "ENOTDIR", "EACCES")) ?? [];
  for (const lock of names.filter((name) => name.endsWith(".lock"))) {
    const name = lock.slice(0, -".lock".length);
    if (names.includes(`${name}.json`)) continue;
    const outcome = await acquireLease(toLock(directory, name));
    if (outcome.kind !== "held") continue;
    if (!(await readRecord(directory, name))) await rm(`${toFile(directory, name)}.new`, { force: true });
    await outcome.lease.release();
  }
  await removeIfEmpty(join(directory, recordsName));
  await removeIfEmpty(directory);
}

export async function readRecord(directory: string, name: string): Promise<WorktreeRecord | undefined> {
  const text = await unlessMissing(readFile(toFile(directory, name), "utf8"));
  const value = text === undefined ? undefined : tryParseJson(text);
  return isWorktreeRecord(value) && value.name === name ? value : undefined;
}

async function writeRecord(directory: string, record: WorktreeRecord): Promise<void> {
  const file = toFile(directory, record.name);
  await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

const texts = ["kind", "name", "id", "repository", "path", "branch", "base", "createdAt", "state"];

const isWorktreeRecord = (value: unknown): value is WorktreeRecord =>
  isRecord(value) && texts.every((key) => typeof value[key] === "string");

const removeIfEmpty = async (path: string): Promise<void> =>
  void (await tolerate(rmdir(path), "ENOENT", "ENOTEMPTY", "EEXIST", "EBUSY", "EACCES", "EPERM", "ENOTDIR"));

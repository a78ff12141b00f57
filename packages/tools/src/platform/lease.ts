/**
 * Lets one writer work at a time, also across processes and crashes. A lease is a file that names its holder. Its
 * process and its boot, never a timeout, show whether the holder still runs, so a slow writer is not taken for a dead
 * one. The holder removes the file. Where it stays, the next holder raises the generation.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { type Ids, systemIds } from "@tau/ai";
import { closeAfter, tryParseJson } from "@tau/ai/internal";
import { systemCode, tolerate } from "../errors.ts";
import { type FileSystem, nodeFileSystem } from "./file-system.ts";
import { type ProcessMark, thisProcess, verdictOn } from "./process-mark.ts";

/** The process that holds a lease. A `pid` of 0 means that the lease is free. */
export interface LeaseHolder extends ProcessMark {
  /** New each time a lease is acquired. */
  id: string;
  generation: number;
}

export interface Lease {
  readonly generation: number;
  /** Whether the lease is still ours. Call it before everything that must not be done twice. */
  isHeld(): Promise<boolean>;
  /** Gives it back. Does nothing when another process has it. */
  release(): Promise<void>;
}

export type LeaseOutcome = { kind: "held"; lease: Lease } | Busy;

interface Busy {
  kind: "busy";
  holder: LeaseHolder;
  /** For people: what to do where it is not known whether the holder still runs. Absent where it can. */
  advice?: string;
}

export interface LeaseOptions {
  /** Default: the real one. */
  fileSystem?: FileSystem;
  /** Default: the system's. */
  ids?: Ids;
  /**
   * Whether a holder is still running. Default: by its process, its start time, its pid namespace and the machine's
   * boot; one that runs where we cannot look counts as running.
   */
  isAlive?: (holder: LeaseHolder) => Promise<boolean>;
}

/** Acquires the lease at `path`, unless a running process has it. */
export async function acquireLease(path: string, options: LeaseOptions = {}): Promise<LeaseOutcome> {
  const fs = options.fileSystem ?? nodeFileSystem;
  const isAlive = options.isAlive ?? isRunning;
  const id = (options.ids ?? systemIds)();
  for (;;) {
    const holder = await readHolder(fs, path);
    if (holder && (await isAlive(holder))) return await busy(path, holder);
    const mine: LeaseHolder = { ...thisProcess(), id, generation: (holder?.generation ?? 0) + 1 };
    const claim = await claimGeneration(fs, path, mine, isAlive);
    if (claim.kind === "busy") return await busy(path, claim.holder);
    if (claim.kind === "again" || !(await useClaim(fs, path, claim, mine))) continue;
    return { kind: "held", lease: createLease(fs, path, { mine, isLinked: claim.file === claim.path }) };
  }
}

/** Whether the process that had the lease at `path` has ended without giving it back. */
export async function isAbandoned(path: string, fs: FileSystem = nodeFileSystem): Promise<boolean> {
  const holder = await readHolder(fs, path);
  return holder !== undefined && holder.pid !== 0 && verdictOn(holder) === "gone";
}

/** The process that has the lease at `path`; undefined if none has it, or if that process has ended. */
export async function findLeaseHolder(path: string, fs: FileSystem = nodeFileSystem): Promise<LeaseHolder | undefined> {
  const holder = await readHolder(fs, path);
  return holder && (await isRunning(holder)) ? holder : undefined;
}

const isRunning = async (holder: LeaseHolder) => verdictOn(holder) !== "gone";

/** Only a person can tell whether a container that cannot be seen from here has ended. */
async function busy(path: string, holder: LeaseHolder): Promise<Busy> {
  if (verdictOn(holder) !== "unseen") return { kind: "busy", holder };
  const advice = `It is held by process ${holder.pid} of another container or pid namespace, which cannot be seen from here. If that has ended, remove ${path} and ${path}.claim-*.`;
  return { kind: "busy", holder, advice };
}

/** `isLinked`: whether the file system has hard links. */
function createLease(
  fs: FileSystem,
  path: string,
  { mine, isLinked }: { mine: LeaseHolder; isLinked: boolean },
): Lease {
  const isHeld = async () => {
    const holder = await readHolder(fs, path);
    return holder?.id === mine.id && holder.pid === mine.pid;
  };
  return {
    generation: mine.generation,
    isHeld,
    async release() {
      // No other process takes it while this one runs.
      if (!(await isHeld())) return;
      if (isLinked) return await removeIfThere(fs, path);
      // A claim that is a directory is emptied before it is removed, and another process may put its own in its place. Only
      // a higher generation keeps that one from counting, so the file stays and says that the lease is free.
      const free = `${path}.free-${mine.id}`;
      await writeNew(fs, free, { ...mine, pid: 0 });
      await fs.rename(free, path);
    },
  };
}

/** `dead` are the claims of processes that ended before they could use them. */
interface Claimed {
  path: string;
  /** The file that becomes the lease: the claim itself, or the file in it. */
  file: string;
  dead: DeadClaim[];
}

interface DeadClaim {
  path: string;
  /** Identifies the process that made it. */
  id: string;
}

type Claim = ({ kind: "mine" } & Claimed) | { kind: "again" } | { kind: "busy"; holder: LeaseHolder };

/**
 * Only one process may take a generation: the first to create its first claim, or, where that process has ended, the first
 * to create the next claim. Dead claims stay until the generation has a holder: if they were removed, two processes could
 * each create the same claim again.
 */
async function claimGeneration(
  fs: FileSystem,
  path: string,
  mine: LeaseHolder,
  isAlive: (holder: LeaseHolder) => Promise<boolean>,
): Promise<Claim> {
  const draft = `${path}.draft-${mine.id}`;
  const dead: DeadClaim[] = [];
  try {
    await writeNew(fs, draft, mine);
    for (;;) {
      const claim = `${path}.claim-${mine.generation}-${dead.length}`;
      const file = await createClaim(fs, { draft, claim, mine });
      if (file !== undefined) return { kind: "mine", path: claim, file, dead };
      const rival = await readClaim(fs, claim);
      // It was used or withdrawn meanwhile.
      if (!rival) return { kind: "again" };
      if (await isAlive(rival)) return { kind: "busy", holder: rival };
      dead.push({ path: claim, id: rival.id });
    }
  } finally {
    // The claim is valid, whether or not the draft can be removed.
    await Promise.allSettled([removeIfThere(fs, draft)]);
  }
}

/** The errors of file systems without hard links. */
export const noLinkCodes: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "EACCES",
  "ENOSYS",
  "ENOTSUP",
  "EOPNOTSUPP",
]);
const existsCodes: ReadonlySet<string | undefined> = new Set(["EEXIST", "ENOTEMPTY", "ENOTDIR"]);

const holderIn = (directory: string) => join(directory, "holder");

/** Creates a claim with its content at once, and returns the file with it; undefined if the claim exists. */
async function createClaim(
  fs: FileSystem,
  { draft, claim, mine }: { draft: string; claim: string; mine: LeaseHolder },
): Promise<string | undefined> {
  try {
    await fs.link(draft, claim);
    return claim;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return undefined;
    if (!noLinkCodes.has(systemCode(error))) throw error;
  }
  // A directory, too, gets its name with all that is in it, and never takes the place of one that is not empty.
  const directory = `${draft}.d`;
  await fs.mkdir(directory, { mode: 0o700 });
  try {
    await writeNew(fs, holderIn(directory), mine);
    await fs.rename(directory, claim);
    return holderIn(claim);
  } catch (error) {
    await Promise.allSettled([removeDirectory(fs, directory)]);
    if (existsCodes.has(systemCode(error))) return undefined;
    throw error;
  }
}

async function readClaim(fs: FileSystem, claim: string): Promise<LeaseHolder | undefined> {
  try {
    return await readHolder(fs, claim);
  } catch (error) {
    if (systemCode(error) !== "EISDIR") throw error;
    const holder = await readHolder(fs, holderIn(claim));
    // An empty directory counts as no claim, but a link cannot take its place.
    if (!holder) await Promise.allSettled([fs.rmdir?.(claim)]);
    return holder;
  }
}

async function removeClaim(fs: FileSystem, claim: string): Promise<void> {
  try {
    await removeIfThere(fs, claim);
  } catch (error) {
    // Linux and macOS refuse to unlink a directory with different codes.
    if (systemCode(error) !== "EISDIR" && systemCode(error) !== "EPERM") throw error;
    await removeDirectory(fs, claim);
  }
}

async function removeDirectory(fs: FileSystem, directory: string): Promise<void> {
  await removeIfThere(fs, holderIn(directory));
  try {
    await fs.rmdir?.(directory);
  } catch (error) {
    // As soon as it is empty, another process may remove it or put its own claim in its place.
    if (systemCode(error) !== "ENOENT" && !existsCodes.has(systemCode(error))) throw error;
  }
}

/** Makes the claim the lease. False when the generation has had its holder already. */
async function useClaim(fs: FileSystem, path: string, claim: Claimed, mine: LeaseHolder): Promise<boolean> {
  try {
    const latest = await readHolder(fs, path);
    if ((latest?.generation ?? 0) !== mine.generation - 1 || !(await areLeft(fs, claim.dead))) {
      await removeClaim(fs, claim.path);
      return false;
    }
    await fs.rename(claim.file, path);
  } catch (error) {
    // If it stayed, no process could acquire the lease for as long as this one lives.
    await removeClaim(fs, claim.path);
    throw error;
  }
  // We hold the lease, whether or not what is left of the claims can be removed.
  const dead = claim.dead.map((one) => one.path);
  const rest = claim.file === claim.path ? dead : [claim.path, ...dead];
  for (const left of rest) await Promise.allSettled([removeClaim(fs, left)]);
  return true;
}

/**
 * Whether the dead claims before ours are still there. If not, the generation has had a holder since, who has given the
 * lease back, and another process may have made the first claim again.
 */
async function areLeft(fs: FileSystem, dead: readonly DeadClaim[]): Promise<boolean> {
  for (const { path, id } of dead) if ((await readClaim(fs, path))?.id !== id) return false;
  return true;
}

/** Nothing is synced: no holder outlives a crash of the machine, and a damaged file counts as one without a holder. */
async function writeNew(fs: FileSystem, path: string, holder: LeaseHolder): Promise<void> {
  const handle = await fs.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  await closeAfter(handle, () => handle.write(new TextEncoder().encode(JSON.stringify(holder))));
}

/** Undefined when there is no file. */
async function readHolder(fs: FileSystem, path: string): Promise<LeaseHolder | undefined> {
  const handle = await tolerate(fs.open(path, constants.O_RDONLY), "ENOENT");
  if (!handle) return undefined;
  const buffer = Buffer.alloc(4_096);
  const length = await closeAfter(handle, () => handle.read(buffer, 0));
  return parseHolder(buffer.toString("utf8", 0, length));
}

/** The holder that a damaged lease has: one that never runs. */
const noHolder: LeaseHolder = { id: "", pid: 0, startTime: "", bootId: "", generation: 0 };

function parseHolder(text: string): LeaseHolder {
  const holder = tryParseJson(text) as Partial<LeaseHolder> | null | undefined;
  const { id, pid, generation, startTime = "", bootId = "", pidNamespace = "" } = holder ?? {};
  if (typeof id !== "string" || typeof pid !== "number" || typeof generation !== "number") return noHolder;
  return { id, pid, generation, startTime, bootId, pidNamespace };
}

const removeIfThere = (fs: FileSystem, path: string): Promise<void> => tolerate(fs.unlink(path), "ENOENT");

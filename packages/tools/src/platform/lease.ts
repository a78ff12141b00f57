/**
 * One writer at a time, also across processes and crashes. A lease is a file that names its holder; a holder that is
 * dead is found out by its process and its boot, never by a timeout, so a slow writer is not mistaken for a dead one.
 * Each change of hands raises the generation: who was overtaken can tell.
 */
import { constants } from "node:fs";
import { readFile } from "node:fs/promises";
import { type Ids, systemIds } from "@tau/ai";
import { systemCode } from "../errors.ts";
import { type FileSystem, nodeFileSystem } from "./file-system.ts";

/** Who holds a lease. */
export interface LeaseHolder {
  /** Unique for each time a lease is taken. */
  id: string;
  pid: number;
  /** Tells this start of the process from another with the same number; empty where the system does not say. */
  startTime: string;
  /** Tells this start of the machine from another; empty where the system does not say. */
  bootId: string;
  generation: number;
}

export interface Lease {
  readonly generation: number;
  /** Whether the lease is still ours. Ask before everything that must not be done twice. */
  isHeld(): Promise<boolean>;
  /** Gives it back. Does nothing when somebody else has it. */
  release(): Promise<void>;
}

export type LeaseOutcome = { kind: "held"; lease: Lease } | { kind: "busy"; holder: LeaseHolder };

export interface LeaseOptions {
  /** Default: the real one. */
  fileSystem?: FileSystem;
  /** Default: the system's. */
  ids?: Ids;
  /** Whether a holder is still running. Default: by its process, its start time and the machine's boot. */
  isAlive?: (holder: LeaseHolder) => Promise<boolean>;
}

/** Takes the lease at `path`, unless somebody who is alive has it. */
export async function acquireLease(path: string, options: LeaseOptions = {}): Promise<LeaseOutcome> {
  const fs = options.fileSystem ?? nodeFileSystem;
  const isAlive = options.isAlive ?? isRunning;
  const id = (options.ids ?? systemIds)();
  for (;;) {
    const holder = await readHolder(fs, path);
    if (holder && (await isAlive(holder))) return { kind: "busy", holder };
    const mine: LeaseHolder = { ...(await thisProcess()), id, generation: (holder?.generation ?? 0) + 1 };
    const claim = `${path}.claim-${mine.generation}`;
    const outcome = await claimGeneration(fs, claim, mine, isAlive);
    if (outcome.kind === "busy") return outcome;
    if (outcome.kind === "again") continue;
    // Between the look and the claim somebody may have been faster, taken the lease and given it back.
    const latest = await readHolder(fs, path);
    if ((latest?.generation ?? 0) !== (holder?.generation ?? 0)) {
      await removeIfThere(fs, claim);
      continue;
    }
    await fs.rename(claim, path);
    return { kind: "held", lease: createLease(fs, path, mine) };
  }
}

function createLease(fs: FileSystem, path: string, mine: LeaseHolder): Lease {
  const isHeld = async () => {
    const holder = await readHolder(fs, path);
    return holder?.id === mine.id && holder.pid === mine.pid;
  };
  return {
    generation: mine.generation,
    isHeld,
    async release() {
      if (!(await isHeld())) return;
      // The generation must outlive its holder, so the file stays, with nobody in it.
      const free = `${path}.free-${mine.id}`;
      await writeNew(fs, free, { ...mine, pid: 0 });
      await fs.rename(free, path);
    },
  };
}

type Claim = { kind: "mine" } | { kind: "again" } | { kind: "busy"; holder: LeaseHolder };

/** Only one may take over a generation: the one whose claim is there first. */
async function claimGeneration(
  fs: FileSystem,
  claim: string,
  mine: LeaseHolder,
  isAlive: (holder: LeaseHolder) => Promise<boolean>,
): Promise<Claim> {
  const draft = `${claim}.${mine.id}`;
  await writeNew(fs, draft, mine);
  try {
    await fs.link(draft, claim);
    return { kind: "mine" };
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    const rival = await readHolder(fs, claim);
    if (!rival) return { kind: "again" };
    if (await isAlive(rival)) return { kind: "busy", holder: rival };
    // Its claimant died before it could use it.
    await removeIfThere(fs, claim);
    return { kind: "again" };
  } finally {
    await removeIfThere(fs, draft);
  }
}

async function writeNew(fs: FileSystem, path: string, holder: LeaseHolder): Promise<void> {
  const handle = await fs.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await handle.write(new TextEncoder().encode(JSON.stringify(holder)));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Undefined when there is no file, or none that names a holder: then nobody holds anything. */
async function readHolder(fs: FileSystem, path: string): Promise<LeaseHolder | undefined> {
  try {
    const handle = await fs.open(path, constants.O_RDONLY);
    try {
      const buffer = Buffer.alloc(4_096);
      const text = buffer.toString("utf8", 0, await handle.read(buffer, 0));
      return parseHolder(text);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function parseHolder(text: string): LeaseHolder | undefined {
  try {
    const holder = JSON.parse(text) as Partial<LeaseHolder> | null;
    const { id, pid, generation, startTime = "", bootId = "" } = holder ?? {};
    if (typeof id !== "string" || typeof pid !== "number" || typeof generation !== "number") return undefined;
    return { id, pid, generation, startTime, bootId };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function removeIfThere(fs: FileSystem, path: string): Promise<void> {
  try {
    await fs.unlink(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

async function thisProcess(): Promise<Omit<LeaseHolder, "id" | "generation">> {
  return { pid: process.pid, startTime: await startTimeOf(process.pid), bootId: await readBootId() };
}

async function isRunning(holder: LeaseHolder): Promise<boolean> {
  if (holder.pid <= 0) return false;
  if (holder.bootId !== (await readBootId())) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
    // It is there and belongs to somebody else.
    if (systemCode(error) !== "EPERM") throw error;
  }
  return holder.startTime === (await startTimeOf(holder.pid));
}

/** When a process was started, in the kernel's own count. Empty where there is no /proc. */
async function startTimeOf(pid: number): Promise<string> {
  const stat = await readText(`/proc/${pid}/stat`);
  // The name before it may hold anything, also spaces and brackets, so counting starts behind its last bracket.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

const readBootId = async () => (await readText("/proc/sys/kernel/random/boot_id")).trim();

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ESRCH" || code === "ENOTDIR") return "";
    throw error;
  }
}

/**
 * Finding the processes of a command where no namespace holds them. They are known by what they cannot easily shed: the
 * process group, a parent, a variable of the environment, and a resource limit that the kernel no longer uses (the
 * number of file locks), which survives `setsid`, `env -i` and any number of forks.
 */
import { constants } from "node:fs";
import { type FileSystem, nodeFileSystem } from "../platform/file-system.ts";
import { systemCode } from "../errors.ts";
import type { SpawnRequest } from "../platform/spawn.ts";

/** How the processes of one command are told from others. */
export interface Marker {
  /** Value of the variable `TAU_JOB_ID`. */
  id: string;
  /** The soft limit of file locks. */
  lockLimit: number;
}

export interface ProcessInfo {
  pid: number;
  parent: number;
  group: number;
  isZombie: boolean;
  isMarked: boolean;
}

/** The processes of this machine. */
export interface ProcessTable {
  /** All, looked at closely; or those with a pid above `abovePid`, looked at quickly. None where the system does not tell. */
  list(marker: Marker, abovePid?: number): Promise<ProcessInfo[]>;
  /** Does nothing when there is nobody. */
  kill(pid: number, signal: NodeJS.Signals): void;
  /** The children of a process. */
  children(pid: number): Promise<number[]>;
}

const variable = "TAU_JOB_ID";

/** Makes a marker of an id that is unique. */
export function markerOf(id: string): Marker {
  const digits = id.replace(/[^0-9a-f]/gi, "").slice(-11);
  return { id, lockLimit: 2 ** 44 + Number.parseInt(digits || "0", 16) };
}

/** The request with its marks put on. Shells call the limit `-w` or `-x`. */
export function marked(request: SpawnRequest, { id, lockLimit }: Marker): SpawnRequest {
  const limit = `ulimit -S -w ${lockLimit} 2>/dev/null || ulimit -S -x ${lockLimit} 2>/dev/null; exec "$@"`;
  return {
    ...request,
    argv: ["sh", "-c", limit, "sh", ...request.argv],
    env: { ...request.env, [variable]: id },
  };
}

/** The living processes that belong to the command whose group leader is `root`. Pure. */
export function membersOf(processes: readonly ProcessInfo[], root: number): number[] {
  const members = new Set<number>([root]);
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const { pid, parent, group, isMarked } of processes) {
      if (isMarked || group === root || members.has(parent)) members.add(pid);
    }
  }
  return processes.filter(({ pid, isZombie }) => members.has(pid) && !isZombie).map(({ pid }) => pid);
}

/** Reads `/proc/PID/stat`; a program's name may contain anything, also brackets and blanks. Pure. */
export function parseStat(text: string): Omit<ProcessInfo, "isMarked"> | undefined {
  const end = text.lastIndexOf(")");
  const pid = Number.parseInt(text, 10);
  const [state, parent, group] = text.slice(end + 2).split(" ");
  if (end < 0 || Number.isNaN(pid) || state === undefined || parent === undefined || group === undefined)
    return undefined;
  return { pid, parent: Number(parent), group: Number(group), isZombie: state === "Z" || state === "X" };
}

export function createProcessTable(fs: FileSystem = nodeFileSystem): ProcessTable {
  return {
    async list(marker, abovePid) {
      const entries = await orNothing(fs.readdir("/proc"), []);
      const pids = entries
        .map(({ name }) => Number(name))
        .filter((pid) => pid > (abovePid ?? 0) && pid !== process.pid);
      const all = await Promise.all(pids.map((pid) => describe(fs, pid, marker, abovePid === undefined)));
      return all.filter((one) => one !== undefined);
    },
    kill(pid, signal) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // Gone already, or not ours to end.
        const code = systemCode(error);
        if (code !== "ESRCH" && code !== "EPERM") throw error;
      }
    },
    async children(pid) {
      const text = await readText(fs, `/proc/${pid}/task/${pid}/children`);
      return text.split(" ").filter(Boolean).map(Number);
    },
  };
}

async function describe(
  fs: FileSystem,
  pid: number,
  marker: Marker,
  isThorough: boolean,
): Promise<ProcessInfo | undefined> {
  const [stat, limits] = await Promise.all([readText(fs, `/proc/${pid}/stat`), readText(fs, `/proc/${pid}/limits`)]);
  const info = parseStat(stat);
  if (!info) return undefined;
  let isMarked = new RegExp(`^Max file locks +${marker.lockLimit} `, "m").test(limits);
  if (!isMarked && isThorough) {
    isMarked = `\0${await readText(fs, `/proc/${pid}/environ`)}`.includes(`\0${variable}=${marker.id}\0`);
  }
  return { ...info, isMarked };
}

/** A file under /proc; empty when the process is gone or not ours. */
async function readText(fs: FileSystem, path: string): Promise<string> {
  const read = async () => {
    const handle = await fs.open(path, constants.O_RDONLY);
    try {
      // The kernel gives as much as there is room for, and the room is as large as these files commonly get.
      const buffer = Buffer.allocUnsafe(32 * 1024);
      return buffer.toString("utf8", 0, await handle.read(buffer, 0));
    } finally {
      await handle.close();
    }
  };
  return await orNothing(read(), "");
}

/** Processes come and go while they are looked at; what cannot be seen is not there. */
async function orNothing<T>(work: Promise<T>, nothing: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return nothing;
  }
}

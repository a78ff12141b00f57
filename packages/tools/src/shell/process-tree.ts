/**
 * Finds the processes of a command where no namespace contains them. They are recognised by marks that they cannot easily
 * lose: the process group, a parent, a variable of the environment, and a resource limit that the kernel no longer uses
 * (the number of file locks), which survives `setsid`, `env -i` and any number of forks.
 */
import { constants } from "node:fs";
import { type FileSystem, nodeFileSystem, lookAt } from "../platform/file-system.ts";
import { systemCode } from "../errors.ts";
import type { SpawnRequest } from "../platform/spawn.ts";
import type { Limits, Load, Usage } from "./limits.ts";

/** Marks the processes of one command: a number that is both the variable and the limit. */
export interface Marker {
  readonly value: number;
}

export interface ProcessInfo {
  pid: number;
  parent: number;
  group: number;
  isZombie: boolean;
  isMarked: boolean;
}

/** Which processes to search: all, with their environments, or those with a pid above `abovePid`, without. */
export interface Search {
  marker: Marker;
  /** Its group needs no mark. */
  root: number;
  abovePid?: number | undefined;
  /** Called as soon as a marked process is found, since it may be gone before all others are checked. */
  onMarked?: ((pid: number) => void) | undefined;
}

/** The processes of this machine. */
export interface ProcessTable {
  /** Empty where the system does not tell. */
  list(search: Search): Promise<ProcessInfo[]>;
  /** Does nothing when there is no such process. */
  kill(pid: number, signal: NodeJS.Signals): void;
  isThere(pid: number): Promise<boolean>;
  /** The children of a process. */
  children(pid: number): Promise<number[]>;
  /** The load of the machine, read once for all commands that ask at the same time; undefined where it is not told. */
  load(): Promise<Load | undefined>;
  /** What these use together. Too many processes are only counted, and memory over the limit is measured exactly. */
  usage(pids: readonly number[], limits: Omit<Limits, "openFiles">): Promise<Usage>;
  /** The first process of the pid namespace that was made below `root`; undefined while there is none. */
  firstInside(root: number): Promise<number | undefined>;
  /** The processes in the namespace of this one, and in namespaces inside; all, unless there are more than `max`. */
  inside(first: number, max: number): Promise<number[]>;
  /** How many files a process that we start may open; undefined where the system does not tell. */
  openFiles(): Promise<number | undefined>;
}

/** The name of the variable. */
export const variable = "TAU_JOB_ID";

/** What `/proc/PID/limits` says of a process whose soft or hard limit is `value`, as a regular expression. */
export const lockLimitLine = (value: number | string): string => `Max file locks .* ${value} `;

/**
 * The request with its marks and limits. The hard limit of locks is set too, which only root can raise; shells call it
 * `-w` or `-x`. If memory runs out, the system kills the command and not us; if processors are short, the command has a
 * lower priority, so that we can still end it.
 */
export function marked(request: SpawnRequest, { value }: Marker, rlimits: readonly string[]): SpawnRequest {
  const steps = [
    `{ ulimit -w ${value} || ulimit -x ${value}`,
    ...rlimits,
    "echo 500 >/proc/self/oom_score_adj",
    'echo 5 >/proc/self/autogroup; } 2>/dev/null; exec "$@"',
  ];
  return {
    ...request,
    argv: ["sh", "-c", steps.join("; "), "sh", ...request.argv],
    env: { ...request.env, [variable]: String(value) },
  };
}

/** The living processes that belong to the command whose group leader is `root`, or to `known` members. Pure. */
export function getMembers(processes: readonly ProcessInfo[], root: number, known: Iterable<number> = []): number[] {
  const members = new Set<number>([root, ...known]);
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

/** Reads `/proc/loadavg` and `/proc/meminfo`. Pure. */
export function parseLoad(loadavg: string, meminfo: string): Load | undefined {
  const [, tasks, lastPid] = /\/(\d+) (\d+)/.exec(loadavg) ?? [];
  const total = getKilobytes(meminfo, "MemTotal");
  const available = getKilobytes(meminfo, "MemAvailable");
  if (tasks === undefined || total === undefined || available === undefined) return undefined;
  return { tasks: Number(tasks), lastPid: Number(lastPid), usedBytes: (total - available) * 1024 };
}

const getKilobytes = (text: string, name: string): number | undefined => {
  const [, digits] = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

export function createProcessTable(fs: FileSystem = nodeFileSystem): ProcessTable {
  const pidsIn = async (directory: string) =>
    (await orNothing(fs.readdir(directory), [])).map(({ name }) => Number(name)).filter((pid) => pid > 0);
  const children = async (pid: number) => {
    const text = await readText(fs, `/proc/${pid}/task/${pid}/children`);
    return text.split(" ").filter(Boolean).map(Number);
  };
  /** Synchronous: while a fork bomb uses the processors, every detour over a thread gives it the time to double. */
  const getStat = (path: string) => lookAt(fs, path);
  const getNamespace = async (pid: number | "self") =>
    (await orNothing(getStat(`/proc/${pid}/ns/pid`), undefined))?.ino;
  const residentBytes = async (pid: number) =>
    1024 * (getKilobytes(await readText(fs, `/proc/${pid}/status`), "RssAnon") ?? 0);
  /** Each page divided by the number of processes that share it. The kernel checks every page for it. */
  const shareBytes = async (pid: number) => {
    const kilobytes = getKilobytes(await readText(fs, `/proc/${pid}/smaps_rollup`), "Pss_Anon");
    return kilobytes === undefined ? await residentBytes(pid) : 1024 * kilobytes;
  };
  let loading: Promise<Load | undefined> | undefined;
  let hardLimit: Promise<number | undefined> | undefined;
  return {
    async list(search) {
      const { abovePid } = search;
      const pids = (await pidsIn("/proc")).filter((pid) => pid > (abovePid ?? 0) && pid !== process.pid);
      // The newest first: they may be gone soonest.
      pids.reverse();
      const all = await inBatches(pids, (pid) => describe(fs, pid, search));
      return all.filter((info) => info !== undefined);
    },
    kill(pid, signal) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // It has ended, or belongs to another user.
        const code = systemCode(error);
        if (code !== "ESRCH" && code !== "EPERM") throw error;
      }
    },
    isThere: async (pid) => parseStat(await readText(fs, `/proc/${pid}/stat`))?.isZombie === false,
    children,
    load: () =>
      (loading ??= Promise.all([readText(fs, "/proc/loadavg"), readText(fs, "/proc/meminfo")]).then((texts) => {
        loading = undefined;
        return parseLoad(...texts);
      })),
    async usage(pids, limits) {
      const processes = pids.length;
      if (processes > limits.processes) return { processes, memoryBytes: 0 };
      const resident = getSum(await inBatches(pids, residentBytes));
      if (resident <= limits.memoryBytes) return { processes, memoryBytes: resident };
      return { processes, memoryBytes: getSum(await inBatches(pids, shareBytes)) };
    },
    async firstInside(root) {
      const outside = await getNamespace("self");
      // A wrapper may start the command through processes of its own, each of which leads to the next.
      for (let level = [root]; level.length > 0; level = (await inBatches(level, children)).flat()) {
        const spaces = await inBatches(level, getNamespace);
        const index = spaces.findIndex((space) => space !== undefined && space !== outside);
        if (index >= 0) return level[index];
      }
      return undefined;
    },
    async inside(first, max) {
      // Never through the mounts of the command: it controls what its own /proc says, and whether reading that ends.
      const [outside, space] = await Promise.all([getNamespace("self"), getNamespace(first)]);
      const answers = new Map([
        [space, true],
        [outside, false],
        [undefined, false],
      ]);
      const isInside = async (pid: number): Promise<boolean> => {
        const own = await getNamespace(pid);
        const known = answers.get(own);
        if (known !== undefined) return known;
        // A process in another namespace has its parent there, or is its first process and has a parent outside.
        const parent = parseStat(await readText(fs, `/proc/${pid}/stat`))?.parent;
        if (parent === undefined) return false;
        const answer = await isInside(parent);
        answers.set(own, answer);
        return answer;
      };
      const found: number[] = [];
      // The newest first: a command that grows fast has to be found too large before it has grown further.
      const pids = await pidsIn("/proc");
      pids.reverse();
      for (let start = 0; start < pids.length && found.length <= max; start += batchSize) {
        const some = pids.slice(start, start + batchSize);
        const are = await inBatches(some, isInside);
        found.push(...some.filter((_pid, index) => are[index]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return found;
    },
    openFiles: () =>
      (hardLimit ??= readText(fs, "/proc/self/limits").then((text) => {
        const [, hard] = /^Max open files +\S+ +(\d+) /m.exec(text) ?? [];
        return hard === undefined ? undefined : Number(hard);
      })),
  };
}

async function describe(fs: FileSystem, pid: number, search: Search): Promise<ProcessInfo | undefined> {
  const { marker, root, abovePid, onMarked } = search;
  const info = parseStat(await readText(fs, `/proc/${pid}/stat`));
  if (!info || info.group === root) return info && { ...info, isMarked: false };
  const [limits, environment] = await Promise.all([
    readText(fs, `/proc/${pid}/limits`),
    abovePid === undefined ? readText(fs, `/proc/${pid}/environ`) : "",
  ]);
  const isMarked =
    new RegExp(lockLimitLine(marker.value)).test(limits) ||
    `\0${environment}`.includes(`\0${variable}=${marker.value}\0`);
  if (isMarked && !info.isZombie) onMarked?.(pid);
  return { ...info, isMarked };
}

/** A file under /proc; empty when the process is gone or not ours. */
async function readText(fs: FileSystem, path: string): Promise<string> {
  const read = async () => {
    // Non-blocking: a read that waits for ever would block a thread for ever.
    const handle = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      // As large as these files usually get.
      const buffer = Buffer.allocUnsafe(32 * 1024);
      return buffer.toString("utf8", 0, await handle.read(buffer, 0));
    } finally {
      await handle.close();
    }
  };
  return await orNothing(read(), "");
}

const getSum = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

/** Few enough that neither descriptors nor memory run out when there are thousands. */
const batchSize = 64;

async function inBatches<T>(pids: readonly number[], work: (pid: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let start = 0; start < pids.length; start += batchSize) {
    results.push(...(await Promise.all(pids.slice(start, start + batchSize).map((pid) => work(pid)))));
  }
  return results;
}

/** Processes end while they are checked: one that cannot be read counts as gone. */
async function orNothing<T>(work: Promise<T>, nothing: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return nothing;
  }
}

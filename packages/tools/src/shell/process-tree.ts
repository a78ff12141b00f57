/**
 * Finding the processes of a command where no namespace holds them. They are known by what they cannot easily shed: the
 * process group, a parent, a variable of the environment, and a resource limit that the kernel no longer uses (the
 * number of file locks), which survives `setsid`, `env -i` and any number of forks.
 */
import { closeSync, constants, openSync, readdirSync, readSync } from "node:fs";
import { lookAt, nodeFileSystem } from "../platform/file-system.ts";
import { systemCode } from "../errors.ts";
import type { SpawnRequest } from "../platform/spawn.ts";
import type { Limits, Load, Usage } from "./limits.ts";

/** How the processes of one command are distinguished from others: a number that is both the variable and the limit. */
export interface Marker {
  readonly value: number;
}

interface ProcessInfo {
  pid: number;
  parent: number;
  group: number;
  isZombie: boolean;
  isMarked: boolean;
}

/** Whom to look for: everybody, looked at closely, or those with a pid above `abovePid`, looked at quickly. */
export interface Search {
  marker: Marker;
  /** Its group needs no mark. */
  root: number;
  abovePid?: number | undefined;
  /** Called as soon as a process with the mark is seen, which may be gone before all others are looked at. */
  onMarked?: ((process: Pick<ProcessInfo, "pid" | "isZombie">) => void) | undefined;
}

/** The processes of this machine. */
export interface ProcessTable {
  /** None where the system does not tell. */
  list(search: Search): Promise<ProcessInfo[]>;
  /** Does nothing when there is nobody. */
  kill(pid: number, signal: NodeJS.Signals): void;
  isThere(pid: number): Promise<boolean>;
  /** The children of a process. */
  children(pid: number): Promise<number[]>;
  /**
   * The load of the whole machine; undefined where the system does not tell. One that is younger may be given again.
   * Default 0.
   */
  load(maxAgeMs?: number): Promise<Load | undefined>;
  /**
   * Measures what these take together. More than may be are only counted, and memory over the limit is looked at closely.
   */
  usage(pids: readonly number[], limits: Omit<Limits, "openFiles">): Promise<Usage>;
  /** The first process of the pid namespace that was made below `root`; undefined while there is none. */
  firstInside(root: number): Promise<number | undefined>;
  /**
   * Lists the processes in the namespace of this one, and in others that were made inside; all, unless there are more than
   * `max`.
   */
  inside(first: number, max: number): Promise<number[]>;
  /** How many files a process that we start may open; undefined where the system does not tell. */
  openFiles(): Promise<number | undefined>;
}

/** The name of the variable. */
export const variable = "TAU_JOB_ID";

/** Matches the line of `/proc/PID/limits` of a process whose soft or hard limit is `value`, as a regular expression. */
export const lockLimitLine = (value: number | string): string => `Max file locks .* ${value} `;

/**
 * Where memory runs out, the system takes the command and not us; where processors are short, its session stands back a
 * little, so that we can still end it.
 */
export const standBack = ["echo 500 >/proc/self/oom_score_adj", "echo 5 >/proc/self/autogroup"] as const;

/**
 * The request with its marks put on, and its limits. The hard limit of locks is set too, which only root can raise;
 * shells call it `-w` or `-x`.
 */
export function marked(request: SpawnRequest, { value }: Marker, rlimits: readonly string[]): SpawnRequest {
  const steps = [`ulimit -w ${value} || ulimit -x ${value}`, ...rlimits, ...standBack];
  return {
    ...request,
    argv: ["sh", "-c", `{ ${steps.join("; ")}; } 2>/dev/null; exec "$@"`, "sh", ...request.argv],
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

/**
 * The processes of this machine, from /proc. Files that the kernel writes without waiting for the process are read
 * synchronously: while the processors are busy, each detour over a thread takes longer than one link of a chain of forks
 * lives, and gives a fork bomb the time to double.
 */
export function createProcessTable(): ProcessTable {
  const children = async (pid: number) =>
    readNow(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  const getNamespace = async (pid: number | "self") =>
    (await orNothing(lookAt(nodeFileSystem, `/proc/${pid}/ns/pid`), undefined))?.ino;
  const residentBytes = async (pid: number) => 1024 * (getKilobytes(readNow(`/proc/${pid}/status`), "RssAnon") ?? 0);
  /** Each page divided by those who share it. The kernel looks at every page for it. */
  const shareBytes = async (pid: number) => {
    const kilobytes = getKilobytes(await readLater(`/proc/${pid}/smaps_rollup`), "Pss_Anon");
    return kilobytes === undefined ? await residentBytes(pid) : 1024 * kilobytes;
  };
  let lastLoad: { load: Load | undefined; atMs: number } | undefined;
  let openFiles: { max: number | undefined } | undefined;
  return {
    async list(search) {
      const { abovePid } = search;
      const pids = getPids().filter((pid) => pid > (abovePid ?? 0) && pid !== process.pid);
      const all = await inBatches(pids, (pid) => describe(pid, search));
      return all.filter((info) => info !== undefined);
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
    isThere: async (pid) => parseStat(readNow(`/proc/${pid}/stat`))?.isZombie === false,
    children,
    async load(maxAgeMs = 0) {
      const atMs = performance.now();
      if (!lastLoad || atMs - lastLoad.atMs >= maxAgeMs) {
        lastLoad = { load: parseLoad(readNow("/proc/loadavg"), readNow("/proc/meminfo")), atMs };
      }
      return lastLoad.load;
    },
    async usage(pids, limits) {
      const processes = pids.length;
      if (processes > limits.processes) return { processes, memoryBytes: 0 };
      const resident = getSum(await inBatches(pids, residentBytes));
      if (resident <= limits.memoryBytes) return { processes, memoryBytes: resident };
      return { processes, memoryBytes: getSum(await inBatches(pids, shareBytes)) };
    },
    async firstInside(root) {
      const outside = await getNamespace("self");
      // What wraps a command may start it through processes of its own, each of which leads to the next.
      for (let level = [root]; level.length > 0; level = (await inBatches(level, children)).flat()) {
        const spaces = await inBatches(level, getNamespace);
        const at = spaces.findIndex((space) => space !== undefined && space !== outside);
        if (at >= 0) return level[at];
      }
      return undefined;
    },
    async inside(first, max) {
      // Never through the mounts of a command: it decides what its own /proc says, and whether that ever answers.
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
        // A process in another namespace has a parent there; the first one of a namespace has a parent outside of it.
        const parent = parseStat(readNow(`/proc/${pid}/stat`))?.parent;
        if (parent === undefined) return false;
        const answer = await isInside(parent);
        answers.set(own, answer);
        return answer;
      };
      const inside: number[] = [];
      const pids = getPids();
      for (let start = 0; start < pids.length && inside.length <= max; start += atOnce) {
        const batch = pids.slice(start, start + atOnce);
        const areInside = await inBatches(batch, isInside);
        inside.push(...batch.filter((_pid, index) => areInside[index]));
        await nextTurn();
      }
      return inside;
    },
    async openFiles() {
      const [, hard] = /^Max open files +\S+ +(\d+) /m.exec(openFiles ? "" : readNow("/proc/self/limits")) ?? [];
      openFiles ??= { max: hard === undefined ? undefined : Number(hard) };
      return openFiles.max;
    },
  };
}

async function describe(pid: number, search: Search): Promise<ProcessInfo | undefined> {
  const { marker, root, abovePid, onMarked } = search;
  const info = parseStat(readNow(`/proc/${pid}/stat`));
  if (!info || info.group === root) return info && { ...info, isMarked: false };
  const isMarked =
    new RegExp(lockLimitLine(marker.value)).test(readNow(`/proc/${pid}/limits`)) ||
    (abovePid === undefined &&
      `\0${await readLater(`/proc/${pid}/environ`)}`.includes(`\0${variable}=${marker.value}\0`));
  if (isMarked) onMarked?.(info);
  return { ...info, isMarked };
}

/**
 * All processes, none where the system does not tell. The newest first: a link of a chain of forks is soon gone, and a
 * bomb has to be found too large before it has grown further. (Node sorts the names of a directory as text.)
 */
function getPids(): number[] {
  const names = orNothingNow(() => readdirSync("/proc"), []);
  const pids = names.map(Number).filter((pid) => pid > 0);
  return pids.sort((first, second) => second - first);
}

/** The path may not lead to a file of the kernel: an open that waits for another process would never end. */
const readFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** The kernel gives as much as fits, and these files are commonly smaller. */
const maxFileBytes = 32 * 1024;
/** For what is read at once. Commands are watched by it ten times a second. */
const readBuffer = Buffer.allocUnsafe(maxFileBytes);

/** A file under /proc that the kernel answers at once; empty when the process is gone or not ours. */
function readNow(path: string): string {
  return orNothingNow(() => {
    const fd = openSync(path, readFlags);
    try {
      return readBuffer.toString("utf8", 0, readSync(fd, readBuffer, 0, maxFileBytes, 0));
    } finally {
      closeSync(fd);
    }
  }, "");
}

/** A file under /proc that needs the memory of the process, which may be locked for long: read on another thread. */
async function readLater(path: string): Promise<string> {
  const read = async () => {
    const handle = await nodeFileSystem.open(path, readFlags);
    try {
      const buffer = Buffer.allocUnsafe(maxFileBytes);
      return buffer.toString("utf8", 0, await handle.read(buffer, 0));
    } finally {
      await handle.close();
    }
  };
  return await orNothing(read(), "");
}

const getSum = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

/** Few enough that neither descriptors nor memory run short when there are thousands. */
const atOnce = 64;

async function inBatches<T>(pids: readonly number[], work: (pid: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let at = 0; at < pids.length; at += atOnce) {
    if (at > 0) await nextTurn();
    results.push(...(await Promise.all(pids.slice(at, at + atOnce).map((pid) => work(pid)))));
  }
  return results;
}

/** Lets other work of this process continue. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Processes come and go while they are looked at; what cannot be seen is not there. */
async function orNothing<T>(work: Promise<T>, nothing: T): Promise<T> {
  return await work.catch((error: unknown) => ignoreSystemError(error, nothing));
}

function orNothingNow<T>(work: () => T, nothing: T): T {
  try {
    return work();
  } catch (error) {
    return ignoreSystemError(error, nothing);
  }
}

function ignoreSystemError<T>(error: unknown, nothing: T): T {
  if (systemCode(error) === undefined) throw error;
  return nothing;
}

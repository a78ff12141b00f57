/**
 * Finding the processes of a command where no namespace holds them. They are known by what they cannot easily shed: the
 * process group, a parent, a variable of the environment, and a resource limit that the kernel no longer uses (the
 * number of file locks), which survives `setsid`, `env -i` and any number of forks.
 */
import { constants } from "node:fs";
import { type FileSystem, nodeFileSystem, lookAt } from "../platform/file-system.ts";
import { systemCode } from "../errors.ts";
import type { SpawnRequest } from "../platform/spawn.ts";
import type { Limits, Load, Usage } from "./limits.ts";

/** How the processes of one command are told from others: a number that is both the variable and the limit. */
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

/** Whom to look for: everybody, looked at closely, or those with a pid above `abovePid`, looked at quickly. */
export interface Search {
  marker: Marker;
  /** Its group needs no mark. */
  root: number;
  abovePid?: number | undefined;
  /** Called as soon as somebody with the mark is seen, who may be gone before all others are looked at. */
  onMarked?: ((pid: number) => void) | undefined;
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
  /** How the whole machine stands, asked by all commands at once; undefined where the system does not tell. */
  load(): Promise<Load | undefined>;
  /** What these take together. More than may be are only counted, and memory over the limit is looked at closely. */
  usage(pids: readonly number[], limits: Omit<Limits, "openFiles">): Promise<Usage>;
  /** The first process of the pid namespace that was made below `root`; undefined while there is none. */
  firstInside(root: number): Promise<number | undefined>;
  /** Those in the namespace of this process, and in others that were made inside; all, unless there are more than `most`. */
  inside(first: number, max: number): Promise<number[]>;
  /** How many files a process that we start may open; undefined where the system does not tell. */
  openFiles(): Promise<number | undefined>;
}

/** The name of the variable. */
export const variable = "TAU_JOB_ID";

/** What `/proc/PID/limits` says of a process whose soft or hard limit is `value`, as a regular expression. */
export const lockLimitLine = (value: number | string): string => `Max file locks .* ${value} `;

/**
 * The request with its marks put on, and its limits. The hard limit of locks is set too, which only root can raise;
 * shells call it `-w` or `-x`. Where memory runs out, the system takes the command and not us;
 * where processors are short, its session stands back a little, so that we can still end it.
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
  /** At once: where a bomb takes the processors, every detour over a thread gives it the time to double. */
  const getStat = (path: string) => lookAt(fs, path);
  const getNamespace = async (pid: number | "self") =>
    (await orNothing(getStat(`/proc/${pid}/ns/pid`), undefined))?.ino;
  const residentBytes = async (pid: number) =>
    1024 * (getKilobytes(await readText(fs, `/proc/${pid}/status`), "RssAnon") ?? 0);
  /** Each page divided by those who share it. The kernel looks at every page for it. */
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
      // The newest are the first to be gone.
      pids.reverse();
      const all = await inBatches(pids, (pid) => describe(fs, pid, search));
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
        // Whoever lives in a namespace of its own has a parent there, or is the first and has one where it was made.
        const parent = parseStat(await readText(fs, `/proc/${pid}/stat`))?.parent;
        if (parent === undefined) return false;
        const answer = await isInside(parent);
        answers.set(own, answer);
        return answer;
      };
      const found: number[] = [];
      // The newest first: what grows fast has to be found too large before it has grown further.
      const pids = await pidsIn("/proc");
      pids.reverse();
      for (let at = 0; at < pids.length && found.length <= max; at += atOnce) {
        const some = pids.slice(at, at + atOnce);
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
    // What is there is no place of ours: a read that waits for somebody would take a thread away for ever.
    const handle = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
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

const getSum = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

/** Few enough that neither descriptors nor memory run short when there are thousands. */
const atOnce = 64;

async function inBatches<T>(pids: readonly number[], work: (pid: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let at = 0; at < pids.length; at += atOnce) {
    results.push(...(await Promise.all(pids.slice(at, at + atOnce).map((pid) => work(pid)))));
  }
  return results;
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

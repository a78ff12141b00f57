/** How much of the machine one command may take, so that what runs away takes neither us nor the machine along. */
import { availableParallelism, totalmem } from "node:os";
import { formatBytes } from "../truncate.ts";

export interface Limits {
  /** Processes at once. Default: 1,024, or 64 for each processor where that is more. */
  readonly processes: number;
  /** Memory that is not shared with files, of all processes together. Default: three quarters of what there is. */
  readonly memoryBytes: number;
  /** Open files of each process. Default 65,536. */
  readonly openFiles: number;
}

/** What the processes of a command take together. */
export interface Usage {
  processes: number;
  memoryBytes: number;
}

/** Of the whole machine. */
export interface Load {
  /** Processes and threads. */
  tasks: number;
  usedBytes: number;
  lastPid: number;
}

/** What is undefined is not given, also for those whose compiler allows to say so. */
export function resolveLimits(limits: { [Name in keyof Limits]?: Limits[Name] | undefined } = {}): Limits {
  const processes = Math.max(1_024, 64 * availableParallelism());
  // A container may have less than the machine; without one, the figure is zero or beyond any machine.
  const total = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return {
    processes: limits.processes ?? processes,
    memoryBytes: limits.memoryBytes ?? Math.floor(total * 0.75),
    openFiles: limits.openFiles ?? 65_536,
  };
}

/** What the model reads when a command was ended for taking too much; undefined while it takes no more than it may. Pure. */
export function describeExcess(usage: Usage, limits: Limits): string | undefined {
  const count = limits.processes.toLocaleString("en-US");
  if (usage.processes > limits.processes)
    return `[The command was ended: it had more than ${count} processes at once.]`;
  const size = formatBytes(limits.memoryBytes);
  if (usage.memoryBytes > limits.memoryBytes) return `[The command was ended: it used more than ${size} of memory.]`;
  return undefined;
}

/** Steps of a shell that set limits which the system holds itself. Those that we have ourselves are never raised. Pure. */
export function toRlimits(
  { processes, openFiles }: Limits,
  { maxFiles, load }: { maxFiles: number | undefined; load: Load | undefined },
): string[] {
  return [
    ...(maxFiles !== undefined && openFiles < maxFiles ? [`ulimit -n ${openFiles}`] : []),
    // It counts all that a user runs, threads too, and root may run any number: a wall behind what is watched.
    ...(load ? [`ulimit -p ${load.tasks + 4 * processes} || ulimit -u ${load.tasks + 4 * processes}`] : []),
  ];
}

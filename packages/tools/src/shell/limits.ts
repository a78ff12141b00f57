/** How much of the machine one command may use, so that a runaway command brings down neither us nor the machine. */
import { availableParallelism, totalmem } from "node:os";
import type { ConfinedLimits } from "../platform/command-sandbox.ts";
import { formatBytes } from "../truncate.ts";

export interface Limits {
  /** Processes at once. Default: 1,024, or 64 for each processor where that is more. */
  readonly processes: number;
  /** Memory that is not shared with files, of all processes together. Default: three quarters of what there is. */
  readonly memoryBytes: number;
  /** Open files of each process. Default 65,536. */
  readonly openFiles: number;
  /** Private memory of each process that can be written to, used or not, as the system limits it. Default: no limit. */
  readonly processDataBytes?: number | undefined;
  /** Sentences for the model and people about what allows more memory. Default: none. */
  readonly memoryAdvice?: string | undefined;
}

/** The memory and processes that a command uses as a whole. */
export interface Usage {
  processes: number;
  memoryBytes: number;
}

/** The load of the whole machine. */
export interface Load {
  /** Processes and threads. */
  tasks: number;
  usedBytes: number;
  lastPid: number;
}

/** Fields that are undefined get their defaults, like fields that are missing. */
export function resolveLimits(limits: { [Name in keyof Limits]?: Limits[Name] | undefined } = {}): Limits {
  defaults ??= getDefaults();
  return {
    processes: limits.processes ?? defaults.processes,
    memoryBytes: limits.memoryBytes ?? defaults.memoryBytes,
    openFiles: limits.openFiles ?? defaults.openFiles,
    processDataBytes: limits.processDataBytes,
    memoryAdvice: limits.memoryAdvice,
  };
}

/** Limits of this machine, determined with the first command. */
let defaults: Limits | undefined;

function getDefaults(): Limits {
  // A container may have less than the machine; without one, the figure is zero or beyond any machine.
  const total = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return {
    processes: Math.max(1_024, 64 * availableParallelism()),
    memoryBytes: Math.floor(total * 0.75),
    openFiles: 65_536,
  };
}

/** The text for the model about a command that exceeds its limits; undefined for one that does not. Pure. */
export function describeExcess(usage: Usage, limits: Limits): string | undefined {
  const count = limits.processes.toLocaleString("en-US");
  if (usage.processes > limits.processes)
    return `[The command was ended: it had more than ${count} processes at once.]`;
  const size = formatBytes(limits.memoryBytes);
  const advice = limits.memoryAdvice === undefined ? "" : ` ${limits.memoryAdvice}`;
  if (usage.memoryBytes > limits.memoryBytes)
    return `[The command was ended: it used more than ${size} of memory.${advice}]`;
  return undefined;
}

/** Limits which the system enforces. Our own limits are never raised. Pure. */
export function toSystemLimits(
  { processes, openFiles, processDataBytes }: Limits,
  { maxFiles, load }: { maxFiles: number | undefined; load: Load | undefined },
): ConfinedLimits {
  return {
    maxFiles: maxFiles !== undefined && openFiles < maxFiles ? openFiles : undefined,
    // The system counts all processes and threads of the user, and does not limit root: a second line of defence.
    maxProcesses: load && load.tasks + 4 * processes,
    maxDataBytes: processDataBytes,
  };
}

/** Shell commands that set these limits. Pure. */
export const toRlimits = ({ maxFiles, maxProcesses, maxDataBytes }: ConfinedLimits): string[] => [
  ...(maxFiles === undefined ? [] : [`ulimit -n ${maxFiles}`]),
  ...(maxProcesses === undefined ? [] : [`ulimit -p ${maxProcesses} || ulimit -u ${maxProcesses}`]),
  // In kilobytes.
  ...(maxDataBytes === undefined ? [] : [`ulimit -d ${Math.floor(maxDataBytes / 1024)}`]),
];

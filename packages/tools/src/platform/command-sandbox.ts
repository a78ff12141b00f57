/** The port to a sandbox that commands run in. Tools only use one; the caller decides which. */
import type { RunningProcess, SpawnRequest } from "./spawn.ts";

/** A process with everything that it starts, in a pid namespace of its own. Its `exit` means that none of them is left. */
export interface ConfinedProcess extends RunningProcess {
  /** Ends all of them at once. */
  killAll(): void;
  /** The first process of the namespace, by its number here; undefined when it is gone. */
  findFirst(): Promise<number | undefined>;
  /** After `exit`: whether processes had outlived the command, and were ended. */
  readonly hadLeftovers: () => boolean;
}

/** Limits that the system enforces. Undefined means that ours hold. */
export interface ConfinedLimits {
  readonly maxFiles: number | undefined;
  /** The limit of the user, processes and threads together. */
  readonly maxProcesses: number | undefined;
  /** Private memory of each process that can be written to. */
  readonly maxDataBytes?: number | undefined;
}

/** How a command ended. */
export interface CommandEnd {
  readonly hasFailed: boolean;
  /** The end of its output. */
  readonly output: string;
}

/** The access that a failed command wanted, and the sandbox did not allow. */
export interface SandboxRefusal {
  /** Whole sentences for people and models. */
  readonly reason: string;
  /** Hosts and existing paths that a person could allow. */
  readonly hosts: readonly string[];
  readonly paths: readonly string[];
  /** Whether a person may let the command run outside. */
  readonly mayLeave: boolean;
}

export interface SandboxReport {
  /** Texts for the model, such as changes that the sandbox undid, and a refusal with what to configure. */
  readonly notices: readonly string[];
  readonly refused?: SandboxRefusal;
}

/** How one command gets into the sandbox. */
export interface SandboxEntry {
  start(limits: ConfinedLimits): Promise<ConfinedProcess>;
  /** Must be called once, when all processes of the command are gone, or without `end` when it was not started. */
  finish(end?: CommandEnd): Promise<SandboxReport>;
}

export interface CommandSandbox {
  /** Undefined where there is no sandbox: the command runs as without one. Throws a `ToolsError` if it must not. */
  enter(request: SpawnRequest): Promise<SandboxEntry | undefined>;
}

/** Starts a program that keeps running and is talked to over pipes, and ends it with everything that it started. */
import { type Clock, systemClock } from "@tau/ai";
import type { Writable } from "node:stream";
import { ToolsError } from "../errors.ts";
import type { CommandSandbox } from "../platform/command-sandbox.ts";
import type { ExitStatus, RunningProcess, Spawn, SpawnRequest } from "../platform/spawn.ts";
import { startContained } from "./contained.ts";
import type { Limits } from "./limits.ts";
import { findPidNamespace, type PidNamespace } from "./pid-namespace.ts";
import { createProcessTable } from "./process-tree.ts";
import { useWatchdog } from "./watchdog.ts";

interface ProgramOptions {
  spawn: Spawn;
  /** Default: it runs outside of any sandbox. */
  sandbox?: CommandSandbox | undefined;
  limits?: Partial<Limits>;
  /** Finds what contains its processes outside of a sandbox. Default: the first kind that works here. */
  namespace?: () => Promise<PidNamespace | undefined>;
  clock?: Clock;
}

export interface Program extends Pick<RunningProcess, "stdout" | "stderr"> {
  readonly pid: number | undefined;
  /** Whether it runs in the sandbox that it was to run in. */
  readonly isSandboxed: boolean;
  readonly stdin: Writable;
  /** Settles when nothing of it is left. Never rejects. */
  readonly exit: Promise<ExitStatus>;
  /** Says why it was ended, in words for the model, if it took more than its limits. */
  getExcess(): string | undefined;
  /** Asks everything to end, and after `graceMs` makes it. Resolves when nothing is left. */
  end(graceMs?: number): Promise<void>;
}

const defaultGraceMs = 500;

/** Rejects if the sandbox refuses it. A program that does not exist is reported by `exit`. */
export async function startProgram(
  request: Omit<SpawnRequest, "stdin">,
  { spawn, sandbox, limits, namespace, clock = systemClock }: ProgramOptions,
): Promise<Program> {
  const whole: SpawnRequest = { ...request, stdin: "pipe" };
  const watchdog = useWatchdog({ spawn, clock });
  const table = createProcessTable();
  const entry = await sandbox?.enter(whole);
  try {
    const findNamespace = namespace ?? (() => findPidNamespace(spawn));
    const child = await startContained({
      spawn,
      clock,
      table,
      watchdog,
      namespace: entry ? undefined : await findNamespace(),
      request: whole,
      sandbox: entry,
      ...(limits && { limits }),
    });
    if (!child.stdin) throw new ToolsError("unavailable", "Too many files are open: no program can be started.");
    const exit = child.exit.then(async (status) => {
      await child.sweep().catch(() => undefined);
      await child.leaveSandbox({ hasFailed: false, output: "" }).catch(() => undefined);
      await watchdog.release();
      return status;
    });
    return {
      pid: child.pid,
      isSandboxed: entry !== undefined,
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: child.stderr,
      exit,
      getExcess: () => child.excess,
      async end(graceMs = defaultGraceMs) {
        await child.end(graceMs);
        await exit;
      },
    };
  } catch (error) {
    await entry?.finish();
    await watchdog.release();
    throw error;
  }
}

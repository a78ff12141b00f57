/** Starts a process of any tool in the sandbox. */
import type { CommandEnd, CommandSandbox, RunningProcess, SandboxReport, Spawn, SpawnRequest } from "@tau/tools";

/** The system's own limits hold: a tool that starts a process watches over it itself. */
const noLimits = { maxFiles: undefined, maxProcesses: undefined };

export interface InsideProcess {
  readonly process: RunningProcess;
  /** Must be called once, when the process is gone. Reports what the sandbox undid, and what it refused. */
  finish(end?: CommandEnd): Promise<SandboxReport>;
}

/** Where there is no sandbox, it is started as it is. */
export async function openInside(sandbox: CommandSandbox, spawn: Spawn, request: SpawnRequest): Promise<InsideProcess> {
  const entry = await sandbox.enter(request);
  if (!entry) return { process: await spawn(request), finish: async () => ({ notices: [] }) };
  try {
    const process = await entry.start(noLimits);
    return { process, finish: (end) => entry.finish(end) };
  } catch (error) {
    await entry.finish();
    throw error;
  }
}

/** Spawns for a tool that needs no report. */
export async function spawnInside(
  sandbox: CommandSandbox,
  spawn: Spawn,
  request: SpawnRequest,
): Promise<RunningProcess> {
  const { process, finish } = await openInside(sandbox, spawn, request);
  void process.exit.then(() => finish());
  return process;
}

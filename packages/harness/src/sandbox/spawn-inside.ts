/** Starts a process of any tool in the sandbox. */
import type { CommandSandbox, RunningProcess, Spawn, SpawnRequest } from "@tau/tools";

/** The system's own limits hold: a tool that starts a process watches over it itself. */
const noLimits = { maxFiles: undefined, maxProcesses: undefined };

/** Where there is no sandbox, it is started as it is. */
export async function spawnInside(
  sandbox: CommandSandbox,
  spawn: Spawn,
  request: SpawnRequest,
): Promise<RunningProcess> {
  const entry = await sandbox.enter(request);
  if (!entry) return await spawn(request);
  try {
    const process = await (entry.kind === "start"
      ? entry.start(noLimits)
      : spawn({ ...entry.request, argv: [...entry.namespace.prefix, ...entry.request.argv] }));
    void process.exit.then(() => entry.finish());
    return process;
  } catch (error) {
    await entry.finish();
    throw error;
  }
}

/** Lets a task work in an isolated copy of the agent's repository. */
import { resolveFields } from "@tau/config/settings";
import type { ChildOptions } from "@tau/extensions";
import { type ChildOpener, type FanoutAgent, getOpener } from "./child.ts";
import type { FanoutTask } from "./contract.ts";
import type { TaskOutcome } from "./results.ts";
import { openIsolated } from "./worktrees/isolated.ts";
import { findRepository } from "./worktrees/git.ts";
import { fanoutSettings } from "./worktrees/settings.ts";

export interface IsolatedOutcome {
  outcome: TaskOutcome;
  /** The branch with its changes; undefined if there are none. */
  branch?: string;
}

/** The part of the options of a child that says where it works. */
export type ChildPlace = Pick<ChildOptions, "cwd" | "readablePaths">;

/** `run` gets an empty place where the agent does not work in a git repository with a commit. Never rejects. */
export async function isolateTask(
  agent: FanoutAgent,
  { task, signal }: { task: FanoutTask; signal: AbortSignal },
  run: (place: ChildPlace) => Promise<TaskOutcome>,
): Promise<IsolatedOutcome> {
  try {
    const opener = await getOpener(agent);
    const cwd = await findDirectory(opener);
    const isRepository = cwd !== undefined && (await findRepository(cwd, signal)) !== undefined;
    if (!isRepository) return { outcome: await run({}) };
    const { id, description } = task;
    const settings = opener.settingsManager?.get() ?? opener.getSettings?.();
    const { directory } = settings ? resolveFields(fanoutSettings, settings).fanout : {};
    const isolated = await openIsolated({ cwd, id, description, directory, signal });
    const outcome = await run(isolated.child);
    const result = await isolated.finish({ result: "branch" });
    return { outcome, ...(result.kind === "branch" && { branch: result.branch }) };
  } catch (error) {
    return { outcome: signal.aborted ? { kind: "aborted", reason: signal.reason } : { kind: "threw", error } };
  }
}

/** The API of an extension has no directory of its own, but its programs start in that of the session. */
async function findDirectory({ cwd, exec }: ChildOpener): Promise<string | undefined> {
  if (cwd !== undefined || !exec) return cwd;
  const { code, stdout } = await exec("pwd", ["-P"]);
  return code === 0 ? stdout.replace(/\n$/, "") : undefined;
}

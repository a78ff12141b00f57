/** Lets tasks work in isolated copies of the agent's repository. */
import { resolveFields } from "@tau/config/settings";
import type { ChildOptions } from "@tau/extensions";
import { type FanoutAgent, getOpener } from "./child.ts";
import type { FanoutTask } from "./contract.ts";
import type { TaskOutcome } from "./results.ts";
import { findRepository } from "./worktrees/git.ts";
import type { IsolatedOptions } from "./worktrees/isolated.ts";
import { fanoutSettings } from "./worktrees/settings.ts";
import { workIsolated } from "./worktrees/work-isolated.ts";

export interface IsolatedOutcome {
  outcome: TaskOutcome;
  /** The branch with its changes; undefined if there are none. */
  branch?: string;
}

/** The part of the options of a child that says where it works. */
export type ChildPlace = Pick<ChildOptions, "cwd" | "readablePaths">;

/** A directory of a repository, and how copies are made of it. */
type Source = Pick<IsolatedOptions, "cwd" | "directory" | "includesUncommitted">;

/** Isolates the tasks of one fan-out. Git is asked once for all of them: starting it costs more than a turn of a task. */
export class TaskIsolation {
  readonly #agent: FanoutAgent;
  readonly #signal: AbortSignal;
  #source: Promise<Source | undefined> | undefined;

  constructor(agent: FanoutAgent, signal: AbortSignal) {
    this.#agent = agent;
    this.#signal = signal;
  }

  /** `run` gets an empty place where the agent does not work in a git repository with a commit. Never rejects. */
  async run(
    { id, description }: FanoutTask,
    run: (place: ChildPlace) => Promise<TaskOutcome>,
  ): Promise<IsolatedOutcome> {
    const signal = this.#signal;
    try {
      const source = await (this.#source ??= this.#findSource());
      if (!source) return { outcome: await run({}) };
      const options = { ...source, id, description, signal };
      const { ended: outcome, changes } = await workIsolated(options, run, () => ({ result: "branch" }));
      if (changes.kind === "left") throw new Error(changes.message);
      return { outcome, ...(changes.kind === "branch" && { branch: changes.branch }) };
    } catch (error) {
      return { outcome: signal.aborted ? { kind: "aborted", reason: signal.reason } : { kind: "threw", error } };
    }
  }

  async #findSource(): Promise<Source | undefined> {
    const opener = await getOpener(this.#agent);
    const cwd = opener.cwd ?? opener.getCwd?.();
    if (cwd === undefined || !(await findRepository(cwd, this.#signal))) return undefined;
    const settings = opener.settingsManager?.get() ?? opener.getSettings?.();
    if (!settings) return { cwd };
    const { directory, uncommitted } = resolveFields(fanoutSettings, settings).fanout;
    return { cwd, directory, includesUncommitted: uncommitted };
  }
}

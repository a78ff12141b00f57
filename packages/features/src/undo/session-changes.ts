/** Finds what the prompts of a session did to the files, as it is in them now. */
import type { MaybeState, Skipped } from "./file-state.ts";
import type { Effect } from "./history.ts";
import type { PlannedChange, Step } from "./plan-changes.ts";
import { planSteps } from "./prepare-undo.ts";
import type { Project } from "./project.ts";

export interface SessionChanges {
  /** How many prompts have changed files and were not taken back. */
  readonly prompts: number;
  /** From the files without what the session did to the files as they are. Sorted by path. */
  readonly changes: readonly PlannedChange[];
  /** Changed by others too since, so that these are what the prompts did, and not what is there now. */
  readonly overlaid: readonly PlannedChange[];
  /** Changed by the prompts, but not kept. */
  readonly lost: readonly Skipped[];
  /** Prompts whose changes are not known, with the reason. */
  readonly unknown: readonly { readonly prompt: string; readonly reason: string }[];
}

/** Call it while nobody else works with the project. Writes nothing into the workspace or the history. Throws `UndoError`. */
export async function findSessionChanges(project: Project, sessionId: string): Promise<SessionChanges> {
  const { effects } = await project.readHistory(sessionId);
  const wanted = effects.filter(({ undone }) => undone === undefined);
  const kept = wanted.filter((effect) => effect.before !== undefined && effect.failure === undefined);
  /** The last step is the one that the earliest prompt made. */
  const steps: Step[][] = [];
  const lost = new Map<string, Skipped>();
  let now: string | undefined;
  for (const effect of kept.toReversed()) {
    // A run in progress has changed what has changed until now.
    const after = effect.after ?? (now ??= (await project.store.keep()).id);
    const comparison = await project.store.compare(effect.before!, after);
    steps.push(comparison.changes.map((change) => ({ path: change.path, base: change.after, target: change.before })));
    for (const skipped of comparison.lost) lost.set(skipped.path, skipped);
  }
  const plan = await planSteps(project, steps);
  const conflicts = new Set(plan.conflicts.map(({ path }) => path));
  return {
    prompts: wanted.length,
    changes: plan.changes.map(({ path, from, to }) => ({ path, from: to, to: from })),
    overlaid: joinSteps(steps.flat().filter(({ path }) => conflicts.has(path))),
    lost: [...lost.values()],
    unknown: wanted.filter((effect) => !kept.includes(effect)).map(toUnknown),
  };
}

const toUnknown = ({ prompt, failure = "its beginning was not kept" }: Effect) => ({ prompt, reason: failure });

/** Takes what each path was before all steps, and what it was after them. `steps` lead backwards. Pure. */
export function joinSteps(steps: readonly Step[]): PlannedChange[] {
  const states = new Map<string, { from: MaybeState; to: MaybeState }>();
  for (const { path, base, target } of steps) {
    const { to } = states.get(path) ?? { to: base };
    states.set(path, { from: target, to });
  }
  return [...states].map(([path, change]) => ({ path, ...change }));
}

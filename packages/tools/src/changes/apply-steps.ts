/** Changes several files, all or none: if one step fails, those before it are taken back. */
import { getErrorMessage } from "@tau/ai/internal";
import { ToolsError, type ToolsErrorCode } from "../errors.ts";
import { OutputBudget } from "../hashline/output-budget.ts";
import type { Files } from "../platform/files.ts";
import type { ChangeJournal } from "./journal.ts";
import { type State, type Step, undoStep } from "./step.ts";

export type PlannedStep = Step & {
  /** The path as the caller wrote it. */
  typed: string;
  /** The stamp of the reading that the step is made from; for a file that did not exist, that of a missing one. */
  stamp: string;
  /** The new content, of a step that writes. */
  bytes?: Buffer;
};

/** The state of a file that the caller knows from now on. */
interface ChangedFile {
  realPath: string;
  stamp: string | undefined;
}

interface ChangePorts {
  files: Files;
  /** Default: a process that is killed in between leaves some files changed and others not. */
  journal?: ChangeJournal | undefined;
}

/** Throws when a step could not be done. The error says what each file holds then. */
export async function applySteps(
  { files, journal }: ChangePorts,
  steps: readonly PlannedStep[],
): Promise<ChangedFile[]> {
  // A single step is done or not.
  const entry = steps.length > 1 ? await journal?.begin(steps) : undefined;
  const changed = new Map<string, ChangedFile>();
  let current = steps[0];
  try {
    for (const step of steps) {
      current = step;
      const file = await applyStep(files, step, changed.get(step.path)?.stamp ?? step.stamp);
      if (file) changed.set(file.realPath, file);
      if (step.kind !== "write") changed.delete(step.path);
    }
    await entry?.end();
  } catch (error) {
    const states = await undoSteps(files, steps, current!);
    // What could not be taken back is in the error: doing it later would surprise.
    await entry?.end().catch(() => undefined);
    throw toFailure(error, current!, states);
  }
  return [...changed.values()];
}

async function applyStep(files: Files, step: PlannedStep, stamp: string): Promise<ChangedFile | undefined> {
  switch (step.kind) {
    case "write":
      return await files.writeWhole(step.path, step.bytes!, { ifUnchanged: stamp });
    case "move":
      return await files.move(step.path, step.to, { ifUnchanged: stamp });
    case "remove":
      await files.remove(step.path, { ifUnchanged: stamp });
      return undefined;
  }
}

/** The failed step too: its file may be changed already. */
async function undoSteps(
  files: Files,
  steps: readonly PlannedStep[],
  failed: PlannedStep,
): Promise<Map<PlannedStep, State>> {
  const states = new Map<PlannedStep, State>(steps.map((step) => [step, "old"]));
  for (const step of steps.slice(0, steps.indexOf(failed) + 1).toReversed()) {
    states.set(step, await undoStep(files, step, step === failed ? "unknown" : "new"));
  }
  return states;
}

function toFailure(error: unknown, failed: PlannedStep, states: ReadonlyMap<PlannedStep, State>): ToolsError {
  const message = getErrorMessage(error).replace(/\.?$/, ".");
  const typed = (wanted: State) => [...states].filter(([, state]) => state === wanted).map(([step]) => step.typed);
  const isUndone = typed("new").length + typed("unknown").length === 0;
  const rows = [
    ["With the new content", typed("new")],
    ["With the old content", typed("old")],
    ["With the old or the new content, they could not be read again", typed("unknown")],
    ["Changed by another process meanwhile", typed("foreign")],
  ] as const;
  const state =
    typed("old").length === states.size
      ? "Every file is as it was."
      : rows.flatMap(([what, names]) => (names.length > 0 ? [`${what}: ${listNames(names)}.`] : [])).join(" ");
  // Some files have the new content: the model must not take that for a failure after which it can simply try again.
  const code: ToolsErrorCode = !isUndone ? "failed" : error instanceof ToolsError ? error.code : "unavailable";
  const verb = { write: "Writing", move: "Moving", remove: "Removing" }[failed.kind];
  return new ToolsError(code, `${verb} ${failed.typed} failed: ${message} ${state}`, {
    cause: error,
  });
}

/** Names, as many as fit. */
export function listNames(names: readonly string[]): string {
  const budget = new OutputBudget(names.length, 8 * 1024);
  const shown = names.filter((name) => budget.take(name));
  const left = names.length - shown.length;
  return shown.join(", ") + (left > 0 ? ` and ${left} more` : "");
}

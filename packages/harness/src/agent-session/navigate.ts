/** Moving the leaf of a session to another entry, with a summary of the branch that is left where one is wanted. */
import type { StreamFn } from "@tau/agent";
import type { Model, Usage } from "@tau/ai";
import type { Budget } from "../budget/budget.ts";
import { summariseBranch } from "../compaction/branch-summary.ts";
import { HarnessError } from "@tau/protocol";
import type { RunHost } from "../run/run-host.ts";
import type { Session } from "../session/session.ts";
import type { Settings } from "@tau/config/settings";

export interface NavigateOptions {
  /** Summarise the branch that is left at the new place. Default false. */
  summarise?: boolean;
  /** Instructions for the summary. */
  instructions?: string;
  /** `instructions` take the place of the default ones. Default false. */
  replaceInstructions?: boolean;
  /** A summary that is there already: no model is asked. */
  summary?: { summary: string; details?: unknown; usage?: Usage };
  /** Attached to the summary, or without one to the entry. */
  label?: string;
}

export interface NavigateParts {
  session: Session;
  getModel: () => Model;
  /** The model that writes summaries. Undefined: that of the session. */
  getSummaryModel: () => Model | undefined;
  request: StreamFn;
  budget: Budget;
  touches: RunHost["touches"];
  settings: () => Settings;
  notice: (code: string, message: string) => void;
  signal: AbortSignal;
}

/** `entryId` null: before the first entry. */
export async function navigate(
  parts: NavigateParts,
  entryId: string | null,
  { summarise = false, summary: finished, label, ...wishes }: NavigateOptions,
): Promise<void> {
  const { session } = parts;
  const made = finished && {
    summary: finished.summary,
    extras: { details: finished.details, usage: finished.usage },
  };
  const summary = summarise ? (made ?? (await summariseLeft(parts, entryId, wishes))) : undefined;
  let labelled = entryId;
  if (summary === undefined) await session.navigate(entryId);
  else labelled = await session.branchWithSummary(entryId, summary.summary, summary.extras);
  if (label !== undefined && labelled !== null) await session.appendLabelChange(labelled, label);
}

async function summariseLeft(
  { session, getModel, getSummaryModel, request, budget, touches, settings, notice, signal }: NavigateParts,
  entryId: string | null,
  { instructions, replaceInstructions = false }: Pick<NavigateOptions, "instructions" | "replaceInstructions">,
) {
  const branches = {
    oldBranch: await session.getBranch(),
    newBranch: entryId === null ? [] : await session.getBranch(entryId),
  };
  const summariseWith = (model: Model) =>
    summariseBranch({
      ...branches,
      model,
      streamFn: request,
      signal,
      settings: { reserveTokens: settings().branchSummary.reserveTokens },
      touches,
      instructions,
      replaceInstructions,
    });
  const summaryModel = getSummaryModel();
  let result = await summariseWith(summaryModel ?? getModel());
  if (result.kind === "failed" && summaryModel && !signal?.aborted) {
    budget.charge(result.usage);
    result = await summariseWith(getModel());
  }
  if (result.kind === "nothing") return undefined;
  budget.charge(result.usage);
  if (result.kind === "summary") {
    return { summary: result.summary, extras: { details: result.details, usage: result.usage } };
  }
  if (result.kind === "aborted") throw new HarnessError("aborted", "The navigation was aborted.");
  notice("summary_failed", `The branch that was left could not be summarised: ${result.failure.message}`);
  return undefined;
}

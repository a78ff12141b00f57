/** Compacts a branch: plans, summarises, and appends once. */
import type { AgentMessage } from "@tau/agent";
import { emptyUsage, type Failure, type Model, type Usage } from "@tau/ai";
import { untilAborted } from "@tau/ai/internal";
import { addUsage } from "../budget/usage.ts";
import type { SessionEntry } from "../session/entry.ts";
import type { Summariser } from "./ask.ts";
import { extractSummary } from "./extract.ts";
import { filesText, type GetTouches } from "./files.ts";
import { type CompactionPlan, type CompactionReason, type NothingToCompact, planCompaction } from "./plan.ts";
import {
  type CompactionSettings,
  type ResolvedCompactionSettings,
  resolveCompactionSettings,
  summaryTokens,
} from "./settings.ts";
import { summarise, type SummaryResult } from "./summarise.ts";
import { charactersPerToken, cutEnd } from "./text.ts";
import { estimateTokens } from "./tokens.ts";

export interface NewCompaction {
  summary: string;
  /** Null if nothing is kept: the entry then names itself. */
  firstKeptEntryId: string | null;
  tokensBefore: number;
  /** Which files were touched, or what an extension says of it. */
  details: unknown;
  usage: Usage;
}

export type InterceptedCompaction =
  | { kind: "cancelled" }
  | { kind: "made"; compaction: Omit<NewCompaction, "details"> & { details?: unknown } };

export interface CompactRequest extends Summariser {
  /** From the root to the leaf. It must not change until the compaction is appended. */
  branch: readonly SessionEntry[];
  settings?: CompactionSettings;
  /** Writes the summary instead of `model`, which writes it if this one fails. `model` is the one that reads it. */
  summaryModel?: Model | undefined;
  reason: CompactionReason;
  /** The user's instructions for the summary. */
  instructions?: string | undefined;
  /** Texts that the summary contains word for word, whatever the model writes. */
  pinned?: readonly string[];
  /** Which files the calls touched. Default: only files that earlier summaries list. */
  touches?: GetTouches;
  /** `extract`: if the model cannot summarise, parts of the conversation are extracted. Default `none`: give up. */
  fallback?: "none" | "extract";
  /** Asked before a model is: may cancel the compaction, or make it instead. */
  intercept?: (
    plan: CompactionPlan,
    settings: ResolvedCompactionSettings,
  ) => Promise<InterceptedCompaction | undefined>;
  /** Appends the compaction to the branch and returns its id. Called at most once. */
  append: (compaction: NewCompaction) => Promise<string>;
}

/** `usage` is always what was spent. Only `compacted` has appended an entry. */
export type CompactionOutcome =
  | {
      kind: "compacted";
      entryId: string;
      compaction: NewCompaction;
      /** An estimate for the messages of the new context. It is always below that of the old. */
      tokensAfter: number;
      /** Why the summary was extracted without a model. */
      failure?: Failure;
      usage: Usage;
    }
  /** `cannot_shrink`: the pinned texts leave no space for a summary. No request was made. */
  | { kind: "nothing"; reason: NothingToCompact | "cannot_shrink"; usage: Usage }
  | { kind: "failed"; failure: Failure; usage: Usage }
  | { kind: "aborted"; usage: Usage };

export async function compact(request: CompactRequest): Promise<CompactionOutcome> {
  const settings = resolveCompactionSettings(request.settings ?? {}, request.model);
  const planning = await untilAborted(
    planCompaction(request.branch, settings, request.reason, request.touches),
    request.signal,
  );
  if (planning.kind === "aborted") return { kind: "aborted", usage: emptyUsage() };
  const planned = planning.value;
  if (planned.kind === "nothing") return { ...planned, usage: emptyUsage() };
  const { plan } = planned;
  const intercepted = await request.intercept?.(plan, settings);
  if (intercepted?.kind === "cancelled" || request.signal?.aborted) return { kind: "aborted", usage: emptyUsage() };
  if (intercepted) {
    const made: NewCompaction = { details: plan.files, ...intercepted.compaction };
    const entryId = await request.append(made);
    const tokensAfter = plan.keptTokens + estimateTokens(toMessage(made.summary));
    return { kind: "compacted", entryId, compaction: made, tokensAfter, usage: made.usage };
  }
  const { pinned = [] } = request;
  const maxLength = getMaxLength(plan, pinned);
  if (maxLength < minSummaryLength) return { kind: "nothing", reason: "cannot_shrink", usage: emptyUsage() };
  const { maxTokens, ...result } = await summariseWithEither(request, plan);
  const { usage } = result;
  if (result.kind === "aborted" || request.signal?.aborted) return { kind: "aborted", usage };
  if (result.kind === "failed" && request.fallback !== "extract") return result;

  const { previousSummary, messages, turnPrefix, firstKeptEntryId, tokensBefore, files: details } = plan;
  const body =
    result.kind === "summary"
      ? result.summary
      : extractSummary({ previousSummary, messages: [...messages, ...turnPrefix], maxTokens });
  // One character per token of the summary: the lists take at most a quarter of it.
  const fileList = filesText(details, maxTokens);
  // If there is no space for the lists, they are left out: they are in the details too.
  const hasSpace = body.length + fileList.length + 2 <= maxLength;
  const summary = hasSpace ? assemble(body, pinned, fileList) : assemble(cutEnd(body, maxLength), pinned, "");
  const compaction: NewCompaction = { summary, firstKeptEntryId, tokensBefore, details, usage };
  const entryId = await request.append(compaction);
  const tokensAfter = plan.keptTokens + estimateTokens(toMessage(summary));
  const failure = result.kind === "failed" ? { failure: result.failure } : {};
  return { kind: "compacted", entryId, compaction, tokensAfter, ...failure, usage };
}

/** Asks the model for summaries first. A smaller window only takes more requests. */
async function summariseWithEither(
  request: CompactRequest,
  plan: CompactionPlan,
): Promise<SummaryResult & { maxTokens: number }> {
  const { summaryModel, model } = request;
  const summariseWith = async (chosen: Model) => {
    const settings = resolveCompactionSettings(request.settings ?? {}, chosen);
    const maxTokens = summaryTokens(settings, chosen);
    return { ...(await summarisePlan({ ...request, model: chosen }, plan, settings, maxTokens)), maxTokens };
  };
  if (!summaryModel) return await summariseWith(model);
  const first = await summariseWith(summaryModel);
  if (first.kind !== "failed" || request.signal?.aborted) return first;
  const second = await summariseWith(model);
  return { ...second, usage: addUsage(first.usage, second.usage) };
}

/** The beginning of a split turn gets its own summary, unless there is nothing else to summarise. */
async function summarisePlan(
  request: CompactRequest,
  { previousSummary, messages, turnPrefix }: CompactionPlan,
  settings: ResolvedCompactionSettings,
  maxTokens: number,
): Promise<SummaryResult> {
  const common = { instructions: request.instructions, settings, maxTokens };
  if (turnPrefix.length === 0 || messages.length === 0) {
    const kind = turnPrefix.length > 0 && previousSummary === undefined ? "turn" : "history";
    return await summarise(request, { kind, previousSummary, messages: [...messages, ...turnPrefix], ...common });
  }
  const history = await summarise(request, { kind: "history", previousSummary, messages, ...common });
  if (history.kind !== "summary") return history;
  const turnTask = { kind: "turn", messages: turnPrefix, ...common, maxTokens: Math.floor(maxTokens / 2) } as const;
  const turn = await summarise(request, turnTask);
  const usage = addUsage(history.usage, turn.usage);
  if (turn.kind !== "summary") return { ...turn, usage };
  return {
    kind: "summary",
    summary: `${history.summary}\n\n# The turn that continues below\n\n${turn.summary}`,
    usage,
  };
}

const toMessage = (summary: string): AgentMessage => ({
  role: "compactionSummary",
  summary,
  tokensBefore: 0,
  timestamp: 0,
});

/** Fewer characters than this are useless. */
const minSummaryLength = 200;

/** How many characters a summary may have, without the pinned texts, to be smaller than what it replaces. */
function getMaxLength({ replacedTokens }: CompactionPlan, pinned: readonly string[]): number {
  const pinnedTokens = estimateTokens(toMessage(assemble("", pinned, "")));
  return (replacedTokens - 1 - pinnedTokens) * charactersPerToken - 2;
}

function assemble(body: string, pinned: readonly string[], fileList: string): string {
  const missing = pinned.filter((text) => !body.includes(text));
  const pins = missing.length > 0 ? `## Pinned, word for word\n${missing.join("\n\n")}` : "";
  return [body, pins, fileList].filter((part) => part !== "").join("\n\n");
}

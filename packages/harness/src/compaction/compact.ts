/** Compaction: plan, summarise, append once. */
import type { AgentMessage } from "@tau/agent";
import { emptyUsage, type Failure, type Usage } from "@tau/ai";
import type { SessionEntry } from "../session/entry.ts";
import { addUsage, type Summariser } from "./ask.ts";
import { extractSummary } from "./extract.ts";
import { type FileOperations, filesText, type GetTouches } from "./files.ts";
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

/** What the session writes. */
export interface NewCompaction {
  summary: string;
  /** Null when nothing is kept: the entry is then to name itself. */
  firstKeptEntryId: string | null;
  tokensBefore: number;
  details: FileOperations;
  usage: Usage;
}

export interface CompactRequest extends Summariser {
  /** From the root to the leaf. Nobody else may write to it until the compaction is appended. */
  branch: readonly SessionEntry[];
  settings?: CompactionSettings;
  reason: CompactionReason;
  /** What the person asks of the summary. */
  instructions?: string | undefined;
  /** What the summary holds word for word, whatever the model makes of it. */
  pinned?: readonly string[];
  /** Which files the calls touched. Default: only those that earlier summaries list are noted. */
  touches?: GetTouches;
  /** What to do when the model cannot summarise: give up (default), or put parts of the conversation together. */
  fallback?: "none" | "extract";
  /** Writes the compaction to the end of the branch and answers with its id. Called at most once. */
  append: (compaction: NewCompaction) => Promise<string>;
}

/** `usage` is what was spent in any case. Unless it is `compacted`, nothing was appended. */
export type CompactionOutcome =
  | {
      kind: "compacted";
      entryId: string;
      compaction: NewCompaction;
      /** An estimate of the messages of the new context; always below that of the old. */
      tokensAfter: number;
      /** Why the summary was put together without a model. */
      failure?: Failure;
      usage: Usage;
    }
  /** `cannot_shrink`: what is pinned leaves no room for a summary. Nobody was asked. */
  | { kind: "nothing"; reason: NothingToCompact | "cannot_shrink"; usage: Usage }
  | { kind: "failed"; failure: Failure; usage: Usage }
  | { kind: "aborted"; usage: Usage };

export async function compact(request: CompactRequest): Promise<CompactionOutcome> {
  const settings = resolveCompactionSettings(request.settings ?? {}, request.model);
  const planned = planCompaction(request.branch, settings, request.reason, request.touches);
  if (planned.kind === "nothing") return { ...planned, usage: emptyUsage() };
  const { plan } = planned;
  const { pinned = [] } = request;
  const room = roomFor(plan, pinned);
  if (room < minBodyLength) return { kind: "nothing", reason: "cannot_shrink", usage: emptyUsage() };
  const maxTokens = summaryTokens(settings, request.model);
  const result = await summarisePlan(request, plan, settings, maxTokens);
  const { usage } = result;
  if (result.kind === "aborted" || request.signal?.aborted) return { kind: "aborted", usage };
  if (result.kind === "failed" && request.fallback !== "extract") return result;

  const { previousSummary, messages, turnPrefix, firstKeptEntryId, tokensBefore, files: details } = plan;
  const body =
    result.kind === "summary"
      ? result.summary
      : extractSummary({ previousSummary, messages: [...messages, ...turnPrefix], maxTokens });
  // A character for each token of the summary: the lists are a quarter of it at most.
  const summary = fit(body, { pinned, room, listed: filesText(details, maxTokens) });
  const compaction: NewCompaction = { summary, firstKeptEntryId, tokensBefore, details, usage };
  const entryId = await request.append(compaction);
  const tokensAfter = plan.keptTokens + estimateTokens(summaryMessage(summary));
  const failure = result.kind === "failed" ? { failure: result.failure } : {};
  return { kind: "compacted", entryId, compaction, tokensAfter, ...failure, usage };
}

/** The beginning of a split turn has a summary of its own, unless it is all there is to summarise. */
async function summarisePlan(
  request: CompactRequest,
  { previousSummary, messages, turnPrefix }: CompactionPlan,
  settings: ResolvedCompactionSettings,
  maxTokens: number,
): Promise<SummaryResult> {
  const { instructions } = request;
  if (turnPrefix.length === 0 || messages.length === 0) {
    const kind = turnPrefix.length > 0 && previousSummary === undefined ? "turn" : "history";
    const all = [...messages, ...turnPrefix];
    return await summarise(request, { kind, previousSummary, messages: all, instructions, settings, maxTokens });
  }
  const history = await summarise(request, {
    kind: "history",
    previousSummary,
    messages,
    instructions,
    settings,
    maxTokens,
  });
  if (history.kind !== "summary") return history;
  const turn = await summarise(request, {
    kind: "turn",
    messages: turnPrefix,
    instructions,
    settings,
    maxTokens: Math.floor(maxTokens / 2),
  });
  const usage = addUsage(history.usage, turn.usage);
  if (turn.kind !== "summary") return { ...turn, usage };
  return { kind: "summary", summary: `${history.summary}\n\n# The turn that goes on below\n\n${turn.summary}`, usage };
}

const summaryMessage = (summary: string): AgentMessage => ({
  role: "compactionSummary",
  summary,
  tokensBefore: 0,
  timestamp: 0,
});

/** A summary that is cut to fewer characters than this says nothing. */
const minBodyLength = 200;

/** How many characters a summary may have, besides what is pinned, to be smaller than what it replaces. */
function roomFor({ replacedTokens }: CompactionPlan, pinned: readonly string[]): number {
  const others = estimateTokens(summaryMessage(assemble("", pinned, "")));
  return (replacedTokens - 1 - others) * charactersPerToken - 2;
}

/** The whole summary. Where there is no room for it, the lists of files go first: they are in the details too. */
function fit(body: string, { pinned, room, listed }: { pinned: readonly string[]; room: number; listed: string }) {
  const fits = body.length + listed.length + 2 <= room;
  return fits ? assemble(body, pinned, listed) : assemble(cutEnd(body, room), pinned, "");
}

function assemble(body: string, pinned: readonly string[], listed: string): string {
  const missing = pinned.filter((text) => !body.includes(text));
  const pins = missing.length > 0 ? `## Pinned, word for word\n${missing.join("\n\n")}` : "";
  return [body, pins, listed].filter((part) => part !== "").join("\n\n");
}

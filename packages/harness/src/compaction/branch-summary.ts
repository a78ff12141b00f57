/** What is worth knowing of a branch when navigation leaves it. */
import type { AgentMessage } from "@tau/agent";
import { contextMessages } from "../session/context.ts";
import type { SessionEntry } from "../session/entry.ts";
import type { Summariser } from "./ask.ts";
import { keptTokens } from "./cut.ts";
import { fileOperations, type FileOperations, filesText, type GetTouches } from "./files.ts";
import { type CompactionSettings, resolveCompactionSettings, summaryTokens } from "./settings.ts";
import { summarise, type SummaryResult } from "./summarise.ts";
import { estimateAll, estimateTokens } from "./tokens.ts";

/** The part of a branch that another does not have. */
export interface LeftBranch {
  /** The last entry that both have; null when they share none. */
  commonId: string | null;
  /** The leaf that is left; null when nothing is left. */
  fromId: string | null;
  /** What the model saw of it, oldest first; of a long one the end. */
  messages: AgentMessage[];
  files: FileOperations;
}

export interface LeftBranchOptions {
  /** Of the messages. Default: no limit. */
  maxTokens?: number;
  /** Which files the calls touched. Default: only those that earlier summaries list are noted. */
  touches?: GetTouches | undefined;
}

/**
 * What is on the old branch and not on the new one, the latest messages up to `maxTokens`. A compaction on it speaks for
 * what it replaced.
 */
export function collectLeftBranch(
  oldBranch: readonly SessionEntry[],
  newBranch: readonly SessionEntry[],
  { maxTokens = Number.POSITIVE_INFINITY, touches = () => undefined }: LeftBranchOptions = {},
): LeftBranch {
  let shared = 0;
  while (shared < oldBranch.length && oldBranch[shared]!.id === newBranch[shared]?.id) shared++;
  const left = new Set(oldBranch.slice(shared));
  const context = contextMessages(oldBranch).filter(({ entry }) => left.has(entry));
  const kept = keptTokens(context.map(({ message }) => estimateTokens(message)));
  // The last one is read whatever it costs.
  const first = Math.min(
    kept.findIndex((tokens) => tokens <= maxTokens),
    Math.max(0, context.length - 1),
  );
  // Files that were changed are changed, however long ago.
  const details = context.map(({ entry }) =>
    entry.type === "branch_summary" || entry.type === "compaction" ? entry.details : undefined,
  );
  return {
    commonId: oldBranch[shared - 1]?.id ?? null,
    fromId: left.size > 0 ? oldBranch.at(-1)!.id : null,
    messages: context.slice(first).map(({ message }) => message),
    files: fileOperations(
      details,
      context.map(({ message }) => message),
      touches,
    ),
  };
}

export interface BranchSummaryRequest extends Summariser {
  oldBranch: readonly SessionEntry[];
  newBranch: readonly SessionEntry[];
  settings?: CompactionSettings;
  /** Which files the calls touched. Default: only those that earlier summaries list are noted. */
  touches?: GetTouches;
  /** What the person asks of the summary. */
  instructions?: string | undefined;
}

/** `details` is what a branch summary carries along. */
export type BranchSummaryResult =
  | { kind: "summary"; summary: string; details: FileOperations; usage: SummaryResult["usage"] }
  | { kind: "nothing" }
  | Exclude<SummaryResult, { kind: "summary" }>;

/** Summarises what is left, without touching either branch. At most one window of it is read. */
export async function summariseBranch(request: BranchSummaryRequest): Promise<BranchSummaryResult> {
  const settings = resolveCompactionSettings(request.settings ?? {}, request.model);
  const { messages, files } = collectLeftBranch(request.oldBranch, request.newBranch, {
    maxTokens: settings.contextWindow - settings.reserveTokens,
    touches: request.touches,
  });
  if (estimateAll(messages) === 0) return { kind: "nothing" };
  const maxTokens = summaryTokens(settings, request.model);
  const { instructions } = request;
  const result = await summarise(request, { kind: "branch", messages, instructions, settings, maxTokens });
  if (result.kind !== "summary") return result;
  const listed = filesText(files, maxTokens);
  const summary = listed === "" ? result.summary : `${result.summary}\n\n${listed}`;
  return { kind: "summary", summary, details: files, usage: result.usage };
}

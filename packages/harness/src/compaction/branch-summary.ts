/** Summarises the branch that navigation leaves. */
import type { AgentMessage } from "@tau/agent";
import { contextMessages } from "../session/context.ts";
import type { SessionEntry } from "../session/entry.ts";
import type { Summariser } from "./ask.ts";
import { sumFromEnd } from "./cut.ts";
import { fileOperations, type FileOperations, filesText, type GetTouches } from "./files.ts";
import { type CompactionSettings, resolveCompactionSettings, summaryTokens } from "./settings.ts";
import { summarise, type SummaryResult } from "./summarise.ts";
import { estimateAll, estimateTokens } from "./tokens.ts";

/** The part of the old branch that the new branch does not have. */
export interface LeftBranch {
  /** The last entry of both branches; null if they share none. */
  commonId: string | null;
  /** The leaf of the old branch; null if nothing is left. */
  fromId: string | null;
  /** The messages that the model saw of it, oldest first. If it is long, only the end. */
  messages: AgentMessage[];
  files: FileOperations;
}

interface LeftBranchOptions {
  /** The limit for the messages. Default: no limit. */
  maxTokens?: number;
  /** Which files the calls touched. Default: only files that earlier summaries list. */
  touches?: GetTouches | undefined;
}

/** A compaction on the old branch stands for the entries that it replaced. */
export function collectLeftBranch(
  oldBranch: readonly SessionEntry[],
  newBranch: readonly SessionEntry[],
  { maxTokens = Number.POSITIVE_INFINITY, touches = () => undefined }: LeftBranchOptions = {},
): LeftBranch {
  let sharedCount = 0;
  while (sharedCount < oldBranch.length && oldBranch[sharedCount]!.id === newBranch[sharedCount]?.id) sharedCount++;
  const left = new Set(oldBranch.slice(sharedCount));
  const context = contextMessages(oldBranch).filter(({ entry }) => left.has(entry));
  const messages = context.map(({ message }) => message);
  const tokens = sumFromEnd(messages.map(estimateTokens));
  // The last message is included whatever it costs.
  const first = Math.min(
    tokens.findIndex((sum) => sum <= maxTokens),
    Math.max(0, messages.length - 1),
  );
  const details = context.map(({ entry }) =>
    entry.type === "branch_summary" || entry.type === "compaction" ? entry.details : undefined,
  );
  return {
    commonId: oldBranch[sharedCount - 1]?.id ?? null,
    fromId: left.size > 0 ? oldBranch.at(-1)!.id : null,
    messages: messages.slice(first),
    // Files are listed even if their messages are too old to be included.
    files: fileOperations(details, messages, touches),
  };
}

export interface BranchSummaryRequest extends Summariser {
  oldBranch: readonly SessionEntry[];
  newBranch: readonly SessionEntry[];
  settings?: CompactionSettings;
  /** Which files the calls touched. Default: only files that earlier summaries list. */
  touches?: GetTouches;
  /** The user's instructions for the summary. */
  instructions?: string | undefined;
  /** They take the place of the default ones. Default false. */
  replaceInstructions?: boolean;
}

/** `details` is stored with the summary. */
export type BranchSummaryResult =
  | { kind: "summary"; summary: string; details: FileOperations; usage: SummaryResult["usage"] }
  | { kind: "nothing" }
  | Exclude<SummaryResult, { kind: "summary" }>;

/** Reads at most one context window of the branch. Appends nothing. */
export async function summariseBranch(request: BranchSummaryRequest): Promise<BranchSummaryResult> {
  const settings = resolveCompactionSettings(request.settings ?? {}, request.model);
  const { messages, files } = collectLeftBranch(request.oldBranch, request.newBranch, {
    maxTokens: settings.contextWindow - settings.reserveTokens,
    touches: request.touches,
  });
  if (estimateAll(messages) === 0) return { kind: "nothing" };
  const maxTokens = summaryTokens(settings, request.model);
  const { instructions, replaceInstructions } = request;
  const task = { kind: "branch", messages, instructions, replaceInstructions, settings, maxTokens } as const;
  const result = await summarise(request, task);
  if (result.kind !== "summary") return result;
  const fileList = filesText(files, maxTokens);
  const summary = fileList === "" ? result.summary : `${result.summary}\n\n${fileList}`;
  return { kind: "summary", summary, details: files, usage: result.usage };
}

/** Summaries of branches that are left. */
import type { AgentMessage } from "@tau/agent";
import type { Model, Usage } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { SessionEntry } from "@tau/protocol";
import { sessionEntryToContextMessages } from "../session/context.ts";
import { requestSummary, type SummaryRequest } from "./compact.ts";
import { collectFileOperations, type FileOperations, formatFiles, listFiles } from "./file-operations.ts";
import { estimateTokens } from "./tokens.ts";

interface CollectEntriesResult {
  entries: SessionEntry[];
  commonAncestorId: string | null;
}

interface ReadableSession {
  getBranch(fromId?: string): SessionEntry[];
}

/** The entries of the branch that ends in `oldLeafId` which that of `targetId` does not have. */
export function collectEntriesForBranchSummary(
  session: ReadableSession,
  oldLeafId: string | null,
  targetId: string,
): CollectEntriesResult {
  if (oldLeafId === null) return { entries: [], commonAncestorId: null };
  const target = new Set(session.getBranch(targetId).map(({ id }) => id));
  const old = session.getBranch(oldLeafId);
  const common = old.findLastIndex(({ id }) => target.has(id));
  return { entries: old.slice(common + 1), commonAncestorId: old[common]?.id ?? null };
}

interface BranchPreparation {
  messages: AgentMessage[];
  fileOps: FileOperations;
  totalTokens: number;
}

/** The latest messages that fit; 0 is no limit. A summary that does not fit any more is taken if there is some room. */
export function prepareBranchEntries(entries: readonly SessionEntry[], tokenBudget = 0): BranchPreparation {
  const messages: AgentMessage[] = [];
  let totalTokens = 0;
  for (const entry of entries.toReversed()) {
    const [message] =
      entry.type === "message" && entry.message.role === "toolResult" ? [] : sessionEntryToContextMessages(entry);
    if (!message) continue;
    const tokens = estimateTokens(message);
    const isOver = tokenBudget > 0 && totalTokens + tokens > tokenBudget;
    const isSummary = entry.type === "compaction" || entry.type === "branch_summary";
    if (isOver && !(isSummary && totalTokens < tokenBudget * 0.9)) break;
    messages.unshift(message);
    totalTokens += tokens;
    if (isOver) break;
  }
  const details = entries.map((entry) => (entry.type === "branch_summary" ? entry.details : undefined));
  return { messages, fileOps: collectFileOperations(messages, details), totalTokens };
}

export interface BranchSummaryOptions extends SummaryRequest {
  model: Model;
  signal: AbortSignal;
  customInstructions?: string;
  /** Whether they take the place of the usual ones. Default: they are added. */
  replaceInstructions?: boolean;
  /** Default 16,384. */
  reserveTokens?: number;
}

interface BranchSummaryResult {
  summary?: string;
  usage?: Usage;
  readFiles?: string[];
  modifiedFiles?: string[];
  aborted?: boolean;
  error?: string;
}

export async function generateBranchSummary(
  entries: readonly SessionEntry[],
  {
    model,
    customInstructions: instructions,
    replaceInstructions,
    reserveTokens = 16_384,
    ...request
  }: BranchSummaryOptions,
): Promise<BranchSummaryResult> {
  const budget = (model.contextWindow || 128_000) - reserveTokens;
  const { messages, fileOps } = prepareBranchEntries(entries, budget);
  if (messages.length === 0) return { summary: "No content to summarize" };
  const files = listFiles(fileOps);
  try {
    const { text, usage } = await requestSummary(
      model,
      { kind: "branch", messages, instructions, replaceInstructions, reserveTokens },
      request,
    );
    return { summary: text + formatFiles(files), usage, ...files };
  } catch (error) {
    return request.signal.aborted ? { aborted: true } : { error: getErrorMessage(error) };
  }
}

/** A summary of messages by a model, in as many requests as its window needs. */
import type { AgentMessage } from "@tau/agent";
import { emptyUsage, type Failure, type Usage } from "@tau/ai";
import { addUsage, ask, type Summariser } from "./ask.ts";
import { type SummaryKind, summaryPrompt, summarySystemPrompt } from "./prompts.ts";
import { serialise, takePiece } from "./serialise.ts";
import { isTooLong, type ResolvedCompactionSettings } from "./settings.ts";
import { charactersPerToken, cutEnd, cutMiddle, textTokens } from "./text.ts";

export interface SummaryTask {
  kind: SummaryKind;
  messages: readonly AgentMessage[];
  /** Brought up to date with the messages, instead of starting from nothing. */
  previousSummary?: string | undefined;
  /** What the person asks of the summary. */
  instructions?: string | undefined;
  settings: ResolvedCompactionSettings;
  /** How long the summary may be. What a model writes beyond it is cut off. */
  maxTokens: number;
}

/** `usage` is of all requests, also of those that failed. */
export type SummaryResult = { usage: Usage } & (
  | { kind: "summary"; summary: string }
  | { kind: "failed"; failure: Failure }
  | { kind: "aborted" }
);

/** A request for fewer tokens of conversation than this is not made. */
const minPieceTokens = 64;

/**
 * Summarises piece by piece: each request has the summary so far and as much of the conversation as fits. When the model
 * says that it did not fit after all, the pieces become half as large.
 */
export async function summarise(summariser: Summariser, task: SummaryTask): Promise<SummaryResult> {
  const { kind, maxTokens, settings } = task;
  const isText = isTooLong(task.previousSummary, settings);
  const { instructions, pieceTokens } = measure(task);
  const maxOutputLength = Math.min(defaultMaxOutput, Math.floor((pieceTokens * charactersPerToken) / 8));
  let texts = serialise(task.messages, { maxOutputLength });
  // A summary that leaves no room beside it is read in pieces like the conversation.
  if (isText) texts.unshift(`[summary of what came before]\n${task.previousSummary}`);
  let summary = isText ? undefined : task.previousSummary;
  let usage = emptyUsage();
  let size = pieceTokens;
  while (texts.length > 0) {
    const { piece, rest } = takePiece(texts, size * charactersPerToken);
    const prompt = summaryPrompt({ kind, summary, piece, instructions, maxTokens });
    const answer = await ask(summariser, { systemPrompt: summarySystemPrompt, prompt, maxTokens });
    usage = addUsage(usage, answer.usage);
    if (answer.kind === "aborted") return { kind: "aborted", usage };
    if (answer.kind === "failed") return { kind: "failed", failure: answer.failure, usage };
    if (answer.kind === "overflow") {
      size = Math.floor(Math.min(size, textTokens(piece)) / 2);
      if (size < minPieceTokens) return { kind: "failed", failure: answer.failure, usage };
      continue;
    }
    summary = cutEnd(answer.text, maxTokens * charactersPerToken);
    texts = rest;
  }
  if (summary !== undefined) return { kind: "summary", summary, usage };
  return { kind: "failed", failure: { kind: "unknown", message: "There was nothing to summarise." }, usage };
}

/** Of a result: enough to see what it was. A summary does not quote files. */
const defaultMaxOutput = 2_000;

/** What the window leaves for a piece, when the prompt, the summary so far and the answer have their room. */
function measure({ kind, previousSummary, instructions, settings, maxTokens }: SummaryTask) {
  const { contextWindow } = settings;
  const short = instructions?.trim() ? cutMiddle(instructions.trim(), contextWindow / 2) : undefined;
  const longest = isTooLong(previousSummary, settings) ? 0 : (previousSummary?.length ?? 0);
  const summary = "x".repeat(Math.max(longest, maxTokens * charactersPerToken));
  const frame = summaryPrompt({ kind, summary, piece: "", instructions: short, maxTokens });
  const left = contextWindow - maxTokens - textTokens(summarySystemPrompt) - textTokens(frame);
  // Some room for the tags that mark a text off, and for what an estimate is worth.
  return { instructions: short, pieceTokens: Math.max(minPieceTokens, Math.floor(left * 0.95) - 16) };
}

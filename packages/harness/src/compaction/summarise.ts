/** Summarises messages with a model, in as many requests as its window requires. */
import type { AgentMessage } from "@tau/agent";
import { emptyUsage, type Failure, type Usage } from "@tau/ai";
import { untilAborted } from "@tau/ai/internal";
import { addUsage } from "../budget/usage.ts";
import { ask, type Summariser } from "./ask.ts";
import { type SummaryKind, summaryPrompt, summarySystemPrompt } from "./prompts.ts";
import { serialise, takePiece } from "./serialise.ts";
import { isTooLong, type ResolvedCompactionSettings } from "./settings.ts";
import { charactersPerToken, cutEnd, cutMiddle, textTokens } from "./text.ts";

export interface SummaryTask {
  kind: SummaryKind;
  messages: readonly AgentMessage[];
  /** A summary to update with the messages. */
  previousSummary?: string | undefined;
  /** The user's instructions for the summary. */
  instructions?: string | undefined;
  /** They take the place of the default ones. */
  replaceInstructions?: boolean | undefined;
  settings: ResolvedCompactionSettings;
  /** The limit for the summary. The rest of what a model writes is cut off. */
  maxTokens: number;
}

/** `usage` includes failed requests. */
export type SummaryResult = { usage: Usage } & (
  | { kind: "summary"; summary: string }
  | { kind: "failed"; failure: Failure }
  | { kind: "aborted" }
);

/** A piece of a conversation is never smaller. */
const minPieceTokens = 64;

/**
 * Each request holds the summary so far and as much of the conversation as fits. If the model reports that a request was
 * too long, the pieces become half as large.
 */
export async function summarise(summariser: Summariser, task: SummaryTask): Promise<SummaryResult> {
  const { kind, maxTokens, settings, replaceInstructions } = task;
  const isSplit = isTooLong(task.previousSummary, settings);
  const { instructions, pieceTokens } = measure(task);
  const maxOutputLength = Math.min(defaultMaxOutput, Math.floor((pieceTokens * charactersPerToken) / 8));
  const serialising = await untilAborted(serialise(task.messages, maxOutputLength), summariser.signal);
  if (serialising.kind === "aborted") return { kind: "aborted", usage: emptyUsage() };
  let texts = serialising.value;
  // A summary that fills the window is read in pieces like the conversation.
  if (isSplit) texts.unshift(`[summary of what came before]\n${task.previousSummary}`);
  let summary = isSplit ? undefined : task.previousSummary;
  let usage = emptyUsage();
  let size = pieceTokens;
  while (texts.length > 0) {
    const { piece, rest } = takePiece(texts, size * charactersPerToken);
    const prompt = summaryPrompt({ kind, summary, piece, instructions, replaceInstructions, maxTokens });
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

/** Enough to see what a result was. A summary does not quote files. */
const defaultMaxOutput = 2_000;

/** How much of the window is left for a piece, besides the prompt, the summary so far and the answer. */
function measure({ kind, previousSummary, instructions, settings, maxTokens }: SummaryTask) {
  const { contextWindow } = settings;
  const cutInstructions = instructions?.trim() ? cutMiddle(instructions.trim(), contextWindow / 2) : undefined;
  const previousLength = isTooLong(previousSummary, settings) ? 0 : (previousSummary?.length ?? 0);
  const summary = "x".repeat(Math.max(previousLength, maxTokens * charactersPerToken));
  const prompt = summaryPrompt({ kind, summary, piece: "", instructions: cutInstructions, maxTokens });
  const left = contextWindow - maxTokens - textTokens(summarySystemPrompt) - textTokens(prompt);
  // A margin for longer tags and for the error of the estimate.
  return { instructions: cutInstructions, pieceTokens: Math.max(minPieceTokens, Math.floor(left * 0.95) - 16) };
}

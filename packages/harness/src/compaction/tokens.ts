/** Estimates and counts the tokens of a context. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { ImageContent, TextContent, ThinkingContent, ToolCall } from "@tau/ai";
import { parseUsage } from "../budget/usage.ts";
import { iterateContext } from "../session/context.ts";
import { visitInTurns } from "../session/visit-in-turns.ts";
import type { SessionEntry } from "../session/entry.ts";
import { convertToLlm, isFinishedAnswer } from "../session/message.ts";
import { asText, textTokens } from "./text.ts";

/** An upper estimate: providers scale images down. */
export const imageTokens = 1_200;

/** An estimate: a token for four characters, and a fixed number for an image. */
export function estimateTokens(message: AgentMessage): number {
  return convertToLlm([message]).reduce((sum, sent) => sum + contentTokens(sent), 0);
}

export const estimateAll = (messages: readonly AgentMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0);

/** Content from a log is not validated. */
function contentTokens({ content }: { content: unknown }): number {
  if (!Array.isArray(content)) return textTokens(asText(content));
  return content.reduce<number>((sum, block: Partial<Block> | null) => sum + blockTokens(block), 0);
}

type Block = TextContent | ImageContent | ThinkingContent | ToolCall;

function blockTokens(block: Partial<Block> | null): number {
  switch (block?.type) {
    case "text":
      return textTokens(asText(block.text));
    case "thinking":
      return textTokens(asText(block.redacted ? block.thinkingSignature : block.thinking));
    case "toolCall":
      return textTokens(`${asText(block.name)}${JSON.stringify(block.arguments ?? {})}`);
    case "image":
      return imageTokens;
    default:
      return 0;
  }
}

/**
 * The tokens of the next request for this branch: the provider's count for the last answer, plus an estimate of what came
 * after it. A count from before a compaction or an edit is not used; without a count, everything is estimated.
 */
export async function contextTokens(branch: readonly SessionEntry[]): Promise<number> {
  const { tokens, messages } = findUncounted(branch);
  let sum = tokens;
  await visitInTurns(messages, (message) => void (sum += estimateTokens(message)));
  return sum;
}

/** Finds what the provider counted last, and the messages that came after it. */
function findUncounted(branch: readonly SessionEntry[]): { tokens: number; messages: Iterable<AgentMessage> } {
  const counted = findLastCount(branch);
  // There is no compaction after a count, and edits of what comes after it are after it, too.
  const after = counted ? branch.slice(counted.index + 1) : branch;
  return { tokens: counted?.tokens ?? 0, messages: takeMessages(after) };
}

function* takeMessages(branch: readonly SessionEntry[]): Generator<AgentMessage> {
  for (const { message } of iterateContext(branch)) yield message;
}

function findLastCount(branch: readonly SessionEntry[]): { index: number; tokens: number } | undefined {
  let firstEdited = Number.POSITIVE_INFINITY;
  for (let index = branch.length - 1; index >= 0; index--) {
    const entry = branch[index]!;
    if (entry.type === "compaction") return undefined;
    if (entry.type === "context_edit") {
      const target = branch.findIndex(({ id }) => id === entry.targetId);
      if (target >= 0) firstEdited = Math.min(firstEdited, target);
    }
    const tokens = entry.type === "message" && firstEdited > index ? usedTokens(entry.message) : 0;
    // Some providers report 0 instead of counting.
    if (tokens > 0) return { index, tokens };
  }
  return undefined;
}

/** Returns the tokens that the provider counted for an answer and the context before it; 0 if it did not count. */
export const usedTokens = (message: AgentMessage | undefined): number =>
  isFinishedAnswer(message) ? parseUsage(message.usage).total : 0;

/** How full a context is. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { ImageContent, TextContent, ThinkingContent, ToolCall, Usage } from "@tau/ai";
import { contextMessages } from "../session/context.ts";
import type { SessionEntry } from "../session/entry.ts";
import { convertToLlm } from "../session/message.ts";
import { toText, textTokens } from "./text.ts";

/** What an image costs, about: providers scale it down to a size that costs no more. */
export const imageTokens = 1_200;

/** What a message costs a model, about: a token for four characters, and a fixed count for an image. */
export function estimateTokens(message: AgentMessage): number {
  return convertToLlm([message]).reduce((sum, sent) => sum + contentTokens(sent), 0);
}

export const estimateAll = (messages: readonly AgentMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0);

/** Logs are read without being checked, so content and its blocks may be anything. */
function contentTokens({ content }: { content: unknown }): number {
  if (!Array.isArray(content)) return textTokens(toText(content));
  return content.reduce<number>((sum, block: Partial<Block> | null) => sum + blockTokens(block), 0);
}

type Block = TextContent | ImageContent | ThinkingContent | ToolCall;

function blockTokens(block: Partial<Block> | null): number {
  switch (block?.type) {
    case "text":
      return textTokens(toText(block.text));
    case "thinking":
      return textTokens(toText(block.redacted ? block.thinkingSignature : block.thinking));
    case "toolCall":
      return textTokens(`${toText(block.name)}${JSON.stringify(block.arguments ?? {})}`);
    case "image":
      return imageTokens;
    default:
      return 0;
  }
}

/**
 * The tokens that the next request for this branch takes: what the provider counted for the last answer, plus an
 * estimate of what came after it. A count says nothing any more once the context it is about was compacted or edited;
 * without a count everything is estimated.
 */
export function contextTokens(branch: readonly SessionEntry[]): number {
  const counted = lastCount(branch);
  const after = new Set(counted ? branch.slice(counted.at + 1) : branch);
  const estimate = contextMessages(branch)
    .filter(({ entry }) => !counted || after.has(entry))
    .reduce((sum, { message }) => sum + estimateTokens(message), 0);
  return (counted?.tokens ?? 0) + estimate;
}

function lastCount(branch: readonly SessionEntry[]): { at: number; tokens: number } | undefined {
  let firstEdited = Number.POSITIVE_INFINITY;
  for (let at = branch.length - 1; at >= 0; at--) {
    const entry = branch[at]!;
    if (entry.type === "compaction") return undefined;
    if (entry.type === "context_edit") {
      const target = branch.findIndex(({ id }) => id === entry.targetId);
      if (target >= 0) firstEdited = Math.min(firstEdited, target);
    }
    const tokens = entry.type === "message" && firstEdited > at ? usedTokens(entry.message) : 0;
    // A provider that counts nothing says 0, which is no count.
    if (tokens > 0) return { at, tokens };
  }
  return undefined;
}

/** What a provider counted for an answer and all that it answers; 0 where nobody counted. */
export function usedTokens(message: AgentMessage | undefined): number {
  if (message?.role !== "assistant" || message.stopReason === "error" || message.stopReason === "aborted") return 0;
  return getCount(message.usage);
}

const getCount = (usage: Partial<Usage> | undefined): number =>
  toNumber(usage?.totalTokens) ||
  toNumber(usage?.input) + toNumber(usage?.output) + toNumber(usage?.cacheRead) + toNumber(usage?.cacheWrite);

const toNumber = (value: unknown): number => (typeof value === "number" && value > 0 && value < 1e12 ? value : 0);

/** Tokens of messages and contexts, as pi counts them. */
import type { AgentMessage } from "@tau/agent";
import type { SessionEntry } from "@tau/protocol";
import type { AssistantMessage, Usage } from "@tau/ai";

export interface CompactionSettings {
  enabled: boolean;
  /** Tokens of the window that stay free. */
  reserveTokens: number;
  /** Tokens at the end that are kept. */
  keepRecentTokens: number;
}

export const DEFAULT_COMPACTION_SETTINGS: CompactionSettings = {
  enabled: true,
  reserveTokens: 16_384,
  keepRecentTokens: 20_000,
};

const charactersPerToken = 4;
/** Length of the text that would cost as many tokens as an image. */
const imageCharacters = 4_800;

/** An estimate: a token for four characters. */
export const estimateTokens = (message: AgentMessage): number =>
  Math.ceil(countCharacters(message) / charactersPerToken);

function countCharacters(message: AgentMessage): number {
  switch (message.role) {
    case "bashExecution":
      return message.command.length + message.output.length;
    case "branchSummary":
    case "compactionSummary":
      return message.summary.length;
    case "user":
    case "assistant":
    case "toolResult":
    case "custom":
      return countContent(message.content);
    default:
      return 0;
  }
}

type Block = Exclude<AssistantMessage["content"] | Extract<AgentMessage, { role: "user" }>["content"], string>[number];

function countContent(content: string | readonly Block[]): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, block) => sum + countBlock(block), 0);
}

function countBlock(block: Block): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "toolCall":
      return block.name.length + JSON.stringify(block.arguments).length;
    case "image":
      return imageCharacters;
    default:
      return 0;
  }
}

/** The whole context of an answer, as the provider counted it. */
export const calculateContextTokens = (usage: Usage): number =>
  usage.totalTokens || usage.input + usage.output + usage.cacheRead + usage.cacheWrite;

/** Returns the usage of an answer that the provider counted; undefined for one that failed or has no tokens. */
function getUsage(message: AgentMessage | undefined): Usage | undefined {
  if (message?.role !== "assistant" || message.stopReason === "aborted" || message.stopReason === "error") {
    return undefined;
  }
  return calculateContextTokens(message.usage) > 0 ? message.usage : undefined;
}

export function getLastAssistantUsage(entries: readonly SessionEntry[]): Usage | undefined {
  for (const entry of entries.toReversed()) {
    const usage = entry.type === "message" ? getUsage(entry.message) : undefined;
    if (usage) return usage;
  }
  return undefined;
}

interface ContextUsageEstimate {
  tokens: number;
  usageTokens: number;
  trailingTokens: number;
  lastUsageIndex: number | null;
}

/** Adds an estimate of the messages after the last answer to the tokens that the provider counted for it. */
export function estimateContextTokens(messages: readonly AgentMessage[]): ContextUsageEstimate {
  const index = messages.findLastIndex((message) => getUsage(message) !== undefined);
  const usage = getUsage(messages[index]);
  const usageTokens = usage ? calculateContextTokens(usage) : 0;
  const trailingTokens = messages.slice(index + 1).reduce((sum, message) => sum + estimateTokens(message), 0);
  return {
    tokens: usageTokens + trailingTokens,
    usageTokens,
    trailingTokens,
    lastUsageIndex: usage ? index : null,
  };
}

export const shouldCompact = (
  contextTokens: number,
  contextWindow: number,
  { enabled, reserveTokens }: CompactionSettings,
): boolean => enabled && contextTokens > contextWindow - reserveTokens;

/** What a session has done and cost so far. Pure: one entry at a time, so that nobody walks a long log again. */
import { asRecord } from "@tau/ai/internal";
import type { SessionEntry } from "../session/entry.ts";
import { parseUsage, toAmount } from "../budget/usage.ts";

export interface SessionStats {
  readonly sessionId?: string;
  readonly messages: {
    readonly user: number;
    readonly assistant: number;
    readonly toolResults: number;
    readonly toolCalls: number;
  };
  readonly tokens: {
    /** Neither read from nor written to a cache. */
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly total: number;
  };
  /** US dollars. */
  readonly cost: number;
  /** The part of all prompt tokens that came from a cache: 0 to 1, and 0 as long as there were none. */
  readonly cacheHitRate: number;
  /** How full the window is; undefined until somebody who knows the model says so (see `getContextUse`). */
  readonly contextUse: ContextUse | undefined;
}

export interface ContextUse {
  /** What the next request takes, about. */
  readonly tokens: number;
  readonly contextWindow: number;
  /** Of the window; over 100 when it does not fit any more. */
  readonly percent: number;
}

/** Before the first entry. */
export const emptyStats: SessionStats = {
  messages: { user: 0, assistant: 0, toolResults: 0, toolCalls: 0 },
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  cost: 0,
  cacheHitRate: 0,
  contextUse: undefined,
};

/**
 * The stats with one entry more: messages, and what answers, summaries and usage entries cost. Whatever is no count in
 * a log of somebody else's counts as 0. `contextUse` stays as it was: an entry does not know the window.
 */
export function countEntry(stats: SessionStats, entry: SessionEntry): SessionStats {
  switch (entry?.type) {
    case "message":
      return countMessage(stats, asRecord(entry.message));
    case "compaction":
    case "branch_summary":
    case "usage":
      return entry.usage ? countUsage(stats, entry.usage) : stats;
    default:
      return stats;
  }
}

function countMessage(stats: SessionStats, message: Record<string, unknown>): SessionStats {
  const { user, assistant, toolResults, toolCalls } = stats.messages;
  switch (message.role) {
    case "user":
      return { ...stats, messages: { user: user + 1, assistant, toolResults, toolCalls } };
    case "toolResult":
      return { ...stats, messages: { user, assistant, toolResults: toolResults + 1, toolCalls } };
    case "assistant": {
      const calls = toolCalls + callsIn(message.content);
      return countUsage(stats, message.usage, { user, assistant: assistant + 1, toolResults, toolCalls: calls });
    }
    default:
      return stats;
  }
}

const callsIn = (content: unknown): number =>
  Array.isArray(content) ? content.filter((block: unknown) => asRecord(block).type === "toolCall").length : 0;

function countUsage(stats: SessionStats, usage: unknown, messages = stats.messages): SessionStats {
  const counted = parseUsage(usage);
  const tokens = {
    input: stats.tokens.input + counted.input,
    output: stats.tokens.output + counted.output,
    cacheRead: stats.tokens.cacheRead + counted.cacheRead,
    cacheWrite: stats.tokens.cacheWrite + counted.cacheWrite,
    total: stats.tokens.total + counted.total,
  };
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  const cacheHitRate = prompt > 0 ? tokens.cacheRead / prompt : 0;
  return { ...stats, messages, tokens, cost: stats.cost + counted.cost, cacheHitRate };
}

/** Undefined for a model that does not say how large its window is. */
export function getContextUse(tokens: number, contextWindow: number): ContextUse | undefined {
  const window = toAmount(contextWindow);
  if (window === 0) return undefined;
  const used = toAmount(tokens);
  return { tokens: used, contextWindow: window, percent: (used / window) * 100 };
}

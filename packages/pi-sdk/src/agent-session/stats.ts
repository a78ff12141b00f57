/** Counts the messages, tokens and costs of a session. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { Usage } from "@tau/ai";
import type { SessionEntry } from "@tau/protocol";
import { calculateContextTokens, estimateContextTokens } from "@tau/pi/internal";

export interface SessionStats {
  sessionFile: string | undefined;
  sessionId: string;
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  toolResults: number;
  totalMessages: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
  cost: number;
  /** Undefined if the window of the model is not known. */
  contextUsage: ContextUsage | undefined;
}

/** `tokens` and `percent` are null right after a compaction, when no answer has counted the new context. */
export interface ContextUsage {
  tokens: number | null;
  contextWindow: number;
  percent: number | null;
}

/** `summaries` are the entries whose summaries were paid for too. */
export function countMessages(
  messages: readonly AgentMessage[],
  summaries: readonly SessionEntry[],
): Omit<SessionStats, "sessionFile" | "sessionId" | "contextUsage"> {
  const count = (role: string) => messages.filter((message) => message.role === role).length;
  const answers = messages.flatMap((message) => (message.role === "assistant" ? [message] : []));
  const usages = [...answers.map(({ usage }) => usage), ...summaries.flatMap((entry) => getSummaryUsage(entry) ?? [])];
  const sum = (name: "input" | "output" | "cacheRead" | "cacheWrite") =>
    usages.reduce((total, usage) => total + usage[name], 0);
  const tokens = {
    input: sum("input"),
    output: sum("output"),
    cacheRead: sum("cacheRead"),
    cacheWrite: sum("cacheWrite"),
  };
  return {
    userMessages: count("user"),
    assistantMessages: answers.length,
    toolCalls: answers.flatMap(({ content }) => content.filter(({ type }) => type === "toolCall")).length,
    toolResults: count("toolResult"),
    totalMessages: messages.length,
    tokens: { ...tokens, total: tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite },
    cost: usages.reduce((total, { cost }) => total + cost.total, 0),
  };
}

const getSummaryUsage = (entry: SessionEntry): Usage | undefined =>
  entry.type === "compaction" || entry.type === "branch_summary" ? entry.usage : undefined;

export function getContextUsage(
  branch: readonly SessionEntry[],
  messages: readonly AgentMessage[],
  contextWindow: number,
): ContextUsage {
  const compacted = branch.findLastIndex(({ type }) => type === "compaction");
  const isCounted = branch
    .slice(compacted + 1)
    .some(
      (entry) =>
        entry.type === "message" &&
        entry.message.role === "assistant" &&
        entry.message.stopReason !== "error" &&
        entry.message.stopReason !== "aborted" &&
        calculateContextTokens(entry.message.usage) > 0,
    );
  if (compacted >= 0 && !isCounted) return { tokens: null, contextWindow, percent: null };
  const { tokens } = estimateContextTokens(messages);
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
}

/** Decides whether the context is compacted after an answer. Pure. */
import type { AgentMessage } from "@tau/agent";
import { type AssistantMessage, isContextOverflow, type Model } from "@tau/ai";
import type { SessionEntry } from "@tau/protocol";
import {
  calculateContextTokens,
  type CompactionSettings,
  estimateContextTokens,
  getLatestCompactionEntry,
  shouldCompact,
} from "@tau/pi/internal";

interface CompactionState {
  model: Model;
  messages: readonly AgentMessage[];
  branch: readonly SessionEntry[];
  settings: CompactionSettings;
}

/** An answer from before the last compaction does not count: it was about a longer context. */
export function getCompactionReason(
  answer: AssistantMessage,
  { model, messages, branch, settings }: CompactionState,
): "overflow" | "threshold" | undefined {
  const compaction = getLatestCompactionEntry(branch);
  const isOld = ({ timestamp }: { timestamp: number }) =>
    compaction !== null && timestamp <= Date.parse(compaction.timestamp);
  if (!settings.enabled || isOld(answer)) return undefined;
  const isOwn = answer.provider === model.provider && answer.model === model.id;
  if (isOwn && isContextOverflow(answer, model.contextWindow)) return "overflow";
  let tokens = calculateContextTokens(answer.usage);
  if (answer.stopReason === "error") {
    const estimate = estimateContextTokens(messages);
    const counted = messages[estimate.lastUsageIndex ?? -1];
    if (!counted || isOld(counted)) return undefined;
    tokens = estimate.tokens;
  }
  return shouldCompact(tokens, model.contextWindow, settings) ? "threshold" : undefined;
}

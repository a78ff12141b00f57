import { isOverflowMessage } from "./failure.ts";
import type { AssistantMessage } from "./message.ts";

/**
 * Whether the prompt did not fit into the context window: the provider reported it, or its token count exceeds the
 * window, or the prompt filled the window and left no tokens for the answer.
 */
export function isContextOverflow(message: AssistantMessage, contextWindow?: number): boolean {
  if (message.failure?.kind === "context_overflow") return true;
  if (message.stopReason === "error" && message.errorMessage && isOverflowMessage(message.errorMessage)) return true;
  if (!contextWindow || message.stopReason === "error" || message.stopReason === "aborted") return false;
  const promptTokens = message.usage.input + message.usage.cacheRead + message.usage.cacheWrite;
  if (promptTokens > contextWindow) return true;
  return message.stopReason === "length" && message.usage.output === 0 && promptTokens >= contextWindow * 0.99;
}

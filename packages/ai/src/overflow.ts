import { isOverflowProse } from "./failure.ts";
import type { AssistantMessage } from "./message.ts";

/**
 * Whether an answer shows that the prompt did not fit: the provider said so, or its own count is above the window, or
 * it filled the window and had no room left to answer.
 */
export function isContextOverflow(message: AssistantMessage, contextWindow?: number): boolean {
  if (message.failure?.kind === "context_overflow") return true;
  if (message.stopReason === "error" && message.errorMessage && isOverflowProse(message.errorMessage)) return true;
  if (!contextWindow || message.stopReason === "error" || message.stopReason === "aborted") return false;
  const prompt = message.usage.input + message.usage.cacheRead + message.usage.cacheWrite;
  if (prompt > contextWindow) return true;
  return message.stopReason === "length" && message.usage.output === 0 && prompt >= contextWindow * 0.99;
}

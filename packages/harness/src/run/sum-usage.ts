import type { AgentMessage } from "@tau/agent";
import { emptyUsage, type Usage } from "@tau/ai";
import { addUsage } from "../budget/usage.ts";

/** Adds up what the answers of a run cost, and requests that its tools made. */
export const sumUsage = (messages: readonly AgentMessage[]): Usage =>
  messages.reduce(
    (sum, message) =>
      (message.role === "assistant" || message.role === "toolResult") && message.usage
        ? addUsage(sum, message.usage)
        : sum,
    emptyUsage(),
  );

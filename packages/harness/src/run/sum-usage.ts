import type { AgentMessage } from "@tau/agent";
import { emptyUsage, type Usage } from "@tau/ai";
import { addUsage } from "../budget/usage.ts";

/** Adds up what the answers of a run cost. */
export const sumUsage = (messages: readonly AgentMessage[]): Usage =>
  messages.reduce((sum, message) => (message.role === "assistant" ? addUsage(sum, message.usage) : sum), emptyUsage());

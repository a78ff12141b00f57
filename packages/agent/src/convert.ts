import type { Message } from "@tau/ai";
import type { AgentMessage } from "./types.ts";

/** Whether a message is one that models understand. */
export function isLlmMessage(message: AgentMessage): message is Message {
  const { role } = message as { role: string };
  return role === "user" || role === "assistant" || role === "toolResult";
}

/** Keeps what a model understands and leaves the application's own messages out. */
export function defaultConvertToLlm(messages: AgentMessage[]): Message[] {
  return messages.filter(isLlmMessage);
}

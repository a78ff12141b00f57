import type { Message } from "@tau/ai";
import type { AgentMessage } from "./types.ts";

/** Whether models understand a message. */
export function isLlmMessage(message: AgentMessage): message is Message {
  const { role } = message as { role: string };
  return role === "user" || role === "assistant" || role === "toolResult";
}

/** Leaves out the custom messages of the application. */
export function defaultConvertToLlm(messages: AgentMessage[]): Message[] {
  return messages.filter(isLlmMessage);
}

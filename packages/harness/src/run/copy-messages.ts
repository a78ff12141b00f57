/** Copies messages for handlers that may change them in place. Pure. */
import type { AgentMessage } from "@tau/agent";

export const copyMessages = (messages: readonly AgentMessage[]): AgentMessage[] => messages.map(copyMessage);

/** The details of a tool may contain functions, which cannot be copied. No model is sent them, so they are shared then. */
export function copyMessage<Message extends AgentMessage>(message: Message): Message {
  try {
    return structuredClone(message);
  } catch (error) {
    if (!(error instanceof DOMException) || !("details" in message)) throw error;
    const { details, ...rest } = message;
    return { ...structuredClone(rest), details } as Message;
  }
}

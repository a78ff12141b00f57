/** Copies messages for handlers that may change them in place. Pure. */
import type { AgentMessage } from "@tau/agent";

export const copyMessages = (messages: readonly AgentMessage[]): AgentMessage[] => messages.map(copyMessage);

/** Copies a value. One that contains functions cannot be copied, and is shared. */
export function copyData<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch (error) {
    if (error instanceof DOMException) return value;
    throw error;
  }
}

/** Copies JSON and shares its texts, for what is copied often. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyJson) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyJson(field as unknown)])) as T;
}

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

/** Finds the entry of a message. Messages are passed on without their entries, by the engine too. */
import type { AgentMessage } from "@tau/agent";

/** A message with the id of its entry, which is what a session is branched at. */
export type TranscriptMessage = AgentMessage & { id?: string };

const ids = new WeakMap<AgentMessage, string>();

export const setMessageId = (message: AgentMessage, id: string): void => void ids.set(message, id);

/** Copies. A message that was not read from a log or written to one has no id. */
export const withIds = (messages: readonly AgentMessage[]): TranscriptMessage[] =>
  messages.map((message) => {
    const id = ids.get(message);
    return id === undefined ? message : { ...message, id };
  });

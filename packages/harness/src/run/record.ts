/** Records what happens in a run in the log before anybody acts on it. */
import type { Agent, AgentEvent, AgentMessage } from "@tau/agent";
import { asRecord } from "@tau/ai/internal";
import type { MessageEntry } from "../session/entry.ts";
import type { Session } from "../session/session.ts";
import { isSilent } from "./silent.ts";

/** Facts about a message that are not part of it. */
interface MessageFacts {
  /** Returns the id of a message that had waited. */
  getQueueId?: (message: AgentMessage) => string | undefined;
  /** Returns the selected model if another one answers in its place. */
  getReplaced?: () => MessageEntry["selected"];
}

/**
 * Appends what an event says that has to be remembered: a message when it is whole. With durability `turn`, the end of a turn
 * brings it to the disk. Answers with the id of the entry, if there is one; undefined when there is nothing to wait for.
 */
export function appendEvent(
  session: Session,
  event: AgentEvent,
  { getQueueId, getReplaced }: MessageFacts = {},
): Promise<string | void> | undefined {
  if (event.type === "turn_end") return session.flush();
  if (event.type !== "message_end") return undefined;
  const { message } = event;
  if (message.role === "custom") {
    const { role: _role, timestamp: _timestamp, ...fields } = message;
    return session.append({ type: "custom_message", ...fields });
  }
  const queueId = getQueueId?.(message);
  const selected = message.role === "assistant" ? getReplaced?.() : undefined;
  return session.append({
    type: "message",
    message,
    ...(queueId !== undefined && { queueId }),
    ...(message.role === "assistant" && isSilent(message) && { silent: true }),
    ...(selected && { selected }),
  });
}

/**
 * Appends the outcome of a call that a tool made when it ends: the model gets no message with it. The returned function is
 * called with all events of a run, in order.
 */
export function createNestedCallLog(session: Session): (event: AgentEvent) => Promise<string> | undefined {
  /** The arguments of the calls that have not ended, by the id of the call. */
  const inputs = new Map<string, Record<string, unknown>>();
  return (event) => {
    if (event.type === "tool_execution_start" && event.parentToolCallId !== undefined)
      inputs.set(event.toolCallId, asRecord(event.args));
    if (event.type !== "tool_execution_end" || event.parentToolCallId === undefined) return undefined;
    const { toolCallId, toolName, parentToolCallId, result, isError, errorCode } = event;
    const input = inputs.get(toolCallId) ?? {};
    inputs.delete(toolCallId);
    return session.appendNestedCall({
      toolCallId,
      toolName,
      parentToolCallId,
      input,
      content: result.content,
      ...(result.details !== undefined && { details: result.details as unknown }),
      isError,
      ...(errorCode !== undefined && { errorCode }),
    });
  };
}

/**
 * Records an agent's runs in a session until the returned function is called. The agent waits for its listeners, so a
 * prompt is in the log before the model is asked, and a call is journalled before its tool is executed. A log that
 * refuses ends the run with its words: what cannot be remembered is not done.
 */
export function recordRuns(agent: Agent, session: Session): () => void {
  const appendNested = createNestedCallLog(session);
  return agent.subscribe(async (event) => {
    if (event.type === "tool_execution_start")
      await session.appendCallStarted(event.toolCallId, event.toolName, event.parentToolCallId);
    await (appendNested(event) ?? appendEvent(session, event));
  });
}

/**
 * What extensions are told of a run, from the engine's events. They get copies: what a handler writes into them must not
 * become part of the conversation. Pure.
 */
import type { AgentEvent, AgentMessage } from "@tau/agent";
import type { ExtensionEvent } from "../extensions/events.ts";
import { copyData, copyJson, copyMessage } from "./copy-messages.ts";

/** Undefined for what is told elsewhere: the ends of turns and runs, and messages that handlers may replace. */
export function toExtensionEvent(
  event: AgentEvent,
  describeTurn: () => { turnIndex: number; timestamp: number },
): ExtensionEvent | undefined {
  switch (event.type) {
    case "turn_start":
      return { type: "turn_start", ...describeTurn() };
    case "message_start":
      return { ...event, message: copyMessage(event.message) };
    case "message_update":
      return toUpdate(event);
    case "tool_execution_start":
      return { ...event, args: copyData(event.args) };
    case "tool_execution_update":
      return { ...event, args: copyData(event.args), partialResult: copyResult(event.partialResult) };
    case "tool_execution_end":
      return { ...event, result: copyResult(event.result) };
    default:
      return undefined;
  }
}

/** Deltas come by the thousand, and most handlers look at the delta alone: the message is copied for one that reads it. */
function toUpdate(event: AgentEvent & { type: "message_update" }): ExtensionEvent<"message_update"> {
  let copy: AgentMessage | undefined;
  const read = () => (copy ??= copyJson(event.message));
  const { partial: _partial, ...rest } = event.assistantMessageEvent as { partial?: unknown };
  const step = {
    ...copyJson(rest),
    get partial() {
      return read();
    },
  };
  return {
    type: "message_update",
    get message() {
      return read();
    },
    assistantMessageEvent: step as typeof event.assistantMessageEvent,
  };
}

/** Details may be anything, and then only they are shared. */
const copyResult = <T extends { content: unknown; details?: unknown }>(result: T): T => ({
  ...result,
  content: copyData(result.content),
  ...("details" in result && { details: copyData(result.details) }),
});

/** What extensions are told of a run, from the engine's events. Pure. */
import type { AgentEvent } from "@tau/agent";
import type { ExtensionEvent } from "../extensions/events.ts";

/** Undefined for what is told elsewhere: the ends of turns and runs, and messages that handlers may replace. */
export function toExtensionEvent(
  event: AgentEvent,
  describeTurn: () => { turnIndex: number; timestamp: number },
): ExtensionEvent | undefined {
  switch (event.type) {
    case "turn_start":
      return { type: "turn_start", ...describeTurn() };
    case "message_start":
    case "message_update":
    case "tool_execution_start":
    case "tool_execution_update":
    case "tool_execution_end":
      return event;
    default:
      return undefined;
  }
}

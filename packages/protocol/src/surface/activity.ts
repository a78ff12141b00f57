/** Says in a few words what a run is doing. Pure. */
import type { SessionEvent } from "../event.ts";

type CallStart = Extract<SessionEvent, { type: "tool_execution_start" }>;

/** Finds what the run does after an event; undefined if that does not change. */
export function getActivity(event: SessionEvent, formatCall: (call: CallStart) => string): string | undefined {
  switch (event.type) {
    case "turn_start":
      return "waiting for the model";
    case "text_delta":
      return "answering";
    case "thinking_delta":
      return "thinking";
    case "tool_execution_start":
      return formatCall(event);
    case "retry_scheduled":
      return "waiting to try again";
    default:
      return undefined;
  }
}

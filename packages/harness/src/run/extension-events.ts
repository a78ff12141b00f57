/**
 * Translates the engine's events into those of extensions. They get copies: what a handler writes into them must not
 * become part of the conversation. Pure.
 */
import type { AgentEvent } from "@tau/agent";
import type { ExtensionEvent } from "@tau/extensions";
import { copyData, copyMessage } from "./copy-messages.ts";

/** Undefined for what is emitted elsewhere: the ends of turns and runs, and messages that are streamed or may be replaced. */
export function toExtensionEvent(
  event: AgentEvent,
  describeTurn: () => { turnIndex: number; timestamp: number },
): ExtensionEvent | undefined {
  switch (event.type) {
    case "turn_start":
      return { type: "turn_start", ...describeTurn() };
    case "message_start":
      return { ...event, message: copyMessage(event.message) };
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

/** Details may be anything, and then only they are shared. */
const copyResult = <T extends { content: unknown; details?: unknown }>(result: T): T => ({
  ...result,
  content: copyData(result.content),
  ...("details" in result && { details: copyData(result.details) }),
});

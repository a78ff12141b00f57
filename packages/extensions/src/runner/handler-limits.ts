/** How long handlers of an extension may work. Time that its extension waits for something else is not included. */
import type { ExtensionEventName } from "../api/events.ts";

/** For handlers that are only notified, and where nobody can stop the wait. */
export const maxHandlerMs = 10_000;

/** The default of the setting `extensionTimeoutMs`. */
export const defaultAnswerMs = 60_000;

/** After this time people are shown what is waited for. */
export const noticeAfterMs = 5_000;

/**
 * Events of a run whose answers are used, for which handlers may ask a server or a model, and its end, at which they wait for
 * agents that they started; and work that a call waits for. Stopping the run ends the wait.
 */
const longEvents: ReadonlySet<ExtensionEventName> = new Set([
  "agent_before_settle",
  "agent_end",
  "before_agent_start",
  "before_files_change",
  "before_provider_headers",
  "before_provider_request",
  "context",
  "context_with_system",
  "input",
  "message_end",
  "tool_call",
  "tool_result",
  "turn_end",
  "undo_request",
  "user_bash",
]);

/** Asked when the session is left, which is no part of a run: stopping a run is no answer to them. */
const leavingEvents: ReadonlySet<ExtensionEventName> = new Set(["session_before_fork", "session_before_switch"]);

interface HandlerLimit {
  maxMs: number;
  /** Ends the wait before that. */
  signal: AbortSignal | undefined;
}

/** Decides how long a handler is waited for. An event that has a signal of its own has no other limit. */
export function decideLimit(
  event: { type: ExtensionEventName; signal?: AbortSignal },
  { answerMs, runSignal }: { answerMs: number; runSignal: AbortSignal | undefined },
): HandlerLimit {
  if (event.signal) return { maxMs: Infinity, signal: event.signal };
  if (leavingEvents.has(event.type)) return { maxMs: answerMs, signal: undefined };
  // The end of a run that was stopped is reported like other events.
  const isStopped = event.type === "agent_end" && runSignal?.aborted === true;
  return longEvents.has(event.type) && !isStopped
    ? { maxMs: answerMs, signal: runSignal }
    : { maxMs: maxHandlerMs, signal: undefined };
}

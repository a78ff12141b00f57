/** Formats the events of a session as lines. Messages come from the entries of its log. Pure. */
import { customTypes, formatModelUse, type SessionEntry, type SessionEvent } from "@tau/protocol";
import type { Formatter } from "./formatter.ts";
import { contentText, failureLine, messageLines } from "./message-lines.ts";

/** State that later lines depend on. */
interface LineState {
  /** The line of the last answer that failed. */
  failure: string | undefined;
  model: string | undefined;
  /** The queued messages, by their ids. */
  readonly queued: Map<string, string>;
}

export function eventLines(events: readonly SessionEvent[], format: Formatter): string[] {
  const state: LineState = { failure: undefined, model: undefined, queued: new Map() };
  return events.flatMap((event) => toLines(event, state, format));
}

function toLines(event: SessionEvent, state: LineState, format: Formatter): string[] {
  switch (event.type) {
    case "entry_appended":
      return entryLines(event.entry, state, format);
    case "model_changed": {
      const before = state.model;
      state.model = `model ${format.text(`${event.provider}/${event.modelId}`)} (${format.text(event.thinkingLevel)})`;
      // Every session begins with this event.
      return before === undefined || before === state.model ? [] : [state.model];
    }
    case "model_used":
      return [`uses ${format.text(formatModelUse(event))}: ${format.text(event.reason)}`];
    case "retry_scheduled": {
      const { attempt, maxAttempts, delayMs, reason } = event;
      const count = maxAttempts === undefined ? attempt : `${attempt} of ${maxAttempts}`;
      return [`retry ${count} after ${delayMs} ms: ${format.text(reason)}`];
    }
    case "error": {
      const line = failureLine(event.code, event.message, format);
      return line === state.failure ? [] : [line];
    }
    case "agent_end": {
      const detail = event.detail === undefined ? "" : ` (${format.text(event.detail)})`;
      return [`end: ${event.terminationReason}${detail}`];
    }
    case "approval_requested":
      return [`asked about ${format.text(event.approval.toolName)}: ${format.text(event.approval.summary)}`];
    case "approval_resolved":
      return [`${event.decision} by ${format.text(event.by)}`];
    case "session_branched":
      return [`branched at ${format.text(event.branchPoint)}`];
    case "cache_break":
      return [`cache break at ${format.text(event.segment)}: ${format.text(event.reason)}`];
    case "notice":
      return [`notice ${format.text(event.code)}: ${format.text(event.message)}`];
    // The entries contain the same, and deltas differ from run to run.
    case "agent_start":
    case "turn_start":
    case "message_start":
    case "text_delta":
    case "thinking_delta":
    case "toolcall_delta":
    case "message_end":
    case "tool_execution_start":
    case "tool_execution_update":
    case "tool_execution_end":
    case "turn_end":
    case "queue_changed":
    case "compaction_start":
    case "compaction_end":
    case "tool_denied":
    case "jobs_changed":
    case "permission_mode_changed":
      return [];
    default:
      event satisfies never;
      return [];
  }
}

function entryLines(entry: SessionEntry, state: LineState, format: Formatter): string[] {
  switch (entry.type) {
    case "message": {
      const lines = messageLines(entry.message, format);
      state.failure = lines.findLast((line) => line.startsWith("failed "));
      return lines;
    }
    case "compaction":
      return [`compacted: ${format.text(entry.summary)}`];
    case "branch_summary":
      return [`branch summary: ${format.text(entry.summary)}`];
    case "custom_message":
      return [`custom ${format.text(entry.customType)}: ${format.text(contentText(entry.content))}`];
    case "custom": {
      const isNavigation = entry.customType === customTypes.navigated;
      return isNavigation ? [`navigated to ${format.text(entry.parentId ?? "the start")}`] : [];
    }
    case "session_info":
      return [`named: ${format.text(entry.name ?? "")}`];
    case "queue": {
      if (entry.state !== "accepted") return [`${entry.state}: ${state.queued.get(entry.queueId) ?? ""}`];
      const text = format.text(contentText(entry.content));
      state.queued.set(entry.queueId, text);
      return [`queued to ${entry.kind === "steer" ? "steer" : "follow up"}: ${text}`];
    }
    default:
      // Other entries are not part of the conversation, or come from a newer version.
      return [];
  }
}

/** Names for the ids in events, which differ from run to run. */
export function nameIds(events: readonly SessionEvent[]): Map<string, string> {
  const names = new Map<string, string>();
  let entries = 0;
  let branches = 0;
  for (const event of events) {
    if (event.type === "entry_appended") names.set(event.entry.id, `<entry ${++entries}>`);
    if (event.type === "agent_start") names.set(event.sessionId, "<session>");
    if (event.type === "session_branched") names.set(event.branchId, `<branch ${++branches}>`);
  }
  return names;
}

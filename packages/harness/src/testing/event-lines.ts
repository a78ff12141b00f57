/** The events of a session as readable lines. What was said comes from the entries of its log. Pure. */
import { customTypes, type SessionEntry, type SessionEvent } from "@tau/protocol";
import { contentText, failureLine, messageLines } from "./message-lines.ts";
import type { Show } from "./show.ts";

/** What has a part in the next line. */
interface Told {
  /** The last failure of an answer. */
  failure: string | undefined;
  model: string | undefined;
  /** What waits, by its id. */
  readonly waiting: Map<string, string>;
}

export function eventLines(events: readonly SessionEvent[], show: Show): string[] {
  const told: Told = { failure: undefined, model: undefined, waiting: new Map() };
  return events.flatMap((event) => toLines(event, told, show));
}

function toLines(event: SessionEvent, told: Told, show: Show): string[] {
  switch (event.type) {
    case "entry_appended":
      return entryLines(event.entry, told, show);
    case "model_changed": {
      const before = told.model;
      told.model = `model ${show.text(`${event.provider}/${event.modelId}`)} (${show.text(event.thinkingLevel)})`;
      // Every session begins with one.
      return before === undefined || before === told.model ? [] : [told.model];
    }
    case "retry_scheduled": {
      const { attempt, maxAttempts, delayMs, reason } = event;
      return [`retry ${attempt} of ${maxAttempts} after ${delayMs} ms: ${show.text(reason)}`];
    }
    case "error": {
      const line = failureLine(event.code, event.message, show);
      return line === told.failure ? [] : [line];
    }
    case "agent_end": {
      const detail = event.detail === undefined ? "" : ` (${show.text(event.detail)})`;
      return [`end: ${event.terminationReason}${detail}`];
    }
    case "approval_requested":
      return [`asked about ${show.text(event.approval.toolName)}: ${show.text(event.approval.summary)}`];
    case "approval_resolved":
      return [`${event.decision} by ${show.text(event.by)}`];
    case "session_branched":
      return [`branched at ${show.text(event.branchPoint)}`];
    case "cache_break":
      return [`cache break at ${show.text(event.segment)}: ${show.text(event.reason)}`];
    case "notice":
      return [`notice ${show.text(event.code)}: ${show.text(event.message)}`];
    // How a run goes on is told by what it says; how it arrives in pieces differs from run to run.
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
      return [];
    default:
      event satisfies never;
      return [];
  }
}

function entryLines(entry: SessionEntry, told: Told, show: Show): string[] {
  switch (entry.type) {
    case "message": {
      const lines = messageLines(entry.message, show);
      told.failure = lines.findLast((line) => line.startsWith("failed "));
      return lines;
    }
    case "compaction":
      return [`compacted: ${show.text(entry.summary)}`];
    case "branch_summary":
      return [`branch summary: ${show.text(entry.summary)}`];
    case "custom_message":
      return [`custom ${show.text(entry.customType)}: ${show.text(contentText(entry.content))}`];
    case "custom":
      return entry.customType === customTypes.navigated ? [`went to ${show.text(entry.parentId ?? "the start")}`] : [];
    case "session_info":
      return [`named: ${show.text(entry.name ?? "")}`];
    case "queue": {
      if (entry.state !== "accepted") return [`${entry.state}: ${told.waiting.get(entry.queueId) ?? ""}`];
      const words = show.text(contentText(entry.content));
      told.waiting.set(entry.queueId, words);
      return [`waits to ${entry.kind === "steer" ? "steer" : "follow up"}: ${words}`];
    }
    default:
      // The rest says nothing that a reader of the conversation sees, or comes from a newer version.
      return [];
  }
}

/** The ids in events, and what stands for them: they are others in every run. */
export function idNames(events: readonly SessionEvent[]): Map<string, string> {
  const names = new Map<string, string>();
  let entries = 0;
  let branches = 0;
  const addEntry = ({ id }: SessionEntry) => names.set(id, `<entry ${++entries}>`);
  for (const event of events) {
    if (event.type === "entry_appended") addEntry(event.entry);
    if (event.type === "agent_start") names.set(event.sessionId, "<session>");
    if (event.type === "session_branched") names.set(event.branchId, `<branch ${++branches}>`);
  }
  return names;
}

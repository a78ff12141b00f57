/**
 * The state that a surface draws. `reduce` is the only place where an event becomes state. `log` is what survives a restart; `live`
 * is what is happening now. Each event costs the same, however long the session is: the log is a window over the end of
 * the shown branch, and surfaces ask for older entries when they need them (`get_entries`, then `addOlderEntries`).
 */
import type { Approval } from "./approval.ts";
import { getLeafAfter, type SessionEntry } from "./entry.ts";
import type { CompactionReason, Delta, QueuedSummary, SessionEvent, UpdateType } from "./event.ts";
import type { ScheduledRetry } from "./retry.ts";
import type { JobSummary } from "./job.ts";
import type { ModelUse } from "./model-use.ts";
import { defaultPermissionMode, type PermissionMode } from "./permission-mode.ts";
import type { TerminationReason } from "./run-end.ts";

export interface View {
  readonly log: LogView;
  readonly live: LiveView;
}

/** The data of an event that is sent over HTTP: an event to reduce, or first the view to begin with. */
export type StreamedEvent = SessionEvent | { type: "view"; view: View };

export interface LogView {
  /** The end of the shown branch, oldest first. */
  readonly entries: readonly SessionEntry[];
  /** Whether the branch has entries before the first of `entries`. */
  readonly hasOlder: boolean;
  /** The entry that the next one will hang on. */
  readonly leafId: string | null;
  readonly name: string | undefined;
  /** Number of entries in the whole log, all branches together: the session's `stateVersion`. */
  readonly entryCount: number;
}

export interface LiveView {
  /** Undefined when the session is idle. */
  readonly run: { readonly model: string; readonly turnIndex: number } | undefined;
  /** The answer that is arriving, until it is in the log. */
  readonly message: LiveMessage | undefined;
  /** The calls of the model that are running, in the order they were started. */
  readonly tools: readonly LiveTool[];
  readonly steering: readonly QueuedSummary[];
  readonly followUps: readonly QueuedSummary[];
  readonly approvals: readonly Approval[];
  /** The calls of the last run that were not allowed, the latest last. */
  readonly denials: readonly { readonly toolCallId: string; readonly toolName: string; readonly reason: string }[];
  /** The model and key that requests use, if those have changed since the model was selected. */
  readonly used: ModelUse | undefined;
  /** Why the last attempt failed, until the model answers. */
  readonly retry: ScheduledRetry | undefined;
  /** The compaction that is running. */
  readonly compaction: { readonly reason: CompactionReason } | undefined;
  /** The commands that run in the background, oldest first. */
  readonly jobs: readonly JobSummary[];
  readonly permissionMode: PermissionMode;
  /** Notices for the user, the latest last. */
  readonly notices: readonly { readonly code: string; readonly message: string }[];
  /** How the last run ended; undefined before the first. */
  readonly ended: { readonly reason: TerminationReason; readonly detail: string | undefined } | undefined;
  /** The error of the last run. */
  readonly error: { readonly code: string; readonly message: string; readonly recoverable: boolean } | undefined;
}

export interface LiveMessage {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly thinking: string;
  /** The calls that are being written. */
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

export interface LiveTool {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Its output so far, the latest last. */
  readonly updates: readonly { readonly type: UpdateType; readonly content: string }[];
  readonly progressPercent: number | undefined;
  /** The calls that it made and that are running. */
  readonly calls: readonly LiveTool[];
}

/** How many updates of a running call are kept; its result will hold what matters. */
const maxUpdates = 200;

const maxNotices = 20;
const maxDenials = 50;

/** The window is cut back to this many entries when it has twice as many, so that appending copies a bounded list. */
export const windowSize = 256;

export const emptyView: View = {
  log: { entries: [], hasOlder: false, leafId: null, name: undefined, entryCount: 0 },
  live: {
    run: undefined,
    message: undefined,
    tools: [],
    steering: [],
    followUps: [],
    approvals: [],
    denials: [],
    used: undefined,
    retry: undefined,
    compaction: undefined,
    jobs: [],
    permissionMode: defaultPermissionMode,
    notices: [],
    ended: undefined,
    error: undefined,
  },
};

/** The view of a session that is idle, from all entries of its log in the order they were written. */
export const viewFromEntries = (entries: readonly SessionEntry[]): View =>
  entries.reduce((view, entry) => reduce(view, { type: "entry_appended", entry }), emptyView);

export function reduce(view: View, event: SessionEvent): View {
  if (event.type === "entry_appended") return reduceEntry(view, event.entry);
  const live = reduceLive(view.live, event);
  return live === view.live ? view : { log: view.log, live };
}

/** An answer's entry comes before its `message_end`. Surfaces may draw in between, and must not draw the answer twice. */
function reduceEntry({ log, live }: View, entry: SessionEntry): View {
  const isAnswer = entry.type === "message" && entry.message.role === "assistant";
  return { log: appendEntry(log, entry), live: isAnswer && live.message ? { ...live, message: undefined } : live };
}

/** Puts older entries of the shown branch before the window. Entries that do not end where the window begins are ignored. */
export function addOlderEntries(view: View, older: readonly SessionEntry[], hasOlder: boolean): View {
  const { log } = view;
  const first = log.entries[0];
  const expected = first ? first.parentId : log.leafId;
  if (older.length === 0 || older.at(-1)?.id !== expected) return view;
  return { ...view, log: { ...log, entries: [...older, ...log.entries], hasOlder } };
}

function appendEntry(log: LogView, entry: SessionEntry): LogView {
  const { entries, hasOlder } = entry.parentId === log.leafId ? log : moveTo(log, entry.parentId);
  const leafId = getLeafAfter(entry);
  // `concat` copies once; a spread copies twice, since its list has to grow for the entry.
  const shown = leafId === entry.id ? entries.concat([entry]) : entries;
  const isFull = shown.length >= 2 * windowSize;
  return {
    entries: isFull ? shown.slice(-windowSize) : shown,
    hasOlder: hasOlder || isFull,
    leafId,
    name: entry.type === "session_info" ? toName(entry.name) : log.name,
    entryCount: log.entryCount + 1,
  };
}

/** The window over the branch that ends in `leafId`: what of it was already in the window. */
function moveTo({ entries }: LogView, leafId: string | null): Pick<LogView, "entries" | "hasOlder"> {
  const index = entries.findLastIndex(({ id }) => id === leafId);
  if (index < 0) return { entries: [], hasOlder: leafId !== null };
  return { entries: entries.slice(0, index + 1), hasOlder: entries[0]!.parentId !== null };
}

/** Logs are not checked when they are read, so a name may be anything. */
const toName = (name: unknown): string | undefined =>
  typeof name === "string" && name.trim() !== "" ? name.trim() : undefined;

function reduceLive(live: LiveView, event: Exclude<SessionEvent, { type: "entry_appended" }>): LiveView {
  switch (event.type) {
    case "agent_start":
      return { ...live, run: { model: event.model, turnIndex: 0 }, ended: undefined, error: undefined, denials: [] };
    case "turn_start":
      return { ...live, run: live.run && { ...live.run, turnIndex: event.turnIndex }, retry: undefined };
    case "message_start":
      return { ...live, message: { id: event.messageId, model: event.model, text: "", thinking: "", calls: [] } };
    case "text_delta":
    case "thinking_delta":
    case "toolcall_delta":
      if (live.message?.id !== event.messageId) return live;
      return { ...live, message: withDelta(live.message, event), retry: undefined };
    case "message_end":
      return live.message?.id === event.messageId ? { ...live, message: undefined } : live;
    case "tool_execution_start":
      return { ...live, tools: addTool(live.tools, event) };
    case "tool_execution_update":
      return {
        ...live,
        tools: updateTool(live.tools, event.toolCallId, (tool) => withUpdate(tool, event)),
      };
    case "tool_execution_end":
      return { ...live, tools: removeTool(live.tools, event) };
    case "turn_end":
      return { ...live, message: undefined, tools: [], retry: undefined };
    case "agent_end":
      // Questions stay: each is resolved by an event of its own, and not all are asked by the run.
      return {
        ...live,
        run: undefined,
        message: undefined,
        tools: [],
        retry: undefined,
        compaction: undefined,
        ended: { reason: event.terminationReason, detail: event.detail },
      };
    case "error":
      return { ...live, error: { code: event.code, message: event.message, recoverable: event.recoverable } };
    case "queue_changed":
      return { ...live, steering: event.steering, followUps: event.followUps };
    case "approval_requested":
      return { ...live, approvals: [...live.approvals, event.approval] };
    case "approval_resolved":
      return { ...live, approvals: live.approvals.filter(({ id }) => id !== event.approvalId) };
    case "retry_scheduled": {
      const { type: _type, ...retry } = event;
      return { ...live, retry };
    }
    case "compaction_start":
      return { ...live, compaction: { reason: event.reason } };
    case "compaction_end":
      return { ...live, compaction: undefined };
    case "tool_denied": {
      const { toolCallId, toolName, reason } = event;
      return { ...live, denials: [...live.denials, { toolCallId, toolName, reason }].slice(-maxDenials) };
    }
    case "jobs_changed":
      return { ...live, jobs: event.running };
    case "permission_mode_changed":
      return { ...live, permissionMode: event.mode };
    case "model_changed":
      return live.used ? { ...live, used: undefined } : live;
    case "model_used": {
      const { type: _type, ...used } = event;
      return { ...live, used };
    }
    // Either an entry of the log reports it too, or nothing of it is drawn.
    case "session_branched":
    case "cache_break":
      return live;
    case "notice":
      return { ...live, notices: [...live.notices, { code: event.code, message: event.message }].slice(-maxNotices) };
    default:
      // Every kind is handled above; a newer server may send others.
      event satisfies never;
      return live;
  }
}

/** Lists all fields, because an answer has thousands of deltas, and Node 20 takes twenty times as long to spread. */
function withDelta(message: LiveMessage, event: Delta): LiveMessage {
  const { id, model, text, thinking, calls } = message;
  switch (event.type) {
    case "text_delta":
      return { id, model, text: text + event.delta, thinking, calls };
    case "thinking_delta":
      return { id, model, text, thinking: thinking + event.delta, calls };
    case "toolcall_delta":
      return { id, model, text, thinking, calls: withCallDelta(calls, event) };
    default:
      return event satisfies never;
  }
}

function withCallDelta(
  calls: LiveMessage["calls"],
  { toolCallId, toolName, delta }: Delta & { type: "toolcall_delta" },
): LiveMessage["calls"] {
  const index = calls.findIndex(({ id }) => id === toolCallId);
  const call = calls[index];
  if (!call) return [...calls, { id: toolCallId, name: toolName ?? "", arguments: delta }];
  return calls.with(index, { id: call.id, name: call.name, arguments: call.arguments + delta });
}

type ToolEvent<Type extends "tool_execution_start" | "tool_execution_end"> = Extract<SessionEvent, { type: Type }>;

/** A call whose parent is not there is shown like a call of the model. */
function addTool(tools: readonly LiveTool[], event: ToolEvent<"tool_execution_start">): readonly LiveTool[] {
  const { toolCallId: id, toolName: name, input, parentToolCallId: parentId } = event;
  const added: LiveTool = { id, name, input, updates: [], progressPercent: undefined, calls: [] };
  const changed =
    parentId === undefined
      ? tools
      : updateTool(tools, parentId, (parent) => ({ ...parent, calls: [...parent.calls, added] }));
  return changed === tools ? [...tools, added] : changed;
}

/** Changes the first call with this id, at any depth. Returns the same list if there is none. */
function updateTool(tools: readonly LiveTool[], id: string, change: (tool: LiveTool) => LiveTool): readonly LiveTool[] {
  for (const [index, tool] of tools.entries()) {
    if (tool.id === id) return tools.with(index, change(tool));
    const calls = updateTool(tool.calls, id, change);
    if (calls !== tool.calls) return tools.with(index, { ...tool, calls });
  }
  return tools;
}

const withUpdate = (
  tool: LiveTool,
  { updateType, content, progressPercent }: { updateType: UpdateType; content: string; progressPercent?: number },
): LiveTool => ({
  ...tool,
  updates: [...tool.updates, { type: updateType, content }].slice(-maxUpdates),
  progressPercent: progressPercent ?? tool.progressPercent,
});

/** Two calls may share an id: each end is of one. */
function removeTool(
  tools: readonly LiveTool[],
  { toolCallId: id, parentToolCallId: parentId }: ToolEvent<"tool_execution_end">,
): readonly LiveTool[] {
  const index = tools.findIndex((tool) => tool.id === id);
  if (index >= 0) return tools.toSpliced(index, 1);
  if (parentId === undefined) return tools;
  return updateTool(tools, parentId, (parent) => ({
    ...parent,
    calls: parent.calls.filter((call) => call.id !== id),
  }));
}

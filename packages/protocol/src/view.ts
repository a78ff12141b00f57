/**
 * What a surface draws. `reduce` is the only place where an event becomes state. `log` is what survives: it is the same
 * whether it was built from the events of a run or from the entries of the log. `live` is what goes on at this moment,
 * and is empty when nothing does.
 */
import type { Approval, QueuedMessage, SessionEvent, TerminationReason, UpdateType, WireEntry } from "./event.ts";

export interface View {
  readonly log: LogView;
  readonly live: LiveView;
}

export interface LogView {
  /** By id, in the order they were written. */
  readonly entries: ReadonlyMap<string, WireEntry>;
  /** The entry that the next one will hang on. */
  readonly leafId: string | null;
  readonly name: string | undefined;
}

export interface LiveView {
  /** Undefined when the session is idle. */
  readonly run: { readonly model: string; readonly turnIndex: number } | undefined;
  /** The answer that is arriving. */
  readonly message: LiveMessage | undefined;
  /** The calls that are running, in the order they were started. */
  readonly tools: readonly LiveTool[];
  readonly steering: readonly QueuedMessage[];
  readonly followUps: readonly QueuedMessage[];
  readonly approvals: readonly Approval[];
  readonly retry:
    | { readonly attempt: number; readonly maxAttempts: number; readonly delayMs: number; readonly reason: string }
    | undefined;
  /** What a person should know, the latest last. */
  readonly notices: readonly { readonly code: string; readonly message: string }[];
  /** How the last run ended; undefined before the first. */
  readonly ended: { readonly reason: TerminationReason; readonly detail: string | undefined } | undefined;
  /** What went wrong in the last run. */
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
  /** What it has said so far, the latest last. */
  readonly updates: readonly { readonly type: UpdateType; readonly content: string }[];
  readonly progressPercent: number | undefined;
}

/** How much of a running call's updates is kept: its result will have what matters. */
const maxUpdates = 200;

const maxNotices = 20;

export const emptyView: View = {
  log: { entries: new Map(), leafId: null, name: undefined },
  live: {
    run: undefined,
    message: undefined,
    tools: [],
    steering: [],
    followUps: [],
    approvals: [],
    retry: undefined,
    notices: [],
    ended: undefined,
    error: undefined,
  },
};

/** The view of a session that nobody has touched since it was opened. */
export const viewOfLog = (entries: readonly WireEntry[]): View =>
  entries.reduce((view, entry) => reduce(view, { type: "entry_appended", entry }), emptyView);

export function reduce(view: View, event: SessionEvent): View {
  if (event.type === "entry_appended") return { ...view, log: appendEntry(view.log, event.entry) };
  const live = reduceLive(view.live, event);
  return live === view.live ? view : { ...view, live };
}

function appendEntry({ entries, name }: LogView, entry: WireEntry): LogView {
  const next = new Map(entries);
  next.set(entry.id, entry);
  return { entries: next, leafId: leafAfter(entry), name: nameAfter(name, entry) };
}

/** A step back is an entry too: it hangs on where the person went. */
const leafAfter = (entry: WireEntry) =>
  entry.type === "custom" && entry["customType"] === "tau.navigated" ? entry.parentId : entry.id;

function nameAfter(name: string | undefined, entry: WireEntry): string | undefined {
  if (entry.type !== "session_info") return name;
  const given = entry["name"];
  return typeof given === "string" && given.trim() !== "" ? given.trim() : undefined;
}

function reduceLive(live: LiveView, event: Exclude<SessionEvent, { type: "entry_appended" }>): LiveView {
  switch (event.type) {
    case "agent_start":
      return { ...live, run: { model: event.model, turnIndex: 0 }, ended: undefined, error: undefined };
    case "turn_start":
      return { ...live, run: live.run && { ...live.run, turnIndex: event.turnIndex }, retry: undefined };
    case "message_start":
      return { ...live, message: { id: event.messageId, model: event.model, text: "", thinking: "", calls: [] } };
    case "text_delta":
      return inMessage(live, event.messageId, (message) => ({ ...message, text: message.text + event.delta }));
    case "thinking_delta":
      return inMessage(live, event.messageId, (message) => ({ ...message, thinking: message.thinking + event.delta }));
    case "toolcall_delta":
      return inMessage(live, event.messageId, (message) => ({ ...message, calls: withDelta(message.calls, event) }));
    case "message_end":
      return live.message?.id === event.messageId ? { ...live, message: undefined } : live;
    case "tool_execution_start":
      return { ...live, tools: [...live.tools, newTool(event)] };
    case "tool_execution_update":
      return {
        ...live,
        tools: live.tools.map((tool) => (tool.id === event.toolCallId ? withUpdate(tool, event) : tool)),
      };
    case "tool_execution_end":
      return { ...live, tools: withoutFirst(live.tools, event.toolCallId) };
    case "turn_end":
      return { ...live, message: undefined, tools: [] };
    case "agent_end":
      return {
        ...live,
        run: undefined,
        message: undefined,
        tools: [],
        approvals: [],
        retry: undefined,
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
      const { attempt, maxAttempts, delayMs, reason } = event;
      return { ...live, retry: { attempt, maxAttempts, delayMs, reason } };
    }
    // What these say is in the log as an entry, or changes nothing that is drawn from here.
    case "session_branched":
    case "session_compacted":
    case "model_changed":
    case "cache_break":
      return live;
    case "notice":
      return { ...live, notices: [...live.notices, { code: event.code, message: event.message }].slice(-maxNotices) };
    default:
      // Every kind is named above; what still comes here is from a server that is newer than we are.
      event satisfies never;
      return live;
  }
}

/** A delta of a message that is not arriving any more comes too late to matter. */
const inMessage = (live: LiveView, id: string, change: (message: LiveMessage) => LiveMessage): LiveView =>
  live.message?.id === id ? { ...live, message: change(live.message) } : live;

function withDelta(
  calls: LiveMessage["calls"],
  { toolCallId, toolName, delta }: { toolCallId: string; toolName?: string; delta: string },
): LiveMessage["calls"] {
  const known = calls.some(({ id }) => id === toolCallId);
  if (!known) return [...calls, { id: toolCallId, name: toolName ?? "", arguments: delta }];
  return calls.map((call) => (call.id === toolCallId ? { ...call, arguments: call.arguments + delta } : call));
}

const newTool = ({
  toolCallId,
  toolName,
  input,
}: {
  toolCallId: string;
  toolName: string;
  input: Record<string, unknown>;
}): LiveTool => ({ id: toolCallId, name: toolName, input, updates: [], progressPercent: undefined });

const withUpdate = (
  tool: LiveTool,
  { updateType, content, progressPercent }: { updateType: UpdateType; content: string; progressPercent?: number },
): LiveTool => ({
  ...tool,
  updates: [...tool.updates, { type: updateType, content }].slice(-maxUpdates),
  progressPercent: progressPercent ?? tool.progressPercent,
});

/** Two calls may share an id: each end is of one. */
function withoutFirst(tools: readonly LiveTool[], id: string): readonly LiveTool[] {
  const at = tools.findIndex((tool) => tool.id === id);
  return at < 0 ? tools : tools.toSpliced(at, 1);
}

/** The entries from the root to the leaf: what a transcript shows. */
export function getBranch({ entries, leafId }: LogView): WireEntry[] {
  const branch: WireEntry[] = [];
  const seen = new Set<string>();
  for (let id = leafId; id !== null && !seen.has(id);) {
    const entry = entries.get(id);
    if (!entry) break;
    seen.add(id);
    branch.push(entry);
    id = entry.parentId;
  }
  return branch.toReversed();
}

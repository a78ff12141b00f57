/** Turns the events of a session into updates of the protocol. */
import type { SessionEntry, SessionEvent, WireUsage } from "@tau/protocol";
import type { ClientSessionCapabilities, SessionUpdate, ToolCallContent } from "./schema.generated.ts";
import {
  type Call,
  type FindTool,
  getChanges,
  getKind,
  getLocations,
  getPreview,
  getTitle,
  parsePlan,
  toCallOutput,
  toOutput,
} from "./tool-call.ts";

/** Limits what is shown of the output of a running command, in UTF-16 units: each update repeats it. */
const maxShownOutput = 10_000;

export interface UpdatesParts {
  cwd: string;
  findTool: FindTool;
  /** The updates that a client has to ask for. */
  client: Pick<ClientSessionCapabilities, "compaction" | "notices">;
  /** The size of the model's context window; undefined without a model. */
  getContextWindow: () => number | undefined;
  /** Gets notices of a session if the client shows none. */
  report: (message: string) => void;
}

interface OpenCall {
  call: Call | undefined;
  /** The end of its output so far. */
  output: string;
  /** A terminal of the editor that shows the output instead. */
  terminalId?: string;
  /** Why it was not allowed, for people. */
  denial?: string;
}

/** Maps one event after the other. Every call that begins ends exactly once, also if the model never finished it. */
export class Updates {
  readonly #parts: UpdatesParts;
  readonly #open = new Map<string, OpenCall>();
  /** Calls that have ended and whose result is not in the log yet: it has the changes of files. */
  readonly #ended = new Map<string, Call>();
  #compactions = 0;

  constructor(parts: UpdatesParts) {
    this.#parts = parts;
  }

  /** Shows a terminal of the editor in a call, instead of the output. */
  showTerminal(toolCallId: string, terminalId: string): SessionUpdate[] {
    const open = this.#open.get(toolCallId);
    if (!open) return [];
    open.terminalId = terminalId;
    return [{ sessionUpdate: "tool_call_update", toolCallId, content: [{ type: "terminal", terminalId }] }];
  }

  /** The call that is asked about, as far as it is known. */
  getCall(toolCallId: string): Call | undefined {
    return this.#open.get(toolCallId)?.call;
  }

  map(event: SessionEvent): SessionUpdate[] {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta": {
        const { type, messageId, delta: text } = event;
        if (text === "") return [];
        const sessionUpdate = type === "text_delta" ? "agent_message_chunk" : "agent_thought_chunk";
        return [{ sessionUpdate, messageId, content: { type: "text", text } }];
      }
      case "toolcall_delta":
        return event.toolName === undefined ? [] : this.#announce(event.toolCallId, event.toolName);
      case "tool_execution_start":
        return this.#start(event);
      case "tool_execution_update":
        return this.#addOutput(event);
      case "tool_denied": {
        const open = this.#open.get(event.toolCallId);
        if (open) open.denial = event.advice;
        return [];
      }
      case "tool_execution_end":
        return this.#end(event);
      case "message_end": {
        const usage = this.#toUsage(event.usage);
        const isCut = event.stopReason === "aborted" || event.stopReason === "error";
        return [...(isCut ? this.#failOpen("The answer was cut before the call was complete.") : []), ...usage];
      }
      case "agent_end":
        return this.#failOpen("The run ended before the call was executed.");
      case "entry_appended":
        return this.#takeEntry(event.entry);
      case "compaction_start":
      case "compaction_end":
        return this.#toCompaction(event);
      case "permission_mode_changed":
        return [{ sessionUpdate: "current_mode_update", currentModeId: event.mode }];
      case "retry_scheduled": {
        const { reason, delayMs } = event;
        return this.#toNotice("warning", `${reason} Trying again in ${Math.ceil(delayMs / 1_000)} s.`);
      }
      case "notice":
        return this.#toNotice("info", event.message);
      case "error":
        // The answer to the prompt has it.
        return [];
      case "agent_start":
      case "turn_start":
      case "message_start":
      case "turn_end":
      case "session_branched":
      case "model_changed":
      case "model_used":
      case "queue_changed":
      case "approval_requested":
      case "approval_resolved":
      case "cache_break":
      case "jobs_changed":
        return [];
      default:
        // A later version may have more events.
        event satisfies never;
        return [];
    }
  }

  #announce(toolCallId: string, name: string): SessionUpdate[] {
    if (this.#open.has(toolCallId)) return [];
    this.#open.set(toolCallId, { call: undefined, output: "" });
    const tool = this.#parts.findTool(name);
    const kind = getKind({ tool, input: {} });
    return [
      {
        sessionUpdate: "tool_call",
        toolCallId,
        name,
        title: tool?.label ?? name,
        kind,
        status: "pending",
        rawInput: {},
      },
    ];
  }

  #start(event: Extract<SessionEvent, { type: "tool_execution_start" }>): SessionUpdate[] {
    const { toolCallId, toolName: name, input } = event;
    const call: Call = { name, input, tool: this.#parts.findTool(name), cwd: this.#parts.cwd };
    const known = this.#open.has(toolCallId);
    this.#open.set(toolCallId, { call, output: "" });
    const shown = { toolCallId, ...describeCall(call), status: "in_progress" as const };
    return [known ? { sessionUpdate: "tool_call_update", ...shown } : { sessionUpdate: "tool_call", ...shown }];
  }

  #addOutput({ toolCallId, content }: Extract<SessionEvent, { type: "tool_execution_update" }>): SessionUpdate[] {
    const open = this.#open.get(toolCallId);
    if (!open || content === "") return [];
    open.output = `${open.output}${content}`.slice(-maxShownOutput);
    if (open.terminalId !== undefined) return [];
    return [{ sessionUpdate: "tool_call_update", toolCallId, content: toCallOutput(open.output, open.call) }];
  }

  #end(event: Extract<SessionEvent, { type: "tool_execution_end" }>): SessionUpdate[] {
    const { toolCallId, success, output } = event;
    const open = this.#open.get(toolCallId);
    if (!open) return [];
    this.#open.delete(toolCallId);
    if (open.call) this.#ended.set(toolCallId, open.call);
    const status = success ? "completed" : "failed";
    const content = getEndContent(open, output, success);
    return [{ sessionUpdate: "tool_call_update", toolCallId, status, ...(content && { content }) }];
  }

  /** Ends calls that were announced and will not be executed. */
  #failOpen(reason: string): SessionUpdate[] {
    const ids = [...this.#open.keys()];
    this.#open.clear();
    return ids.map((toolCallId): SessionUpdate => ({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "failed",
      content: toOutput(reason, undefined),
    }));
  }

  #takeEntry(entry: SessionEntry): SessionUpdate[] {
    if (entry.type === "session_info") return [{ sessionUpdate: "session_info_update", title: entry.name ?? null }];
    if (entry.type === "custom_message" && entry.display) return toText(entry.id, entry.content);
    if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
    const { toolCallId, details, isError } = entry.message;
    const call = this.#ended.get(toolCallId);
    this.#ended.delete(toolCallId);
    const plan = isError ? undefined : parsePlan(details);
    return [
      ...(call ? toChanges(toolCallId, call, entry.message) : []),
      ...(plan ? [{ sessionUpdate: "plan", entries: plan } as const] : []),
    ];
  }

  #toCompaction(event: Extract<SessionEvent, { type: "compaction_start" | "compaction_end" }>): SessionUpdate[] {
    if (!this.#parts.client.compaction) return [];
    if (event.type === "compaction_start") this.#compactions++;
    const compactionId = `compaction-${this.#compactions}`;
    const sessionUpdate = "compaction_update";
    if (event.type === "compaction_start") return [{ sessionUpdate, compactionId, status: "in_progress" }];
    const { outcome } = event;
    if (outcome.kind === "failed") return [{ sessionUpdate, compactionId, status: "failed", error: outcome.message }];
    return [{ sessionUpdate, compactionId, status: outcome.kind === "aborted" ? "cancelled" : "completed" }];
  }

  #toUsage({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: WireUsage): SessionUpdate[] {
    const size = this.#parts.getContextWindow();
    const used = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
    return size === undefined || used === 0 ? [] : [{ sessionUpdate: "usage_update", used, size }];
  }

  #toNotice(severity: "info" | "warning", title: string): SessionUpdate[] {
    if (this.#parts.client.notices) return [{ sessionUpdate: "notice", severity, title }];
    this.#parts.report(title);
    return [];
  }
}

/** Undefined if what is shown stays: the result of a call that changes files brings its changes a moment later. */
function getEndContent(
  { call, terminalId, denial }: OpenCall,
  output: string,
  success: boolean,
): ToolCallContent[] | undefined {
  if (terminalId !== undefined) return [{ type: "terminal", terminalId }];
  if (denial !== undefined) return toOutput(denial, undefined);
  const isReplaced = success && call && call.tool?.shows !== "cell" && getPreview(call).length > 0;
  return isReplaced ? undefined : toCallOutput(output, call);
}

/** The fields of a call once its arguments are known. */
export function describeCall(call: Call) {
  const content = getPreview(call);
  const locations = getLocations(call);
  return {
    name: call.name,
    title: getTitle(call),
    kind: getKind(call),
    rawInput: call.input,
    ...(locations.length > 0 && { locations }),
    ...(content.length > 0 && { content }),
  };
}

/** The update for what a call has changed and found; none if its text says everything. */
export function toChanges(toolCallId: string, call: Call, result: Parameters<typeof getChanges>[1]): SessionUpdate[] {
  const { content, locations } = getChanges(call, result);
  if (content.length === 0 && locations.length === 0) return [];
  const changes = { ...(content.length > 0 && { content }), ...(locations.length > 0 && { locations }) };
  return [{ sessionUpdate: "tool_call_update", toolCallId, ...changes }];
}

/** A message that an extension shows. */
export function toText(
  messageId: string,
  content: string | readonly { type: string; text?: string }[],
): SessionUpdate[] {
  const text = typeof content === "string" ? content : content.map((block) => block.text ?? "").join("");
  return text === "" ? [] : [{ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } }];
}

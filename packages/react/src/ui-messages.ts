/** Messages in the form that components for chats expect: that of the AI SDK's `UIMessage`. Pure. */
import type { LiveMessage, LogView, MessageEntry, SessionEntry, View } from "@tau/protocol";

export interface UIMessage {
  /** Stays when a message that arrives is written to the log. */
  readonly id: string;
  /** `system`: neither the user nor the model said it, such as the summary of a compaction. */
  readonly role: "user" | "assistant" | "system";
  readonly parts: readonly UIMessagePart[];
  readonly metadata?: {
    /** Why the answer is not complete. */
    readonly error?: string;
    /** The model of the answer. */
    readonly model?: string;
  };
}

export type UIMessagePart =
  | { readonly type: "text"; readonly text: string; readonly state?: "streaming" | "done" }
  | { readonly type: "reasoning"; readonly text: string; readonly state?: "streaming" | "done" }
  | { readonly type: "file"; readonly mediaType: string; readonly url: string }
  /** Begins what one request to the model gave. */
  | { readonly type: "step-start" }
  | UIToolPart;

/**
 * A call of a tool. While `approval` is there, somebody is asked; its id is what `approve` takes. `input` is undefined while the
 * arguments arrive.
 */
export interface UIToolPart {
  readonly type: "dynamic-tool";
  readonly toolName: string;
  readonly toolCallId: string;
  readonly state: "input-streaming" | "input-available" | "approval-requested" | "output-available" | "output-error";
  readonly input: unknown;
  /** The text of the result. */
  readonly output?: string;
  readonly errorText?: string;
  readonly approval?: { readonly id: string };
}

/** Entries that are one message together: a run's answers with the results of their calls are one. */
interface Group {
  readonly role: UIMessage["role"];
  readonly id: string;
  readonly entries: SessionEntry[];
}

interface CachedMessage {
  readonly last: SessionEntry;
  readonly message: UIMessage;
}

/** Messages that cannot change any more, by their first entry: components compare them by identity. */
const finished = new WeakMap<SessionEntry, CachedMessage>();

/** Returns what the view shows, oldest first, with the answer that is arriving. A message that did not change is the same object. */
export function toUIMessages(view: View): readonly UIMessage[] {
  const groups = groupEntries(view.log);
  const { message, run } = view.live;
  const isAnswering = message !== undefined || run !== undefined;
  const last = groups.at(-1);
  // The answer gets its id from what it follows, so that it keeps it when its entry is written.
  if (message && last?.role !== "assistant")
    groups.push({ role: "assistant", id: toAnswerId(view.log.entries.at(-1)?.id), entries: [] });
  return groups.map((group, index) => {
    const isOpen = isAnswering && index === groups.length - 1;
    return isOpen ? toMessage(group, view) : toFinishedMessage(group);
  });
}

const toAnswerId = (before: string | null | undefined): string => `${before ?? "first"}-answer`;

function groupEntries({ entries }: LogView): Group[] {
  const hidden = new Set(
    entries.flatMap((entry) => (entry.type === "context_edit" && !entry.replacement ? [entry.targetId] : [])),
  );
  const groups: Group[] = [];
  for (const entry of entries) {
    const role = getRole(entry);
    if (role === undefined || hidden.has(entry.id)) continue;
    const open = groups.at(-1);
    if (role === "assistant" && open?.role === "assistant") open.entries.push(entry);
    else groups.push({ role, id: role === "assistant" ? toAnswerId(entry.parentId) : entry.id, entries: [entry] });
  }
  return groups;
}

/** Undefined for entries that are not shown. */
function getRole(entry: SessionEntry): UIMessage["role"] | undefined {
  switch (entry.type) {
    case "message":
      return entry.silent ? undefined : getMessageRole(entry);
    case "custom_message":
      return entry.display ? "system" : undefined;
    case "compaction":
    case "branch_summary":
      return "system";
    default:
      return undefined;
  }
}

function getMessageRole({ message }: MessageEntry): UIMessage["role"] | undefined {
  switch (message.role) {
    case "user":
      return "user";
    case "assistant":
    case "toolResult":
      return "assistant";
    case "custom":
      return message.display ? "system" : undefined;
    default:
      return "system";
  }
}

function toFinishedMessage(group: Group): UIMessage {
  const [first] = group.entries;
  const last = group.entries.at(-1)!;
  const known = finished.get(first!);
  if (known?.last === last && known.message.id === group.id) return known.message;
  const message = toMessage(group, undefined);
  finished.set(first!, { last, message });
  return message;
}

/** With `view`, its live part belongs to the message. */
function toMessage({ id, role, entries }: Group, view: View | undefined): UIMessage {
  const parts: UIMessagePart[] = [];
  let metadata: UIMessage["metadata"];
  for (const entry of entries) {
    if (entry.type !== "message") {
      parts.push({ type: "text", text: getEntryText(entry) });
      continue;
    }
    const { message } = entry;
    if (message.role === "toolResult") addResult(parts, message);
    else if (message.role === "assistant") {
      parts.push({ type: "step-start" }, ...message.content.flatMap(toPart));
      const { model, errorMessage: error } = message;
      metadata = { model, ...(error !== undefined && { error }) };
    } else parts.push(...toParts(message));
  }
  const arriving = role === "assistant" ? view?.live.message : undefined;
  if (arriving) parts.push(...toArriving(arriving));
  const shown = view ? withApprovals(parts, view) : parts;
  return { id, role, parts: shown, ...(metadata && { metadata }) };
}

type Message = MessageEntry["message"];
type Content = Extract<Message, { role: "user" }>["content"];
type AssistantBlock = Extract<Message, { role: "assistant" }>["content"][number];

function toPart(block: AssistantBlock): UIMessagePart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text, state: "done" }];
    case "thinking":
      return block.redacted ? [] : [{ type: "reasoning", text: block.thinking, state: "done" }];
    case "toolCall":
      return [
        {
          type: "dynamic-tool",
          toolName: block.name,
          toolCallId: block.id,
          state: "input-available",
          input: block.arguments,
        },
      ];
    default:
      return [];
  }
}

/** The result becomes a part of its call. The call may be before the window of the view; then there is nothing to show. */
function addResult(parts: UIMessagePart[], { toolCallId, content, isError }: Extract<Message, { role: "toolResult" }>) {
  const index = parts.findIndex((part) => part.type === "dynamic-tool" && part.toolCallId === toolCallId);
  const call = parts[index] as UIToolPart | undefined;
  if (!call) return;
  const text = getText(content);
  parts[index] = isError
    ? { ...call, state: "output-error", errorText: text }
    : { ...call, state: "output-available", output: text };
}

function toParts(message: Exclude<Message, { role: "assistant" | "toolResult" }>): UIMessagePart[] {
  switch (message.role) {
    case "bashExecution":
      return [{ type: "text", text: `$ ${message.command}\n${message.output}` }];
    case "branchSummary":
    case "compactionSummary":
      return [{ type: "text", text: message.summary }];
    default:
      return toContentParts(message.content);
  }
}

const toContentParts = (content: Content): UIMessagePart[] =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : content.map((block) =>
        block.type === "text"
          ? { type: "text", text: block.text }
          : { type: "file", mediaType: block.mimeType, url: `data:${block.mimeType};base64,${block.data}` },
      );

const getText = (content: Content): string =>
  typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : "")).join("");

function getEntryText(entry: SessionEntry): string {
  if (entry.type === "custom_message") return getText(entry.content);
  return entry.type === "compaction" || entry.type === "branch_summary" ? entry.summary : "";
}

function toArriving({ text, thinking, calls }: LiveMessage): UIMessagePart[] {
  const isWriting = calls.length === 0;
  return [
    { type: "step-start" },
    ...(thinking === "" ? [] : [{ type: "reasoning" as const, text: thinking, state: toState(text === "") }]),
    ...(text === "" ? [] : [{ type: "text" as const, text, state: toState(isWriting) }]),
    ...calls.map(({ id, name }): UIToolPart => ({
      type: "dynamic-tool",
      toolName: name,
      toolCallId: id,
      state: "input-streaming",
      input: undefined,
    })),
  ];
}

const toState = (isStreaming: boolean): "streaming" | "done" => (isStreaming ? "streaming" : "done");

function withApprovals(parts: readonly UIMessagePart[], { live }: View): readonly UIMessagePart[] {
  if (live.approvals.length === 0) return parts;
  const ids = new Map(live.approvals.map(({ id, toolCallId }) => [toolCallId, id]));
  return parts.map((part) => {
    const id = part.type === "dynamic-tool" ? ids.get(part.toolCallId) : undefined;
    return id === undefined ? part : { ...(part as UIToolPart), state: "approval-requested", approval: { id } };
  });
}

/** What a transcript shows: entries of the log and what is happening now, as items with a height each. Pure. */
import { customTypes, type LiveMessage, type LiveTool, type LiveView, type SessionEntry } from "@tau/protocol";

type Entry<Type extends SessionEntry["type"]> = Extract<SessionEntry, { type: Type }>;
export type SessionMessage = Entry<"message">["message"];
type Role<Name extends SessionMessage["role"]> = Extract<SessionMessage, { role: Name }>;
export type AssistantMessage = Role<"assistant">;
export type ToolResultMessage = Role<"toolResult">;
export type ToolCall = Extract<AssistantMessage["content"][number], { type: "toolCall" }>;
export type Content = Role<"user">["content"];

export type Item = { readonly key: string } & (
  | { readonly kind: "user"; readonly entryId: string; readonly content: Content }
  | { readonly kind: "answer"; readonly message: AssistantMessage }
  | { readonly kind: "call"; readonly call: CallState }
  | { readonly kind: "live"; readonly message: LiveMessage }
  | { readonly kind: "command"; readonly message: Role<"bashExecution"> }
  | { readonly kind: "summary"; readonly title: string; readonly text: string }
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "message"; readonly from: string; readonly content: Content }
  | { readonly kind: "error"; readonly text: string }
);

export interface CallState {
  readonly id: string;
  readonly name: string;
  /** Undefined while they arrive. */
  readonly input: Readonly<Record<string, unknown>> | undefined;
  readonly running: LiveTool | undefined;
  readonly result: ToolResultMessage | undefined;
  /** Why it was not allowed. */
  readonly denied: string | undefined;
  /** Whether a person is asked about it. */
  readonly isAsked: boolean;
}

/** What is known of a call besides the call itself. */
interface Outcome {
  result: ToolResultMessage | undefined;
  denied: string | undefined;
  isAsked: boolean;
}

const noOutcome: Outcome = { result: undefined, denied: undefined, isAsked: false };

/** Items that did not change stay the same objects, so that they are not drawn again. */
export class ItemBuilder {
  readonly #byEntry = new WeakMap<SessionEntry, readonly Item[]>();
  readonly #byCall = new WeakMap<ToolCall, { outcome: Outcome; running: LiveTool | undefined; item: Item }>();

  /** The last items of the log: most changes are of the answer that is arriving. */
  #log: { inputs: readonly unknown[]; items: readonly Item[] } = { inputs: [], items: [] };

  /** `loggedId`: the live message that is in the log already. */
  build(entries: readonly SessionEntry[], live: LiveView, loggedId: string | undefined): Item[] {
    const inputs = [entries, live.tools, live.denials, live.approvals];
    if (inputs.some((input, index) => input !== this.#log.inputs[index])) {
      this.#log = { inputs, items: this.#buildLog(entries, live) };
    }
    return this.#log.items.concat(buildLive(live, loggedId));
  }

  #buildLog(entries: readonly SessionEntry[], live: LiveView): Item[] {
    const outcomes = findOutcomes(entries, live);
    const running = new Map(live.tools.map((tool) => [tool.id, tool]));
    const items: Item[] = [];
    for (const entry of entries) {
      items.push(...this.#getPlainItems(entry));
      if (entry.type !== "message" || entry.message.role !== "assistant") continue;
      for (const block of entry.message.content) {
        if (block.type === "toolCall") items.push(this.#getCallItem(entry.id, block, outcomes, running));
      }
    }
    // What a session begins with is in its header.
    const begin = items.findIndex(({ kind }) => kind !== "note");
    return begin < 0 ? [] : items.slice(begin);
  }

  #getPlainItems(entry: SessionEntry): readonly Item[] {
    const known = this.#byEntry.get(entry);
    if (known) return known;
    const items = toItems(entry);
    this.#byEntry.set(entry, items);
    return items;
  }

  #getCallItem(
    entryId: string,
    call: ToolCall,
    outcomes: ReadonlyMap<string, Outcome>,
    tools: ReadonlyMap<string, LiveTool>,
  ): Item {
    const outcome = outcomes.get(call.id) ?? noOutcome;
    const running = outcome.result ? undefined : tools.get(call.id);
    const known = this.#byCall.get(call);
    if (known && known.running === running && isSameOutcome(known.outcome, outcome)) return known.item;
    const state: CallState = { id: call.id, name: call.name, input: call.arguments, running, ...outcome };
    const item: Item = { key: `${entryId}:${call.id}`, kind: "call", call: state };
    this.#byCall.set(call, { outcome, running, item });
    return item;
  }
}

const isSameOutcome = (a: Outcome, b: Outcome): boolean =>
  a.result === b.result && a.denied === b.denied && a.isAsked === b.isAsked;

function findOutcomes(entries: readonly SessionEntry[], live: LiveView): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  const get = (id: string): Outcome => {
    const outcome = outcomes.get(id) ?? { ...noOutcome };
    outcomes.set(id, outcome);
    return outcome;
  };
  for (const entry of entries) {
    if (entry.type === "message" && entry.message.role === "toolResult") {
      get(entry.message.toolCallId).result = entry.message;
    } else if (entry.type === "custom" && entry.customType === customTypes.decision) {
      const { toolCallId, outcome, reason } = toFields(entry.data);
      if (outcome === "denied" && typeof toolCallId === "string") get(toolCallId).denied = String(reason ?? "");
    }
  }
  for (const { toolCallId, reason } of live.denials) get(toolCallId).denied = reason;
  for (const { toolCallId } of live.approvals) get(toolCallId).isAsked = true;
  return outcomes;
}

function buildLive({ message, error, retry, compaction }: LiveView, loggedId: string | undefined): Item[] {
  const items: Item[] = [];
  if (message && message.id !== loggedId) {
    items.push({ key: `live:${message.id}`, kind: "live", message });
    for (const { id, name } of message.calls) {
      const call = { id, name, input: undefined, running: undefined, ...noOutcome };
      items.push({ key: `live:${message.id}:${id}`, kind: "call", call });
    }
  }
  if (compaction) items.push({ key: "live:compaction", kind: "note", text: "Summarising the conversation so far…" });
  if (retry) {
    const seconds = Math.ceil(retry.delayMs / 1_000);
    const text = `${retry.reason} Trying again in ${seconds} s (${retry.attempt} of ${retry.maxAttempts}).`;
    items.push({ key: "live:retry", kind: "note", text });
  }
  if (error) items.push({ key: "live:error", kind: "error", text: error.message });
  return items;
}

function toItems(entry: SessionEntry): readonly Item[] {
  const key = entry.id;
  switch (entry.type) {
    case "message":
      return entry.silent === true ? [] : toMessageItems(key, entry.message);
    case "compaction":
      return [{ key, kind: "summary", title: `Summary of ${entry.tokensBefore} tokens`, text: entry.summary }];
    case "branch_summary":
      return [{ key, kind: "summary", title: "Summary of the branch that was left", text: entry.summary }];
    case "custom_message":
      return entry.display ? [{ key, kind: "message", from: entry.customType, content: entry.content }] : [];
    case "model_change":
      return [{ key, kind: "note", text: `Model: ${entry.provider}/${entry.modelId}` }];
    case "thinking_level_change":
      return [{ key, kind: "note", text: `Thinking: ${entry.thinkingLevel}` }];
    case "queue":
      return entry.state === "accepted"
        ? []
        : [{ key, kind: "note", text: `A queued message was ${entry.state}: ${entry.reason}` }];
    default:
      return [];
  }
}

function toMessageItems(key: string, message: SessionMessage): readonly Item[] {
  switch (message.role) {
    case "user":
      return [{ key, kind: "user", entryId: key, content: message.content }];
    case "assistant":
      return hasWords(message) ? [{ key, kind: "answer", message }] : [];
    case "bashExecution":
      return [{ key, kind: "command", message }];
    case "custom":
      return message.display ? [{ key, kind: "message", from: message.customType, content: message.content }] : [];
    case "branchSummary":
    case "compactionSummary":
      return [{ key, kind: "summary", title: "Summary", text: message.summary }];
    case "toolResult":
      return [];
    default:
      // A log may come from a program that knows more.
      message satisfies never;
      return [];
  }
}

const hasWords = ({ content, stopReason }: AssistantMessage): boolean =>
  stopReason === "error" || stopReason === "aborted" || content.some(({ type }) => type !== "toolCall");

/** What is in a value from elsewhere. */
export const toFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** The items of a transcript, with a height each: entries of the log, and what is happening now. Pure. */
import {
  formatRetry,
  getModelUse,
  getWithdrawnId,
  isFailedAnswer,
  type LiveMessage,
  type LiveTool,
  type LiveView,
  type SessionEntry,
} from "@tau/protocol";
import { formatModelChange, isEmptyAnswer } from "@tau/protocol/surface";
import type { AssistantMessage, Content, MessageOf, SessionMessage, ToolCall } from "./messages.ts";
import { findOutcomes, isSameOutcome, noOutcome, type Outcome } from "./outcomes.ts";

export type Item = { readonly key: string } & (
  | { readonly kind: "user"; readonly entryId: string; readonly content: Content }
  | { readonly kind: "answer"; readonly message: AssistantMessage }
  | { readonly kind: "call"; readonly call: CallState }
  | { readonly kind: "live"; readonly message: LiveMessage }
  | { readonly kind: "command"; readonly message: MessageOf<"bashExecution"> }
  | { readonly kind: "summary"; readonly title: string; readonly text: string }
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "message"; readonly from: string; readonly content: Content; readonly details: unknown }
  | { readonly kind: "error"; readonly text: string }
);

export interface CallState extends Outcome {
  readonly id: string;
  readonly name: string;
  /** Undefined while they arrive. */
  readonly input: Readonly<Record<string, unknown>> | undefined;
  /** The arguments as far as they have arrived, as JSON. */
  readonly arriving?: string;
  readonly running: LiveTool | undefined;
}

/** Items that did not change stay the same objects, so that they are not drawn again. */
export class ItemBuilder {
  readonly #byEntry = new WeakMap<SessionEntry, readonly Item[]>();
  readonly #byCall = new WeakMap<ToolCall, { outcome: Outcome; running: LiveTool | undefined; item: Item }>();
  /** The ids that answers had while they arrived, by their entries. An item keeps its key when its answer is complete. */
  readonly #liveIds = new Map<string, string>();
  /** The id of the answer that was arriving when the items were built last. */
  #liveId: string | undefined;
  /** The last items of the log: most changes are of the answer that is arriving. */
  #log: { inputs: readonly unknown[]; items: readonly Item[] } = { inputs: [], items: [] };

  /** The answer that was arriving has become this entry. One that was not built has no key to keep. */
  takeLogged(entryId: string): void {
    if (this.#liveId !== undefined) this.#liveIds.set(entryId, this.#liveId);
    this.#liveId = undefined;
  }

  build(entries: readonly SessionEntry[], live: LiveView): Item[] {
    this.#liveId = live.message?.id;
    const hasRun = live.run !== undefined;
    const inputs = [entries, live.tools, live.approvals, hasRun];
    if (inputs.some((input, index) => input !== this.#log.inputs[index])) {
      this.#log = { inputs, items: this.#buildLog(entries, live) };
    }
    // The entry says the same.
    const isTold = isFailedAnswer(entries.findLast(({ type }) => type === "message"));
    const shown = isTold && live.ended?.detail !== "write_failed" ? { ...live, error: undefined } : live;
    return this.#log.items.concat(buildLive(shown));
  }

  #buildLog(entries: readonly SessionEntry[], live: LiveView): Item[] {
    const outcomes = findOutcomes(entries, live);
    const running = new Map(live.tools.map((tool) => [tool.id, tool]));
    const items: Item[] = [];
    const hidden = findRepeated(entries, live.run !== undefined);
    for (const entry of entries) {
      if (hidden.has(entry.id)) continue;
      items.push(...this.#getPlainItems(entry));
      if (entry.type !== "message" || entry.message.role !== "assistant") continue;
      const calls = entry.message.content.filter((block) => block.type === "toolCall");
      for (const [index, call] of calls.entries()) {
        const outcome = outcomes.get(call) ?? noOutcome;
        const key = toCallKey(this.getKey(entry), index);
        items.push(this.#getCallItem(key, call, outcome, outcome.result ? undefined : running.get(call.id)));
      }
    }
    // What a session begins with is in its header.
    const begin = items.findIndex(({ kind }) => kind !== "note");
    return begin < 0 ? [] : items.slice(begin);
  }

  /** The key of the item of an entry; those of its calls begin with it. */
  getKey({ id }: SessionEntry): string {
    const liveId = this.#liveIds.get(id);
    return liveId === undefined ? id : toLiveKey(liveId);
  }

  #getPlainItems(entry: SessionEntry): readonly Item[] {
    const known = this.#byEntry.get(entry);
    if (known) return known;
    const items = toItems(entry, this.getKey(entry));
    this.#byEntry.set(entry, items);
    return items;
  }

  #getCallItem(key: string, call: ToolCall, outcome: Outcome, running: LiveTool | undefined): Item {
    const known = this.#byCall.get(call);
    if (known && known.running === running && isSameOutcome(known.outcome, outcome)) return known.item;
    const state: CallState = { id: call.id, name: call.name, input: call.arguments, running, ...outcome };
    const item: Item = { key, kind: "call", call: state };
    this.#byCall.set(call, { outcome, running, item });
    return item;
  }
}

const toLiveKey = (messageId: string): string => `live:${messageId}`;
/** Not by the call's id, which an answer may have twice. */
const toCallKey = (key: string, index: number): string => `${key}:${index}`;

function buildLive({ message, error, retry, compaction, ended }: LiveView): Item[] {
  const items: Item[] = [];
  if (message) {
    const key = toLiveKey(message.id);
    items.push({ key, kind: "live", message });
    for (const [index, { id, name, arguments: arriving }] of message.calls.entries()) {
      const call = { id, name, input: undefined, arriving, running: undefined, ...noOutcome };
      items.push({ key: toCallKey(key, index), kind: "call", call });
    }
  }
  if (compaction) items.push({ key: "live:compaction", kind: "note", text: "Summarising the conversation so far…" });
  if (retry) {
    items.push({ key: "live:retry", kind: "note", text: formatRetry(retry) });
  }
  if (error) items.push({ key: "live:error", kind: "error", text: error.message });
  if (ended?.reason === "gateway_disconnected") {
    const text = "The last run was cut, because the gateway ended. Say how to continue.";
    items.push({ key: "live:ended", kind: "note", text });
  }
  return items;
}

/** Answers that failed and were asked for again, or may still be: the last one of a run that continues. */
function findRepeated(entries: readonly SessionEntry[], hasRun: boolean): ReadonlySet<string> {
  const withdrawn = new Set(entries.map(getWithdrawnId));
  const last = hasRun ? entries.findLast(({ type }) => type === "message") : undefined;
  const repeated = entries.filter((entry) => isFailedAnswer(entry) && (entry === last || withdrawn.has(entry.id)));
  return new Set(repeated.map(({ id }) => id));
}

function toItems(entry: SessionEntry, key: string): readonly Item[] {
  switch (entry.type) {
    case "message":
      return entry.silent === true ? [] : toMessageItems(key, entry.id, entry.message);
    case "compaction":
      return [{ key, kind: "summary", title: `Summary of ${entry.tokensBefore} tokens`, text: entry.summary }];
    case "branch_summary":
      return [{ key, kind: "summary", title: "Summary of the branch that was left", text: entry.summary }];
    case "custom_message":
      return entry.display
        ? [{ key, kind: "message", from: entry.customType, content: entry.content, details: entry.details }]
        : [];
    case "custom": {
      const use = getModelUse(entry);
      return use && use.cause !== "route" ? [{ key, kind: "note", text: use.reason }] : [];
    }
    case "model_change":
      return [{ key, kind: "note", text: `Model: ${formatModelChange(entry)}` }];
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

function toMessageItems(key: string, entryId: string, message: SessionMessage): readonly Item[] {
  switch (message.role) {
    case "user":
      return [{ key, kind: "user", entryId, content: message.content }];
    case "assistant":
      return hasWords(message) ? [{ key, kind: "answer", message }] : [];
    case "bashExecution":
      return [{ key, kind: "command", message }];
    case "custom":
      return message.display
        ? [{ key, kind: "message", from: message.customType, content: message.content, details: message.details }]
        : [];
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

const hasWords = (message: AssistantMessage): boolean =>
  message.stopReason === "error" ||
  message.stopReason === "aborted" ||
  message.content.some(({ type }) => type !== "toolCall") ||
  isEmptyAnswer(message);

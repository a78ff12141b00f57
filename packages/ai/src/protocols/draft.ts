import type { AssistantMessageEvent } from "../event.ts";
import type { Failure } from "../failure.ts";
import type { AssistantMessage, StopReason, TextContent, ThinkingContent, ToolCall } from "../message.ts";
import type { Model } from "../model.ts";
import { applyUsage, emptyUsage, type UsageReport } from "../usage.ts";
import { StreamingJson } from "./streaming-json.ts";

/** Names a block while it is open: the provider's index, item id, or whatever else it uses. */
type BlockKey = string | number;

type OpenBlock =
  | { kind: "text"; index: number; block: TextContent }
  | { kind: "thinking"; index: number; block: ThinkingContent }
  | { kind: "toolCall"; index: number; block: ToolCall; json: StreamingJson };

/** More calls than this in one answer is a runaway model, not work. */
const maxToolCalls = 1_000;

/**
 * The answer while it is being written. It owns the one live message and turns what a protocol reads into events, so
 * that every protocol opens, grows and closes blocks by the same rules: a delta opens its block if nothing did, a block
 * ends exactly once, and `start` comes before everything.
 */
export class Draft {
  readonly message: AssistantMessage;
  readonly model: Model;
  readonly #open = new Map<BlockKey, OpenBlock>();
  #events: AssistantMessageEvent[] = [];
  #started = false;
  #toolCalls = 0;
  #state: DraftState = { kind: "open" };

  constructor(model: Model, nowMs: number) {
    this.model = model;
    this.message = {
      role: "assistant",
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: emptyUsage(),
      stopReason: "stop",
      timestamp: nowMs,
    };
  }

  /** `open` until the provider said why it stopped; `ended` once nothing more can come. */
  get state(): DraftState {
    return this.#state;
  }

  /** What has happened since the last call. */
  take(): AssistantMessageEvent[] {
    if (this.#events.length === 0) return none;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  text(key: BlockKey, delta: string): void {
    const open = this.#expect(key, "text") ?? this.#openBlock(key, { type: "text", text: "" });
    if (open.kind !== "text" || delta === "") return;
    open.block.text += delta;
    this.#events.push({ type: "text_delta", contentIndex: open.index, delta, partial: this.message });
  }

  thinking(key: BlockKey, delta: string): void {
    const open = this.#expect(key, "thinking") ?? this.#openBlock(key, { type: "thinking", thinking: "" });
    if (open.kind !== "thinking" || delta === "") return;
    open.block.thinking += delta;
    this.#events.push({ type: "thinking_delta", contentIndex: open.index, delta, partial: this.message });
  }

  /** A thinking block that cannot be read: `payload` goes back to the provider as it came. */
  redactedThinking(key: BlockKey, payload: string, placeholder = ""): void {
    this.#openBlock(key, { type: "thinking", thinking: placeholder, thinkingSignature: payload, redacted: true });
  }

  toolCall(key: BlockKey, call: { id: string; name: string; thoughtSignature?: string }): void {
    this.#openBlock(key, { type: "toolCall", ...call, arguments: {} });
  }

  /** A piece of a tool call's arguments, as JSON text. Ignored when no tool call is open under `key`. */
  argumentsDelta(key: BlockKey, delta: string): void {
    const open = this.#open.get(key);
    if (open?.kind !== "toolCall" || delta === "") return;
    open.json.push(delta);
    this.#events.push({ type: "toolcall_delta", contentIndex: open.index, delta, partial: this.message });
  }

  /** The block open under `key`, for signatures and late ids. */
  block(key: BlockKey): OpenBlock["block"] | undefined {
    return this.#open.get(key)?.block;
  }

  isOpen(key: BlockKey): boolean {
    return this.#open.has(key);
  }

  close(key: BlockKey): void {
    const open = this.#open.get(key);
    if (!open) return;
    this.#open.delete(key);
    const at = { contentIndex: open.index, partial: this.message };
    switch (open.kind) {
      case "text":
        this.#events.push({ type: "text_end", content: open.block.text, ...at });
        return;
      case "thinking":
        this.#events.push({ type: "thinking_end", content: open.block.thinking, ...at });
        return;
      case "toolCall":
        finishArguments(open.block, open.json);
        this.#events.push({ type: "toolcall_end", toolCall: open.block, ...at });
    }
  }

  closeAll(): void {
    for (const key of this.#open.keys()) this.close(key);
  }

  /** Closes what is open because nothing more will come. A call that was still arriving can never be executed. */
  abandon(): void {
    for (const open of this.#open.values()) if (open.kind === "toolCall") open.json.cut();
    this.closeAll();
  }

  usage(report: UsageReport): void {
    applyUsage(this.message.usage, report, this.model);
  }

  /** Facts about who answered. Empty and repeated values change nothing. */
  identify(facts: { responseId?: unknown; responseModel?: unknown }): void {
    if (typeof facts.responseId === "string" && facts.responseId) this.message.responseId = facts.responseId;
    if (typeof facts.responseModel === "string" && facts.responseModel && facts.responseModel !== this.model.id) {
      this.message.responseModel = facts.responseModel;
    }
  }

  /** The provider said why it stopped. Usage and other facts may still follow. */
  stop(reason: Extract<StopReason, "stop" | "length" | "toolUse">, raw: string): void {
    if (this.#isDecided()) return;
    this.#state = { kind: "stopped", reason };
    this.message.rawStopReason = raw;
  }

  /** The provider stopped because of what was said. Usage and other facts may still follow; then it is a failure. */
  refuse(message: string, raw: string): void {
    if (this.#isDecided()) return;
    this.#state = { kind: "stopped", reason: "stop", refusal: { kind: "refused", message } };
    this.message.rawStopReason = raw;
  }

  /** Nothing that is said later changes a failure, an end or a refusal. */
  #isDecided(): boolean {
    const state = this.#state;
    return (
      state.kind === "failed" || state.kind === "ended" || (state.kind === "stopped" && state.refusal !== undefined)
    );
  }

  /** The provider said that this is all. */
  end(): void {
    if (this.#state.kind === "stopped") this.#state = { ...this.#state, kind: "ended" };
  }

  /** The provider reported a failure. The first one counts. */
  fail(failure: Failure, raw?: string): void {
    if (this.#state.kind === "failed" || this.#state.kind === "ended") return;
    if (raw !== undefined) this.message.rawStopReason = raw;
    this.#state = { kind: "failed", failure };
  }

  /** Announces the answer, if nothing has. An answer without content is an answer too. */
  begin(): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({ type: "start", partial: this.message });
  }

  #expect(key: BlockKey, kind: OpenBlock["kind"]): OpenBlock | undefined {
    const open = this.#open.get(key);
    if (open && open.kind !== kind) this.close(key);
    return open?.kind === kind ? open : undefined;
  }

  #openBlock(key: BlockKey, block: TextContent | ThinkingContent | ToolCall): OpenBlock {
    this.close(key);
    this.begin();
    const index = this.message.content.push(block) - 1;
    const at = { contentIndex: index, partial: this.message };
    const open = openBlock(block, index);
    this.#open.set(key, open);
    if (open.kind === "text") this.#events.push({ type: "text_start", ...at });
    else if (open.kind === "thinking") this.#events.push({ type: "thinking_start", ...at });
    else {
      this.#events.push({ type: "toolcall_start", ...at });
      if (++this.#toolCalls > maxToolCalls) {
        this.fail({ kind: "unknown", message: `The model asked for more than ${maxToolCalls} tool calls at once.` });
      }
    }
    return open;
  }
}

export type DraftState =
  | { kind: "open" }
  | { kind: "stopped" | "ended"; reason: Extract<StopReason, "stop" | "length" | "toolUse">; refusal?: Failure }
  | { kind: "failed"; failure: Failure };

const none: AssistantMessageEvent[] = [];

function openBlock(block: TextContent | ThinkingContent | ToolCall, index: number): OpenBlock {
  if (block.type === "text") return { kind: "text", index, block };
  if (block.type === "thinking") return { kind: "thinking", index, block };
  return { kind: "toolCall", index, block, json: new StreamingJson(block.arguments) };
}

function finishArguments(call: ToolCall, json: StreamingJson): void {
  const problem = json.end();
  if (problem === undefined) return;
  call.arguments = {};
  call.argumentsError = `The arguments of ${call.name} could not be read: ${problem}.`;
}

import type { AssistantMessageEvent } from "../event.ts";
import type { Failure } from "../failure.ts";
import type { AssistantMessage, StopReason, TextContent, ThinkingContent, ToolCall } from "../message.ts";
import type { Model } from "../model.ts";
import { createAssistantMessage } from "../assistant-message.ts";
import { applyUsage, type UsageReport } from "../usage.ts";
import { StreamingJson } from "./streaming-json.ts";

/** Identifies a block while it is open: the provider's index, item id or similar. */
type BlockKey = string | number;

type OpenBlock =
  | { kind: "text"; index: number; block: TextContent }
  | { kind: "thinking"; index: number; block: ThinkingContent }
  | { kind: "toolCall"; index: number; block: ToolCall; json: StreamingJson };

/** An answer with more calls than this fails: the model is repeating itself. */
const maxToolCalls = 1_000;

/**
 * The answer while it is being received. It owns the live message and creates the events, so that blocks follow the same
 * rules in every protocol: a delta opens its block if it is not open, a block ends exactly once, and `start` comes
 * first.
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
    this.message = createAssistantMessage(model, nowMs);
  }

  /** `open` until the provider sends a stop reason, then `stopped`; `ended` after the end of the response. */
  get state(): DraftState {
    return this.#state;
  }

  /** The events since the last call. */
  take(): AssistantMessageEvent[] {
    if (this.#events.length === 0) return noEvents;
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

  /** Adds an encrypted thinking block. `payload` must be sent back to the provider unchanged. */
  redactedThinking(key: BlockKey, payload: string, placeholder = ""): void {
    this.#openBlock(key, { type: "thinking", thinking: placeholder, thinkingSignature: payload, redacted: true });
  }

  toolCall(key: BlockKey, call: { id: string; name: string; thoughtSignature?: string }): void {
    this.#openBlock(key, { type: "toolCall", ...call, arguments: {} });
  }

  /** Appends a piece of JSON text to a tool call's arguments. Ignored if no tool call is open under `key`. */
  argumentsDelta(key: BlockKey, delta: string): void {
    const open = this.#open.get(key);
    if (open?.kind !== "toolCall" || delta === "") return;
    open.json.push(delta);
    this.#events.push({ type: "toolcall_delta", contentIndex: open.index, delta, partial: this.message });
  }

  /** The block open under `key`, so that signatures and late ids can be set. */
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
    const shared = { contentIndex: open.index, partial: this.message };
    switch (open.kind) {
      case "text":
        this.#events.push({ type: "text_end", content: open.block.text, ...shared });
        return;
      case "thinking":
        this.#events.push({ type: "thinking_end", content: open.block.thinking, ...shared });
        return;
      case "toolCall":
        finishArguments(open.block, open.json);
        this.#events.push({ type: "toolcall_end", toolCall: open.block, ...shared });
    }
  }

  closeAll(): void {
    for (const key of this.#open.keys()) this.close(key);
  }

  /** Closes all blocks after a failure. An incomplete tool call gets an `argumentsError`, so it is never executed. */
  abandon(): void {
    for (const open of this.#open.values()) if (open.kind === "toolCall") open.json.cut();
    this.closeAll();
  }

  usage(report: UsageReport): void {
    applyUsage(this.message.usage, report, this.model);
  }

  /** Sets the response's id and model. Empty values, and a model equal to the requested one, are ignored. */
  identify(facts: { responseId?: unknown; responseModel?: unknown }): void {
    if (typeof facts.responseId === "string" && facts.responseId) this.message.responseId = facts.responseId;
    if (typeof facts.responseModel === "string" && facts.responseModel && facts.responseModel !== this.model.id) {
      this.message.responseModel = facts.responseModel;
    }
  }

  /** Records the provider's stop reason. Usage and other data may still follow. */
  stop(reason: Extract<StopReason, "stop" | "length" | "toolUse">, raw: string): void {
    if (this.#isDecided()) return;
    this.#state = { kind: "stopped", reason };
    this.message.rawStopReason = raw;
  }

  /** Records a refusal. Usage and other data may still follow; then the request fails. */
  refuse(message: string, raw: string): void {
    if (this.#isDecided()) return;
    this.#state = { kind: "stopped", reason: "stop", refusal: { kind: "refused", message } };
    this.message.rawStopReason = raw;
  }

  /** A failure, an end and a refusal are final. */
  #isDecided(): boolean {
    const state = this.#state;
    return (
      state.kind === "failed" || state.kind === "ended" || (state.kind === "stopped" && state.refusal !== undefined)
    );
  }

  /** Records that the response is complete. */
  end(): void {
    if (this.#state.kind === "stopped") this.#state = { ...this.#state, kind: "ended" };
  }

  /** Records a failure reported by the provider. Later failures are ignored. */
  fail(failure: Failure, raw?: string): void {
    if (this.#state.kind === "failed" || this.#state.kind === "ended") return;
    if (raw !== undefined) this.message.rawStopReason = raw;
    this.#state = { kind: "failed", failure };
  }

  /** Emits the `start` event if it was not emitted yet. An answer without content also has one. */
  begin(): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({ type: "start", partial: this.message });
  }

  /** The open block if it is of this kind. A block of another kind is closed. */
  #expect(key: BlockKey, kind: OpenBlock["kind"]): OpenBlock | undefined {
    const open = this.#open.get(key);
    if (open && open.kind !== kind) this.close(key);
    return open?.kind === kind ? open : undefined;
  }

  #openBlock(key: BlockKey, block: TextContent | ThinkingContent | ToolCall): OpenBlock {
    this.close(key);
    this.begin();
    const index = this.message.content.push(block) - 1;
    const shared = { contentIndex: index, partial: this.message };
    const open = toOpenBlock(block, index);
    this.#open.set(key, open);
    if (open.kind === "text") this.#events.push({ type: "text_start", ...shared });
    else if (open.kind === "thinking") this.#events.push({ type: "thinking_start", ...shared });
    else {
      this.#events.push({ type: "toolcall_start", ...shared });
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

const noEvents: AssistantMessageEvent[] = [];

function toOpenBlock(block: TextContent | ThinkingContent | ToolCall, index: number): OpenBlock {
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

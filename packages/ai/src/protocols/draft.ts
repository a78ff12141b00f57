import type { AssistantMessageEvent } from "../event.ts";
import type { Failure } from "../failure.ts";
import type { AssistantMessage, StopReason, ToolCall } from "../message.ts";
import type { Model } from "../model.ts";
import { createAssistantMessage } from "../assistant-message.ts";
import { applyUsage, type UsageReport } from "../usage.ts";
import { StreamingJson } from "./streaming-json.ts";

/** Identifies a block while it is open: the provider's index, item id or similar. */
type BlockKey = string | number;

type Block = AssistantMessage["content"][number];

interface OpenBlock {
  readonly index: number;
  readonly block: Block;
  /** The parser of the arguments, if the block is a tool call. */
  readonly json: StreamingJson | undefined;
}

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
    const { block, index } = this.#expect(key, "text") ?? this.#openBlock(key, { type: "text", text: "" });
    if (block.type !== "text" || delta === "") return;
    block.text += delta;
    this.#events.push({ type: "text_delta", contentIndex: index, delta, partial: this.message });
  }

  thinking(key: BlockKey, delta: string): void {
    const { block, index } = this.#expect(key, "thinking") ?? this.#openBlock(key, { type: "thinking", thinking: "" });
    if (block.type !== "thinking" || delta === "") return;
    block.thinking += delta;
    this.#events.push({ type: "thinking_delta", contentIndex: index, delta, partial: this.message });
  }

  /** Adds an encrypted thinking block. `payload` must be sent back to the provider unchanged. */
  redactedThinking(key: BlockKey, payload: string): void {
    this.#openBlock(key, { type: "thinking", thinking: "", thinkingSignature: payload, redacted: true });
  }

  toolCall(key: BlockKey, call: { id: string; name: string; thoughtSignature?: string }): void {
    this.#openBlock(key, { type: "toolCall", ...call, arguments: {} });
  }

  /** Appends a piece of JSON text to a tool call's arguments. Ignored if no tool call is open under `key`. */
  argumentsDelta(key: BlockKey, delta: string): void {
    const open = this.#open.get(key);
    if (!open?.json || delta === "") return;
    open.json.push(delta);
    this.#events.push({ type: "toolcall_delta", contentIndex: open.index, delta, partial: this.message });
  }

  /** The block open under `key`, so that signatures and late ids can be set. */
  block(key: BlockKey): Block | undefined {
    return this.#open.get(key)?.block;
  }

  isOpen(key: BlockKey): boolean {
    return this.#open.has(key);
  }

  close(key: BlockKey): void {
    const open = this.#open.get(key);
    if (!open) return;
    this.#open.delete(key);
    const { block, index, json } = open;
    const shared = { contentIndex: index, partial: this.message };
    switch (block.type) {
      case "text":
        this.#events.push({ type: "text_end", content: block.text, ...shared });
        return;
      case "thinking":
        this.#events.push({ type: "thinking_end", content: block.thinking, ...shared });
        return;
      case "toolCall":
        finishArguments(block, json);
        this.#events.push({ type: "toolcall_end", toolCall: block, ...shared });
    }
  }

  closeAll(): void {
    for (const key of this.#open.keys()) this.close(key);
  }

  /** Closes all blocks after a failure. An incomplete tool call gets an `argumentsError`, so it is never executed. */
  abandon(): void {
    for (const { json } of this.#open.values()) json?.cut();
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
    this.#stop({ kind: "stopped", reason }, raw);
  }

  /**
   * Records that the context window is full. With content, the answer was cut off; without, the prompt alone was too
   * long.
   */
  fillWindow(raw: string): void {
    if (this.message.content.length > 0) this.stop("length", raw);
    else this.fail({ kind: "context_overflow", message: "The prompt does not fit into the model's window." }, raw);
  }

  /** Records a refusal. Usage and other data may still follow; then the request fails. */
  refuse(message: string, raw: string): void {
    this.#stop({ kind: "stopped", reason: "stop", refusal: { kind: "refused", message } }, raw);
  }

  /** A failure, an end and a refusal are final. */
  #stop(stopped: DraftState, raw: string): void {
    const current = this.#state;
    if (current.kind !== "open" && (current.kind !== "stopped" || current.refusal)) return;
    this.#state = stopped;
    this.message.rawStopReason = raw;
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
  #expect(key: BlockKey, kind: Block["type"]): OpenBlock | undefined {
    const open = this.#open.get(key);
    if (open?.block.type === kind) return open;
    this.close(key);
    return undefined;
  }

  #openBlock(key: BlockKey, block: Block): OpenBlock {
    this.close(key);
    this.begin();
    const index = this.message.content.push(block) - 1;
    const json = block.type === "toolCall" ? new StreamingJson(block.arguments) : undefined;
    const open = { index, block, json };
    this.#open.set(key, open);
    const kind = block.type === "toolCall" ? "toolcall" : block.type;
    this.#events.push({ type: `${kind}_start`, contentIndex: index, partial: this.message });
    if (json && ++this.#toolCalls > maxToolCalls) {
      this.fail({ kind: "unknown", message: `The model asked for more than ${maxToolCalls} tool calls at once.` });
    }
    return open;
  }
}

type DraftState =
  | { kind: "open" }
  | { kind: "stopped" | "ended"; reason: Extract<StopReason, "stop" | "length" | "toolUse">; refusal?: Failure }
  | { kind: "failed"; failure: Failure };

const noEvents: AssistantMessageEvent[] = [];

function finishArguments(call: ToolCall, json: StreamingJson | undefined): void {
  const problem = json?.end();
  if (problem === undefined) return;
  call.arguments = {};
  const text = json?.plainText;
  if (text !== undefined) call.argumentsText = text;
  call.argumentsError = `The arguments of ${call.name} could not be read: ${problem}.`;
}

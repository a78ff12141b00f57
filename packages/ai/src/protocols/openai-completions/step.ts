import type { AssistantMessageEvent } from "../../event.ts";
import type { Failure } from "../../failure.ts";
import type { ThinkingContent } from "../../message.ts";
import { parseTokenCount, type UsageReport } from "../../usage.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { asArray, asRecord, asString } from "../../json.ts";
import { findStreamError } from "../stream-error.ts";
import { ToolCalls } from "./calls.ts";
import { resolveCompat } from "./compat.ts";
import { getChoice, getFinishReason, toDelta } from "./choice.ts";
import {
  addDetail,
  isEncrypted,
  getReadable,
  readDetails,
  type ReasoningDetail,
  reasoningFields,
  needsStoring,
  writeOpaque,
} from "./reasoning.ts";

export interface CompletionsState {
  readonly draft: Draft;
  readonly calls: ToolCalls;
  /** The latest thinking block and the details for its signature. */
  thought: Thought | undefined;
  /** The model's refusal text received so far, or our own text for a stop reason that means refusal. */
  refusal: string;
}

interface Thought {
  readonly block: ThinkingContent;
  readonly details: ReasoningDetail[];
  /** The latest `reasoning_opaque`; empty if there was none. */
  opaque: string;
}

export const start = (draft: Draft): CompletionsState => ({
  draft,
  calls: new ToolCalls(draft),
  thought: undefined,
  refusal: "",
});

export function step(state: CompletionsState, frame: Frame): AssistantMessageEvent[] {
  const { draft } = state;
  if (frame.data === "[DONE]") return complete(state);
  const chunk = asRecord(frame.data);
  const choice = getChoice(chunk);
  draft.identify({ responseId: chunk["id"], responseModel: chunk["model"] });
  const groq = asRecord(chunk["x_groq"]);
  const usage = chunk["usage"] ?? choice["usage"] ?? groq["usage"];
  if (usage) draft.usage(readUsage(asRecord(usage)));
  readDelta(state, toDelta(choice, draft));
  const failure = findStreamError(frame) ?? findStreamError({ data: choice }) ?? findStreamError({ data: groq });
  if (failure) draft.fail(failure);
  const raw = getFinishReason(choice);
  if (raw !== "") readStop(state, raw);
  return draft.take();
}

function complete(state: CompletionsState): AssistantMessageEvent[] {
  const { draft } = state;
  settle(state);
  if (draft.state.kind === "open") readMissingStop(state);
  draft.end();
  return draft.take();
}

/** Completes an answer of a server that sends no stop reason. Of others, such an answer was cut off. */
export function finish(state: CompletionsState): AssistantMessageEvent[] {
  return resolveCompat(state.draft.model).compat.supportsFinishReason ? [] : complete(state);
}

function readDelta(state: CompletionsState, delta: Record<string, unknown>): void {
  // Thinking first: some gateways send thinking and text in one delta.
  const field = reasoningFields.find((name) => asString(delta[name]) !== "");
  const details = readDetails(delta["reasoning_details"]);
  if (field !== undefined) addThinking(state, field, asString(delta[field]));
  else for (const detail of details) addThinking(state, "reasoning", getReadable(detail));
  for (const detail of details) if (!isEncrypted(detail)) keepDetail(state, detail);
  const opaque = asString(delta["reasoning_opaque"]);
  if (opaque !== "") (state.thought ?? openThinking(state, "reasoning_text")).opaque = opaque;
  addContent(state, delta["content"]);
  state.refusal += asString(delta["refusal"]);
  state.calls.take(readCalls(delta), () => closeTextAndThinking(state));
  for (const detail of details) {
    if (isEncrypted(detail) && !state.calls.sign(detail["id"], JSON.stringify(detail))) keepDetail(state, detail);
  }
}

/** The tool calls of a delta. Old servers send a single call in `function_call`. */
function readCalls(delta: Record<string, unknown>): unknown[] {
  const calls = asArray(delta["tool_calls"]);
  return calls.length === 0 && delta["function_call"] ? [{ function: delta["function_call"] }] : calls;
}

function addContent(state: CompletionsState, content: unknown): void {
  if (typeof content === "string") {
    addText(state, content);
    return;
  }
  for (const part of asArray(content).map(asRecord)) {
    if (part["type"] === "text") addText(state, asString(part["text"]));
    if (part["type"] !== "thinking") continue;
    // Mistral's format: a thinking part contains a list of parts.
    for (const inner of asArray(part["thinking"]).map(asRecord))
      addThinking(state, "reasoning_content", asString(inner["text"]));
  }
}

function addText(state: CompletionsState, delta: string): void {
  if (delta === "") return;
  closeThinking(state);
  state.draft.text("text", delta);
}

function addThinking(state: CompletionsState, field: string, delta: string): void {
  if (delta === "") return;
  if (!state.draft.isOpen("thinking")) openThinking(state, field);
  state.draft.thinking("thinking", delta);
}

function openThinking(state: CompletionsState, field: string): Thought {
  const { draft } = state;
  draft.close("text");
  draft.thinking("thinking", "");
  const block = draft.block("thinking") as ThinkingContent;
  block.thinkingSignature = field;
  state.thought = { block, details: [], opaque: "" };
  return state.thought;
}

/** Details may arrive after their text, even after the answer has begun, or without any text. */
function keepDetail(state: CompletionsState, detail: ReasoningDetail): void {
  addDetail((state.thought ?? openThinking(state, "reasoning")).details, detail);
}

/** Stores what must be sent back in the block's signature. Must run before the block is reported as complete. */
function signThought({ thought }: CompletionsState): void {
  if (!thought) return;
  if (thought.opaque !== "") thought.block.thinkingSignature = writeOpaque(thought.opaque);
  else if (needsStoring(thought.details)) thought.block.thinkingSignature = JSON.stringify(thought.details);
  else return;
  if (thought.block.thinking === "") thought.block.redacted = true;
}

function closeThinking(state: CompletionsState): void {
  if (!state.draft.isOpen("thinking")) return;
  signThought(state);
  state.draft.close("thinking");
}

function closeTextAndThinking(state: CompletionsState): void {
  closeThinking(state);
  state.draft.close("text");
}

function settle(state: CompletionsState): void {
  signThought(state);
  state.calls.settle();
}

const stopReasons = new Map<string, "stop" | "length" | "toolUse">([
  ["length", "length"],
  ["max_tokens", "length"],
  ["tool_calls", "toolUse"],
  ["function_call", "toolUse"],
]);

/** Stop reasons that mean a refusal. */
const refusals = new Map([
  ["content_filter", "The provider's content filter stopped the answer."],
  ["sensitive", "The provider stopped the answer because of its content."],
  ["safety", "The provider stopped the answer because of its content."],
]);

/** Stop reasons that mean a failure. */
const failures = new Map<string, Failure>([
  ["error", { kind: "overloaded", message: "The provider stopped with an internal error." }],
  ["insufficient_system_resource", { kind: "overloaded", message: "The provider ran out of resources." }],
  ["network_error", { kind: "network", message: "The provider lost the connection to its model." }],
  ["abort", { kind: "network", message: "The server aborted the answer." }],
]);

/** Some servers repeat the reason or send text after it, so blocks stay open until the stream ends. */
function readStop(state: CompletionsState, raw: string): void {
  const { draft } = state;
  settle(state);
  const reason = raw.toLowerCase();
  const failure = failures.get(reason);
  state.refusal ||= refusals.get(reason) ?? "";
  if (state.refusal !== "") draft.refuse(state.refusal, raw);
  else if (failure) draft.fail(failure, raw);
  else if (reason === "model_context_window_exceeded") draft.fillWindow(raw);
  else draft.stop(stopReasons.get(reason) ?? "stop", raw);
}

/** A stream that ends without a stop reason is complete if it had any content. */
function readMissingStop({ draft, refusal }: CompletionsState): void {
  if (refusal !== "") draft.refuse(refusal, "[DONE]");
  else if (draft.message.content.length > 0) draft.stop("stop", "[DONE]");
}

function readUsage(usage: Record<string, unknown>): UsageReport {
  const details = asRecord(usage["prompt_tokens_details"]);
  const promptTokens = parseTokenCount(usage["prompt_tokens"]);
  // DeepSeek and Kimi use their own names for cached tokens.
  const cacheRead = parseTokenCount(
    details["cached_tokens"] ?? usage["prompt_cache_hit_tokens"] ?? usage["cached_tokens"],
  );
  const cacheWrite = parseTokenCount(details["cache_write_tokens"]);
  return {
    input: promptTokens === undefined ? undefined : Math.max(0, promptTokens - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    cacheRead,
    cacheWrite,
    ...readOutput(usage, promptTokens ?? 0),
  };
}

/** xAI does not include thinking in `completion_tokens`; this is detected from its total. */
function readOutput(usage: Record<string, unknown>, promptTokens: number): UsageReport {
  const completion = parseTokenCount(usage["completion_tokens"]);
  const reasoning = parseTokenCount(asRecord(usage["completion_tokens_details"])["reasoning_tokens"]);
  if (completion === undefined || !reasoning) return { output: completion, reasoning };
  const isCountedSeparately = usage["total_tokens"] === promptTokens + completion + reasoning;
  return { output: isCountedSeparately ? completion + reasoning : completion, reasoning };
}

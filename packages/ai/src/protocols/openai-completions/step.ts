import type { AssistantMessageEvent } from "../../event.ts";
import { classifyError, describeError, type Failure } from "../../failure.ts";
import type { ThinkingContent } from "../../message.ts";
import { tokenCount, type UsageReport } from "../../usage.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { list, record, text } from "../read.ts";
import { ToolCalls } from "./calls.ts";
import { getChoice, toDelta } from "./choice.ts";
import {
  addDetail,
  isEncrypted,
  getReadable,
  readDetails,
  type ReasoningDetail,
  reasoningFields,
  saysMore,
} from "./reasoning.ts";

export interface CompletionsState {
  readonly draft: Draft;
  readonly calls: ToolCalls;
  /** The latest thinking block, and what belongs into its signature. */
  thought: Thought | undefined;
  /** A refusal in the model's words, as far as it has come, or in ours. */
  refusal: string;
}

interface Thought {
  readonly block: ThinkingContent;
  readonly details: ReasoningDetail[];
}

export const start = (draft: Draft): CompletionsState => ({
  draft,
  calls: new ToolCalls(draft),
  thought: undefined,
  refusal: "",
});

export function step(state: CompletionsState, frame: Frame): AssistantMessageEvent[] {
  const { draft } = state;
  if (frame.data === "[DONE]") {
    settle(state);
    if (draft.state.kind === "open") readMissingStop(state);
    draft.end();
    return draft.take();
  }
  const chunk = record(frame.data);
  const choice = getChoice(chunk);
  draft.identify({ responseId: chunk["id"], responseModel: chunk["model"] });
  const usage = chunk["usage"] ?? choice["usage"] ?? record(chunk["x_groq"])["usage"];
  if (usage) draft.usage(readUsage(record(usage)));
  readDelta(state, toDelta(choice, draft));
  const error = chunk["error"] ?? choice["error"];
  if (error) draft.fail(classifyError(describeError({ error })));
  else if (frame.event === "error" || chunk["object"] === "error") draft.fail(classifyError(describeError(chunk)));
  const raw = text(choice["finish_reason"]);
  if (raw !== "") readStop(state, raw);
  return draft.take();
}

function readDelta(state: CompletionsState, delta: Record<string, unknown>): void {
  // Thinking comes first: some gateways put it and the answer into one delta.
  const field = reasoningFields.find((name) => text(delta[name]) !== "");
  const details = readDetails(delta["reasoning_details"]);
  if (field !== undefined) addThinking(state, field, text(delta[field]));
  else for (const detail of details) addThinking(state, "reasoning", getReadable(detail));
  for (const detail of details) if (!isEncrypted(detail)) keepDetail(state, detail);
  addContent(state, delta["content"]);
  state.refusal += text(delta["refusal"]);
  state.calls.take(readCalls(delta), () => closeWords(state));
  for (const detail of details) {
    if (isEncrypted(detail) && !state.calls.sign(detail["id"], JSON.stringify(detail))) keepDetail(state, detail);
  }
}

/** The list of calls. Before there were lists, there was one call, in a field of its own. */
function readCalls(delta: Record<string, unknown>): unknown[] {
  const calls = list(delta["tool_calls"]);
  return calls.length === 0 && delta["function_call"] ? [{ function: delta["function_call"] }] : calls;
}

function addContent(state: CompletionsState, content: unknown): void {
  if (typeof content === "string") {
    addText(state, content);
    return;
  }
  for (const part of list(content).map(record)) {
    if (part["type"] === "text") addText(state, text(part["text"]));
    if (part["type"] !== "thinking") continue;
    // Mistral's way: thinking is a part that has parts of its own.
    for (const inner of list(part["thinking"]).map(record))
      addThinking(state, "reasoning_content", text(inner["text"]));
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
  state.thought = { block, details: [] };
  return state.thought;
}

/** Details often follow their text, after the answer has begun, or come without any. */
function keepDetail(state: CompletionsState, detail: ReasoningDetail): void {
  addDetail((state.thought ?? openThinking(state, "reasoning")).details, detail);
}

/** Writes what has been collected into the block, before anyone reads it as complete. */
function signThought({ thought }: CompletionsState): void {
  if (!thought || !saysMore(thought.details)) return;
  thought.block.thinkingSignature = JSON.stringify(thought.details);
  if (thought.block.thinking === "") thought.block.redacted = true;
}

function closeThinking(state: CompletionsState): void {
  if (!state.draft.isOpen("thinking")) return;
  signThought(state);
  state.draft.close("thinking");
}

function closeWords(state: CompletionsState): void {
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

/** Reasons that refuse the answer. */
const refusals = new Map([
  ["content_filter", "The provider's content filter stopped the answer."],
  ["sensitive", "The provider stopped the answer because of its content."],
  ["safety", "The provider stopped the answer because of its content."],
]);

/** Reasons that are no end of an answer. */
const failures = new Map<string, Failure>([
  ["error", { kind: "overloaded", message: "The provider stopped with an error of its own." }],
  ["insufficient_system_resource", { kind: "overloaded", message: "The provider ran out of resources." }],
  ["network_error", { kind: "network", message: "The provider lost the connection to its model." }],
  ["abort", { kind: "network", message: "The server gave the answer up." }],
]);

/** Some servers repeat the reason, or send words after it: blocks stay open until the stream ends. */
function readStop(state: CompletionsState, raw: string): void {
  const { draft } = state;
  settle(state);
  const reason = raw.toLowerCase();
  const failure = failures.get(reason);
  state.refusal ||= refusals.get(reason) ?? "";
  if (state.refusal !== "") draft.refuse(state.refusal, raw);
  else if (failure) draft.fail(failure, raw);
  else if (reason === "model_context_window_exceeded") readFullWindow(draft, raw);
  else draft.stop(stopReasons.get(reason) ?? "stop", raw);
}

/** A stream that is over without a reason has answered, if it said anything. */
function readMissingStop({ draft, refusal }: CompletionsState): void {
  if (refusal !== "") draft.refuse(refusal, "[DONE]");
  else if (draft.message.content.length > 0) draft.stop("stop", "[DONE]");
}

/** The window is full: with words, the answer was cut; without any, the prompt alone was too long. */
function readFullWindow(draft: Draft, raw: string): void {
  if (draft.message.content.length > 0) draft.stop("length", raw);
  else draft.fail({ kind: "context_overflow", message: "The prompt does not fit into the model's window." }, raw);
}

function readUsage(usage: Record<string, unknown>): UsageReport {
  const prompt = record(usage["prompt_tokens_details"]);
  const total = tokenCount(usage["prompt_tokens"]);
  // DeepSeek and Kimi have names of their own for what came from a cache.
  const cacheRead = tokenCount(prompt["cached_tokens"] ?? usage["prompt_cache_hit_tokens"] ?? usage["cached_tokens"]);
  const cacheWrite = tokenCount(prompt["cache_write_tokens"]);
  return {
    input: total === undefined ? undefined : Math.max(0, total - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    cacheRead,
    cacheWrite,
    ...readOutput(usage, total ?? 0),
  };
}

/** xAI does not count thinking as completion; its total shows it. */
function readOutput(usage: Record<string, unknown>, prompt: number): UsageReport {
  const completion = tokenCount(usage["completion_tokens"]);
  const reasoning = tokenCount(record(usage["completion_tokens_details"])["reasoning_tokens"]);
  if (completion === undefined || !reasoning) return { output: completion, reasoning };
  const isApart = usage["total_tokens"] === prompt + completion + reasoning;
  return { output: isApart ? completion + reasoning : completion, reasoning };
}

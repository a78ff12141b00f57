import type { AssistantMessageEvent } from "../../event.ts";
import { parseTokenCount, type UsageReport } from "../../usage.ts";
import type { Draft } from "../draft.ts";
import { ToolCalls } from "../openai-completions/calls.ts";
import { getChoice, getFinishReason, toDelta } from "../openai-completions/choice.ts";
import type { Frame } from "../protocol.ts";
import { asArray, asRecord, asString, joinText } from "../../json.ts";
import { findStreamError } from "../stream-error.ts";

export interface MistralState {
  readonly draft: Draft;
  readonly calls: ToolCalls;
}

export const start = (draft: Draft): MistralState => ({ draft, calls: new ToolCalls(draft) });

export function step(state: MistralState, frame: Frame): AssistantMessageEvent[] {
  const { draft } = state;
  if (frame.data === "[DONE]") {
    state.calls.settle();
    if (draft.state.kind === "open" && draft.message.content.length > 0) draft.stop("stop", "[DONE]");
    draft.end();
    return draft.take();
  }
  const chunk = asRecord(frame.data);
  const choice = getChoice(chunk);
  draft.identify({ responseId: chunk["id"], responseModel: chunk["model"] });
  if (chunk["usage"]) draft.usage(readUsage(asRecord(chunk["usage"])));
  readDelta(state, toDelta(choice, draft));
  const failure = findStreamError(frame);
  if (failure) draft.fail(failure);
  readStop(state, getFinishReason(choice));
  return draft.take();
}

function readDelta(state: MistralState, delta: Record<string, unknown>): void {
  const { content } = delta;
  if (typeof content === "string") addText(state.draft, content);
  else for (const part of asArray(content)) addPart(state.draft, asRecord(part));
  const calls = asArray(delta["tool_calls"]).map(asRecord).filter(isFunctionCall).map(removeNullId);
  state.calls.take(calls, () => closeTextAndThinking(state.draft));
}

const isFunctionCall = (call: Record<string, unknown>): boolean => typeof call["function"] === "object";

/** Mistral sends the string `"null"` if a call has no id. */
const removeNullId = (call: Record<string, unknown>): Record<string, unknown> =>
  call["id"] === "null" ? { ...call, id: "" } : call;

/** Adds a text or thinking part. References and other kinds of parts are ignored. */
function addPart(draft: Draft, part: Record<string, unknown>): void {
  if (part["type"] === "text") addText(draft, asString(part["text"]));
  if (part["type"] !== "thinking") return;
  const thinking = joinText(part["thinking"], "");
  const signature = asString(part["signature"]);
  if (thinking === "" && signature === "") return;
  draft.close("text");
  draft.thinking("thinking", thinking);
  const block = draft.block("thinking");
  if (block?.type === "thinking" && signature !== "") block.thinkingSignature = signature;
}

/** Empty text deltas come between pieces of thinking and must not end the thinking block. */
function addText(draft: Draft, delta: string): void {
  if (delta === "") return;
  draft.close("thinking");
  draft.text("text", delta);
}

function closeTextAndThinking(draft: Draft): void {
  draft.close("thinking");
  draft.close("text");
}

const stopReasons = new Map<string, "stop" | "length" | "toolUse">([
  ["length", "length"],
  ["model_length", "length"],
  ["tool_calls", "toolUse"],
]);

function readStop({ draft, calls }: MistralState, raw: string): void {
  if (raw === "") return;
  calls.settle();
  if (raw === "error") draft.fail({ kind: "overloaded", message: "The provider stopped with an internal error." }, raw);
  else if (raw === "content_filter") draft.refuse("The provider's content filter stopped the answer.", raw);
  else draft.stop(stopReasons.get(raw) ?? "stop", raw);
}

function readUsage(usage: Record<string, unknown>): UsageReport {
  const details = asRecord(usage["prompt_tokens_details"] ?? usage["prompt_token_details"]);
  const promptTokens = parseTokenCount(usage["prompt_tokens"]);
  const cached = parseTokenCount(details["cached_tokens"] ?? usage["num_cached_tokens"]);
  const cacheRead = cached === undefined || promptTokens === undefined ? cached : Math.min(cached, promptTokens);
  return {
    input: promptTokens === undefined ? undefined : promptTokens - (cacheRead ?? 0),
    output: usage["completion_tokens"],
    cacheRead,
  };
}

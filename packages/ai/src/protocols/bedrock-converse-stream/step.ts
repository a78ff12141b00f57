import type { AssistantMessageEvent } from "../../event.ts";
import { classifyError, describeError } from "../../failure.ts";
import type { UsageReport } from "../../usage.ts";
import { toUniqueCallId } from "../call-id.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { asArray, asRecord, asString } from "../../json.ts";
import { Base64Joiner } from "./base64.ts";

export interface BedrockState {
  readonly draft: Draft;
  /** Incomplete encrypted thinking, by block index. */
  readonly redacted: Map<number, Base64Joiner>;
  /** Metadata comes before or after the stop reason; the response is complete when both have arrived. */
  metadataSeen: boolean;
}

export const start = (draft: Draft): BedrockState => ({ draft, redacted: new Map(), metadataSeen: false });

export function step(state: BedrockState, frame: Frame): AssistantMessageEvent[] {
  const { draft } = state;
  const { kind, data } = unwrap(frame);
  const index = typeof data["contentBlockIndex"] === "number" ? data["contentBlockIndex"] : 0;
  switch (kind) {
    case "contentBlockStart":
      openBlock(state, index, asRecord(data["start"]));
      break;
    case "contentBlockDelta":
      extendBlock(state, index, asRecord(data["delta"]));
      break;
    case "contentBlockStop":
      closeBlock(state, index);
      break;
    case "messageStop":
      for (const open of state.redacted.keys()) closeBlock(state, open);
      readStop(draft, asString(data["stopReason"]));
      if (state.metadataSeen) draft.end();
      break;
    case "metadata":
      draft.usage(readUsage(data["usage"]));
      state.metadataSeen = true;
      draft.end();
      break;
    case "exception":
      draft.fail(classifyError(describeError({ type: data["type"], message: describeException(data) })));
      break;
  }
  return draft.take();
}

/**
 * The name and data of a frame. In the binary framing the name is in a header; in JSON the data is wrapped in an object
 * with the name as key. A name that ends in `Exception` is an exception.
 */
function unwrap(frame: Frame): { kind: string; data: Record<string, unknown> } {
  const data = asRecord(frame.data);
  const name = frame.event ?? Object.keys(data)[0] ?? "";
  const inner = data[name] === undefined ? data : asRecord(data[name]);
  return name.endsWith("Exception")
    ? { kind: "exception", data: { ...inner, type: name } }
    : { kind: name, data: inner };
}

const describeException = (data: Record<string, unknown>): string => {
  const message = asString(data["message"]) || asString(data["originalMessage"]);
  return message || `The provider reported ${asString(data["type"]) || "an error"} and no explanation.`;
};

function openBlock({ draft }: BedrockState, index: number, block: Record<string, unknown>): void {
  // Text and thinking blocks are opened by their first delta.
  if (block["toolUse"] === undefined) return;
  const call = asRecord(block["toolUse"]);
  const name = asString(call["name"]);
  draft.toolCall(index, { id: toUniqueCallId(draft, asString(call["toolUseId"]), name), name });
}

function extendBlock(state: BedrockState, index: number, delta: Record<string, unknown>): void {
  const { draft } = state;
  if (typeof delta["text"] === "string") draft.text(index, delta["text"]);
  if (delta["toolUse"] !== undefined) draft.argumentsDelta(index, asString(asRecord(delta["toolUse"])["input"]));
  if (delta["reasoningContent"] !== undefined) extendThinking(state, index, asRecord(delta["reasoningContent"]));
}

function extendThinking(state: BedrockState, index: number, delta: Record<string, unknown>): void {
  const { draft, redacted } = state;
  const payload = asString(delta["redactedContent"]);
  if (payload) {
    let joiner = redacted.get(index);
    if (!joiner) {
      draft.redactedThinking(index, "");
      redacted.set(index, (joiner = new Base64Joiner()));
    }
    joiner.push(payload);
    return;
  }
  if (redacted.has(index)) return;
  draft.thinking(index, asString(delta["text"]));
  const block = draft.block(index);
  const signature = asString(delta["signature"]);
  if (block?.type === "thinking" && signature) {
    block.thinkingSignature = (block.thinkingSignature ?? "") + signature;
  }
}

function closeBlock({ draft, redacted }: BedrockState, index: number): void {
  const block = draft.block(index);
  const payload = redacted.get(index)?.getJoined();
  if (block?.type === "thinking" && payload) block.thinkingSignature = payload;
  redacted.delete(index);
  draft.close(index);
}

const stopReasons = new Map<string, "stop" | "length" | "toolUse">([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "toolUse"],
  ["max_tokens", "length"],
]);

function readStop(draft: Draft, raw: string): void {
  if (raw === "guardrail_intervened" || raw === "content_filtered") {
    draft.refuse(`The provider refused to answer (${raw}).`, raw);
  } else if (raw === "malformed_model_output" || raw === "malformed_tool_use") {
    draft.fail({ kind: "unknown", message: `The provider could not read the model's answer (${raw}).` }, raw);
  } else if (raw === "model_context_window_exceeded") draft.fillWindow(raw);
  else draft.stop(stopReasons.get(raw) ?? "stop", raw || "messageStop");
}

function readUsage(value: unknown): UsageReport {
  const usage = asRecord(value);
  const oneHour = asArray(usage["cacheDetails"])
    .map(asRecord)
    .find((detail) => detail["ttl"] === "1h");
  return {
    input: usage["inputTokens"],
    output: usage["outputTokens"],
    cacheRead: usage["cacheReadInputTokens"],
    cacheWrite: usage["cacheWriteInputTokens"],
    cacheWrite1h: oneHour?.["inputTokens"],
  };
}

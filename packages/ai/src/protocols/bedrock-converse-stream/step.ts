import type { AssistantMessageEvent } from "../../event.ts";
import { classifyError, describeError } from "../../failure.ts";
import type { UsageReport } from "../../usage.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { asArray, asRecord, asString } from "../read.ts";
import { Base64Joiner } from "./base64.ts";

export interface BedrockState {
  readonly draft: Draft;
  /** Encrypted thinking that is still arriving, by block. */
  readonly redacted: Map<number, Base64Joiner>;
  /** Usage comes before or after the reason for stopping; with both nothing is left to come. */
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
      growBlock(state, index, asRecord(data["delta"]));
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
      draft.fail(classifyError(describeError({ type: data["type"], message: explain(data) })));
      break;
  }
  return draft.take();
}

/**
 * A frame's name and what is in it. The binary framing names an event in a header; as JSON it is wrapped in an object
 * under its name, and an exception is told by its name.
 */
function unwrap(frame: Frame): { kind: string; data: Record<string, unknown> } {
  const data = asRecord(frame.data);
  const name = frame.event ?? Object.keys(data)[0] ?? "";
  const inner = data[name] === undefined ? data : asRecord(data[name]);
  return name.endsWith("Exception")
    ? { kind: "exception", data: { ...inner, type: name } }
    : { kind: name, data: inner };
}

const explain = (data: Record<string, unknown>): string => {
  const words = asString(data["message"]) || asString(data["originalMessage"]);
  return words || `The provider reported ${asString(data["type"]) || "an error"} and no explanation.`;
};

function openBlock({ draft }: BedrockState, index: number, block: Record<string, unknown>): void {
  const call = asRecord(block["toolUse"]);
  // Text and thinking need no opening: their first delta opens them.
  if (block["toolUse"] !== undefined)
    draft.toolCall(index, { id: asString(call["toolUseId"]), name: asString(call["name"]) });
}

function growBlock(state: BedrockState, index: number, delta: Record<string, unknown>): void {
  const { draft } = state;
  if (typeof delta["text"] === "string") draft.text(index, delta["text"]);
  if (delta["toolUse"] !== undefined) draft.argumentsDelta(index, asString(asRecord(delta["toolUse"])["input"]));
  if (delta["reasoningContent"] !== undefined) growThinking(state, index, asRecord(delta["reasoningContent"]));
}

function growThinking(state: BedrockState, index: number, delta: Record<string, unknown>): void {
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
  const payload = redacted.get(index)?.joined();
  if (block?.type === "thinking" && payload) block.thinkingSignature = payload;
  redacted.delete(index);
  draft.close(index);
}

const stopReasons = new Map<string, "stop" | "length" | "toolUse">([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "toolUse"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
]);

function readStop(draft: Draft, raw: string): void {
  switch (raw) {
    case "guardrail_intervened":
    case "content_filtered":
      draft.refuse(`The provider refused to answer (${raw}).`, raw);
      return;
    case "malformed_model_output":
    case "malformed_tool_use":
      draft.fail({ kind: "unknown", message: `The model's answer could not be read by the provider (${raw}).` }, raw);
      return;
    default:
      draft.stop(stopReasons.get(raw) ?? "stop", raw || "messageStop");
  }
}

function readUsage(value: unknown): UsageReport {
  const usage = asRecord(value);
  const hourly = asArray(usage["cacheDetails"])
    .map(asRecord)
    .find((detail) => detail["ttl"] === "1h");
  return {
    input: usage["inputTokens"],
    output: usage["outputTokens"],
    cacheRead: usage["cacheReadInputTokens"],
    cacheWrite: usage["cacheWriteInputTokens"],
    cacheWrite1h: hourly?.["inputTokens"],
  };
}

import type { AssistantMessageEvent } from "../../event.ts";
import type { UsageReport } from "../../usage.ts";
import { toUniqueCallId } from "../call-id.ts";
import type { Draft } from "../draft.ts";
import type { Frame } from "../protocol.ts";
import { asRecord, asString } from "../../json.ts";
import { findStreamError } from "../stream-error.ts";

export function step(draft: Draft, frame: Frame): AssistantMessageEvent[] {
  const data = asRecord(frame.data);
  const index = typeof data["index"] === "number" ? data["index"] : 0;
  switch (data["type"] ?? frame.event) {
    case "message_start": {
      const message = asRecord(data["message"]);
      draft.identify({ responseId: message["id"], responseModel: message["model"] });
      draft.usage(readUsage(message["usage"]));
      break;
    }
    case "content_block_start":
      openBlock(draft, index, asRecord(data["content_block"]));
      break;
    case "content_block_delta":
      extendBlock(draft, index, asRecord(data["delta"]));
      break;
    case "content_block_stop":
      draft.close(index);
      break;
    case "message_delta":
      draft.usage(readUsage(data["usage"]));
      readStop(draft, asRecord(data["delta"]));
      break;
    case "message_stop":
      if (draft.state.kind === "open") draft.stop("stop", "message_stop");
      draft.end();
      break;
    default: {
      const failure = findStreamError(frame);
      if (failure) draft.fail(failure);
    }
  }
  return draft.take();
}

function openBlock(draft: Draft, index: number, block: Record<string, unknown>): void {
  switch (block["type"]) {
    case "text":
      draft.close(index);
      draft.text(index, asString(block["text"]));
      return;
    case "thinking":
      draft.close(index);
      draft.thinking(index, asString(block["thinking"]));
      addSignature(draft, index, block["signature"]);
      return;
    case "redacted_thinking":
      draft.redactedThinking(index, asString(block["data"]));
      return;
    case "tool_use": {
      const name = asString(block["name"]);
      draft.toolCall(index, { id: toUniqueCallId(draft, asString(block["id"]), name), name });
      // Some compatible servers send the complete input here instead of deltas.
      const input = asRecord(block["input"]);
      if (Object.keys(input).length > 0) draft.argumentsDelta(index, JSON.stringify(input));
    }
  }
}

function extendBlock(draft: Draft, index: number, delta: Record<string, unknown>): void {
  switch (delta["type"]) {
    case "text_delta":
      draft.text(index, asString(delta["text"]));
      return;
    case "thinking_delta":
      draft.thinking(index, asString(delta["thinking"]));
      return;
    case "signature_delta":
      addSignature(draft, index, delta["signature"]);
      return;
    case "input_json_delta":
      draft.argumentsDelta(index, asString(delta["partial_json"]));
  }
}

function addSignature(draft: Draft, index: number, signature: unknown): void {
  const block = draft.block(index);
  if (block?.type !== "thinking" || !asString(signature)) return;
  block.thinkingSignature = (block.thinkingSignature ?? "") + asString(signature);
}

const stopReasons = new Map<string, "stop" | "length" | "toolUse">([
  ["end_turn", "stop"],
  ["tool_use", "toolUse"],
  ["max_tokens", "length"],
  ["pause_turn", "stop"],
  ["stop_sequence", "stop"],
]);

function readStop(draft: Draft, delta: Record<string, unknown>): void {
  const raw = asString(delta["stop_reason"]);
  if (!raw) return;
  if (raw === "refusal" || raw === "sensitive") {
    const explanation = asString(asRecord(delta["stop_details"])["explanation"]);
    draft.refuse(explanation || `The provider refused to answer (${raw}).`, raw);
  } else if (raw === "model_context_window_exceeded") draft.fillWindow(raw);
  else draft.stop(stopReasons.get(raw) ?? "stop", raw);
}

/** Counts only grow, so a zero says nothing: some servers end with zeros for what they counted at the start. */
function readUsage(value: unknown): UsageReport {
  const usage = asRecord(value);
  return {
    input: usage["input_tokens"] || undefined,
    output: usage["output_tokens"] || undefined,
    cacheRead: usage["cache_read_input_tokens"] || undefined,
    cacheWrite: usage["cache_creation_input_tokens"] || undefined,
    cacheWrite1h: asRecord(usage["cache_creation"])["ephemeral_1h_input_tokens"],
  };
}

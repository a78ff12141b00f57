import type { ToolCall } from "../../message.ts";
import { splitText, type ScriptedAnswer, getStopReason } from "../script.ts";
import { sse, type WireDialect } from "./dialect.ts";

const finishReasons = { stop: "stop", length: "length", toolUse: "tool_calls", refused: "content_filter" };

export const openaiCompletionsDialect: WireDialect = {
  api: "openai-completions",
  contentType: "text/event-stream; charset=utf-8",
  // OpenAI sends no pings; gateways send comments to keep the connection open.
  ping: new TextEncoder().encode(": processing\n\n"),
  answer(answer) {
    const chunk = (fields: object) =>
      sse({ id: answer.id, object: "chat.completion.chunk", created: 1, model: answer.model, usage: null, ...fields });
    const choice = (delta: object, finish_reason: string | null = null) =>
      chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
    const calls = answer.content.filter((block) => block.type === "toolCall");
    return [
      choice({ role: "assistant", content: "", refusal: null }),
      ...answer.content
        .flatMap((block) =>
          block.type === "toolCall" ? toCallDeltas(block, calls.indexOf(block)) : toTextDeltas(block),
        )
        .map((delta) => choice(delta)),
      choice({}, finishReasons[getStopReason(answer)]),
      chunk({ choices: [], usage: getUsage(answer) }),
      sse("[DONE]"),
    ];
  },
  streamError: (kind, message) =>
    sse({
      error:
        kind === "overloaded"
          ? { message, type: "server_error", param: null, code: null }
          : { message, type: "tokens", param: null, code: "rate_limit_exceeded" },
    }),
  errorBody(status, message) {
    const types: Record<number, string> = { 429: "tokens", 500: "server_error", 503: "server_error" };
    const codes: Record<number, string> = { 401: "invalid_api_key", 429: "rate_limit_exceeded" };
    return JSON.stringify({
      error: { message, type: types[status] ?? "invalid_request_error", param: null, code: codes[status] ?? null },
    });
  },
};

function toCallDeltas(call: ToolCall, index: number): object[] {
  const name = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
  const pieces = splitText(JSON.stringify(call.arguments)).map((json) => ({ index, function: { arguments: json } }));
  const deltas = [name, ...pieces].map((piece) => ({ tool_calls: [piece] }));
  if (call.thoughtSignature === undefined) return deltas;
  const detail = { type: "reasoning.encrypted", id: call.id, data: call.thoughtSignature };
  return [...deltas, { reasoning_details: [detail] }];
}

/** Thinking with a signature is sent as `reasoning_details`, like OpenRouter does; other thinking as text. */
function toTextDeltas(block: Exclude<ScriptedAnswer["content"][number], ToolCall>): object[] {
  if (block.type === "text") return splitText(block.text).map((content) => ({ content }));
  const { thinkingSignature } = block;
  if (thinkingSignature === undefined) {
    return splitText(block.thinking).map((reasoning_content) => ({ reasoning_content }));
  }
  if (block.redacted)
    return [{ reasoning_details: [{ type: "reasoning.encrypted", data: thinkingSignature, index: 0 }] }];
  const detail = (fields: object) => [{ type: "reasoning.text", format: "anthropic-claude-v1", index: 0, ...fields }];
  return [
    ...splitText(block.thinking).map((piece) => ({ reasoning: piece, reasoning_details: detail({ text: piece }) })),
    { reasoning: null, reasoning_details: detail({ signature: thinkingSignature }) },
  ];
}

function getUsage({ usage = {} }: ScriptedAnswer): object {
  const { input = 10, output = 5, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  const prompt_tokens = input + cacheRead + cacheWrite;
  return {
    prompt_tokens,
    completion_tokens: output,
    total_tokens: prompt_tokens + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

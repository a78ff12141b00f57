import { splitText, getStopReason } from "../script.ts";
import { sse, type WireDialect } from "./dialect.ts";

const stopReasons = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use", refused: "refusal" };

const event = (data: { type: string; [key: string]: unknown }) => sse(data, data.type);

export const anthropicMessagesDialect: WireDialect = {
  api: "anthropic-messages",
  contentType: "text/event-stream; charset=utf-8",
  ping: event({ type: "ping" }),
  answer(answer) {
    const { input = 10, output = 5, cacheRead = 0, cacheWrite = 0 } = answer.usage ?? {};
    const usage = { input_tokens: input, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite };
    const frames = [
      event({
        type: "message_start",
        message: {
          id: answer.id,
          type: "message",
          role: "assistant",
          model: answer.model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
    ];
    answer.content.forEach((block, index) => {
      const delta = (fields: { type: string; [key: string]: unknown }) =>
        event({ type: "content_block_delta", index, delta: fields });
      const open = (content_block: object) => event({ type: "content_block_start", index, content_block });
      if (block.type === "text") {
        frames.push(open({ type: "text", text: "" }));
        frames.push(...splitText(block.text).map((text) => delta({ type: "text_delta", text })));
      } else if (block.type === "toolCall") {
        frames.push(open({ type: "tool_use", id: block.id, name: block.name, input: {} }));
        const json = Object.keys(block.arguments).length > 0 ? JSON.stringify(block.arguments) : "";
        frames.push(delta({ type: "input_json_delta", partial_json: "" }));
        frames.push(...splitText(json).map((partial_json) => delta({ type: "input_json_delta", partial_json })));
      } else if (block.redacted) {
        frames.push(open({ type: "redacted_thinking", data: block.thinkingSignature ?? "" }));
      } else {
        frames.push(open({ type: "thinking", thinking: "", signature: "" }));
        frames.push(...splitText(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })));
        frames.push(delta({ type: "signature_delta", signature: block.thinkingSignature ?? "signature" }));
      }
      frames.push(event({ type: "content_block_stop", index }));
    });
    const stop_reason = stopReasons[getStopReason(answer)];
    frames.push(
      event({
        type: "message_delta",
        delta: { stop_reason, stop_sequence: null },
        usage: { ...usage, output_tokens: output },
      }),
    );
    frames.push(event({ type: "message_stop" }));
    return frames;
  },
  streamError: (kind, message) =>
    event({ type: "error", error: { type: kind === "overloaded" ? "overloaded_error" : "rate_limit_error", message } }),
  errorBody(status, message) {
    const types: Record<number, string> = {
      400: "invalid_request_error",
      401: "authentication_error",
      403: "permission_error",
      429: "rate_limit_error",
      529: "overloaded_error",
    };
    return JSON.stringify({ type: "error", error: { type: types[status] ?? "api_error", message } });
  },
};

import { splitText, type ScriptedAnswer, getStopReason } from "../script.ts";
import { sse, type WireDialect } from "./dialect.ts";

// Mistral documents no finish reason for a refusal; cloud providers that host its models send `content_filter`.
const finishReasons = { stop: "stop", length: "length", toolUse: "tool_calls", refused: "content_filter" };

export const mistralConversationsDialect: WireDialect = {
  api: "mistral-conversations",
  contentType: "text/event-stream; charset=utf-8",
  // Mistral sends no pings; gateways send comments to keep the connection open.
  ping: new TextEncoder().encode(": ping\n\n"),
  answer(answer) {
    const chunk = (delta: object, finish_reason: string | null = null, extra: object = {}) =>
      sse({
        id: answer.id,
        object: "chat.completion.chunk",
        created: 1,
        model: answer.model,
        choices: [{ index: 0, delta, finish_reason, logprobs: null }],
        ...extra,
      });
    const calls = answer.content.filter((block) => block.type === "toolCall");
    return [
      chunk({ role: "assistant", content: "" }),
      ...answer.content.flatMap(toDeltas).map((delta) => chunk(delta)),
      // Each call is sent in one chunk, with its index.
      ...calls.map(({ id, name, arguments: args }, index) =>
        chunk({ tool_calls: [{ id, function: { name, arguments: JSON.stringify(args) }, index }] }),
      ),
      chunk({ content: "" }, finishReasons[getStopReason(answer)], { usage: getUsage(answer) }),
      sse("[DONE]"),
    ];
  },
  streamError: (kind, message) =>
    sse({
      object: "error",
      message,
      type: kind === "overloaded" ? "internal_server_error" : "rate_limit_exceeded",
      param: null,
      code: null,
    }),
  errorBody(status, message) {
    // The gateway in front of the API sends these.
    if (status === 401 || status === 403) return JSON.stringify({ message, request_id: "r-1" });
    const types: Record<number, string> = {
      429: "rate_limited",
      500: "internal_server_error",
      503: "service_unavailable",
    };
    const type = types[status] ?? "invalid_request_error";
    return JSON.stringify({ object: "error", message, type, param: null, code: null });
  },
};

function toDeltas(block: ScriptedAnswer["content"][number]): object[] {
  if (block.type === "toolCall") return [];
  if (block.type === "text") return splitText(block.text).map((content) => ({ content }));
  const part = (text: string[], fields: object = {}) => ({
    content: [{ type: "thinking", thinking: text.map((piece) => ({ type: "text", text: piece })), ...fields }],
  });
  return [
    ...splitText(block.thinking).map((piece) => part([piece])),
    ...(block.thinkingSignature === undefined ? [] : [part([], { signature: block.thinkingSignature })]),
  ];
}

function getUsage({ usage = {} }: ScriptedAnswer): object {
  const { input = 10, output = 5, cacheRead = 0 } = usage;
  return {
    prompt_tokens: input + cacheRead,
    completion_tokens: output,
    total_tokens: input + cacheRead + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}

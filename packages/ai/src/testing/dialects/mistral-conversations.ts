import { pieces, type ScriptedAnswer, getStopReason } from "../script.ts";
import { sse, type WireDialect } from "./dialect.ts";

// Mistral itself documents no word for a refusal; clouds that serve its models stop with `content_filter`.
const finishReasons = { stop: "stop", length: "length", toolUse: "tool_calls", refused: "content_filter" };

export const mistralConversationsDialect: WireDialect = {
  api: "mistral-conversations",
  contentType: "text/event-stream; charset=utf-8",
  // Mistral sends none; gateways keep the line open with a comment.
  ping: new TextEncoder().encode(": ping\n\n"),
  answer(answer) {
    const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) =>
      sse({
        id: answer.id,
        object: "chat.completion.chunk",
        created: 1,
        model: answer.model,
        choices: [{ index: 0, delta, finish_reason, logprobs: null }],
        ...rest,
      });
    const calls = answer.content.filter((block) => block.type === "toolCall");
    return [
      chunk({ role: "assistant", content: "" }),
      ...answer.content.flatMap(deltas).map((delta) => chunk(delta)),
      // Calls come whole, each with its place in the list.
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
    // The gateway in front of the API answers these itself.
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

function deltas(block: ScriptedAnswer["content"][number]): object[] {
  if (block.type === "toolCall") return [];
  if (block.type === "text") return pieces(block.text).map((content) => ({ content }));
  const part = (text: string[], fields: object = {}) => ({
    content: [{ type: "thinking", thinking: text.map((piece) => ({ type: "text", text: piece })), ...fields }],
  });
  return [
    ...pieces(block.thinking).map((piece) => part([piece])),
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

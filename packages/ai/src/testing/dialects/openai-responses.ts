import type { AssistantMessage } from "../../message.ts";
import { splitText, type ScriptedAnswer, getStopReason } from "../script.ts";
import { sse, type WireDialect } from "./dialect.ts";

type ResponsesApi = "openai-responses" | "azure-openai-responses" | "openai-codex-responses";
type Answer = Parameters<WireDialect["answer"]>[0];
type Block = AssistantMessage["content"][number];
type Event = { type: string; [key: string]: unknown };
type Item = Event & { id: string };

/** OpenAI, Azure and Codex send the same responses. */
export const openaiResponsesDialect = (api: ResponsesApi): WireDialect => ({
  api,
  contentType: "text/event-stream; charset=utf-8",
  ping: new TextEncoder().encode(": keepalive\n\n"),
  answer: (answer) => toEvents(answer).map((event, index) => sse({ ...event, sequence_number: index }, event.type)),
  streamError: (kind, message) =>
    sse(
      {
        type: "error",
        sequence_number: 99,
        code: kind === "overloaded" ? "server_error" : "rate_limit_exceeded",
        message,
        param: null,
      },
      "error",
    ),
  errorBody(status, message) {
    const types: Record<number, string> = {
      400: "invalid_request_error",
      401: "authentication_error",
      403: "permission_error",
      429: "rate_limit_error",
    };
    return JSON.stringify({ error: { message, type: types[status] ?? "server_error", param: null, code: null } });
  },
});

function toEvents(answer: Answer): Event[] {
  const output = answer.content.map(getItem);
  return [
    { type: "response.created", response: createResponse(answer, { status: "in_progress", output: [], usage: null }) },
    ...answer.content.flatMap((block, index) => toItemEvents(block, index, output[index]!)),
    toLastEvent(answer, output),
  ];
}

function toLastEvent(answer: Answer, output: object[]): Event {
  const reason = { length: "max_output_tokens", refused: "content_filter", stop: null, toolUse: null }[
    getStopReason(answer)
  ];
  const status = reason === null ? "completed" : "incomplete";
  const incomplete_details = reason === null ? null : { reason };
  return {
    type: `response.${status}`,
    response: createResponse(answer, { status, incomplete_details, output, usage: getUsage(answer) }),
  };
}

const createResponse = (answer: Answer, fields: { status: string; output: object[]; [key: string]: unknown }) => ({
  id: answer.id,
  object: "response",
  created_at: 1_700_000_000,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: answer.model,
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  ...fields,
});

function getUsage(answer: ScriptedAnswer) {
  const { input = 10, output = 5, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = answer.usage ?? {};
  const prompt = input + cacheRead + cacheWrite;
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + output,
  };
}

/** The complete item. */
function getItem(block: Block, index: number): Item {
  switch (block.type) {
    case "text":
      return {
        type: "message",
        id: `msg_${index}`,
        role: "assistant",
        status: "completed",
        content: [createOutputText(block.text)],
      };
    case "toolCall":
      return {
        type: "function_call",
        id: `fc_${index}`,
        call_id: block.id,
        name: block.name,
        arguments: JSON.stringify(block.arguments),
        status: "completed",
      };
    case "thinking":
      return {
        type: "reasoning",
        id: `rs_${index}`,
        summary: block.thinking ? [{ type: "summary_text", text: block.thinking }] : [],
        encrypted_content: block.thinkingSignature ?? "encrypted",
      };
  }
}

const createOutputText = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

/** The events of one item, from `added` to `done`. */
function toItemEvents(block: Block, index: number, item: Item): Event[] {
  const itemRef = { output_index: index, item_id: item.id };
  const wrap = (initialItem: object, inner: Event[]): Event[] => [
    { type: "response.output_item.added", output_index: index, item: initialItem },
    ...inner,
    { type: "response.output_item.done", output_index: index, item },
  ];
  switch (block.type) {
    case "text": {
      const part = { ...itemRef, content_index: 0 };
      return wrap({ ...item, status: "in_progress", content: [] }, [
        { type: "response.content_part.added", ...part, part: createOutputText("") },
        ...splitText(block.text).map((delta) => ({ type: "response.output_text.delta", ...part, delta, logprobs: [] })),
        { type: "response.output_text.done", ...part, text: block.text, logprobs: [] },
        { type: "response.content_part.done", ...part, part: createOutputText(block.text) },
      ]);
    }
    case "toolCall": {
      const json = JSON.stringify(block.arguments);
      return wrap({ ...item, status: "in_progress", arguments: "" }, [
        ...splitText(json).map((delta) => ({ type: "response.function_call_arguments.delta", ...itemRef, delta })),
        { type: "response.function_call_arguments.done", ...itemRef, name: block.name, arguments: json },
      ]);
    }
    case "thinking": {
      const initialItem = { type: "reasoning", id: item.id, summary: [] };
      if (!block.thinking) return wrap(initialItem, []);
      const part = { ...itemRef, summary_index: 0 };
      const summary = (text: string) => ({ type: "summary_text", text });
      return wrap(initialItem, [
        { type: "response.reasoning_summary_part.added", ...part, part: summary("") },
        ...splitText(block.thinking).map((delta) => ({
          type: "response.reasoning_summary_text.delta",
          ...part,
          delta,
        })),
        { type: "response.reasoning_summary_text.done", ...part, text: block.thinking },
        { type: "response.reasoning_summary_part.done", ...part, part: summary(block.thinking) },
      ]);
    }
  }
}

/** Cloudflare Workers AI as a custom provider, and as a server. Both are written from Cloudflare's documentation. */
import type { ChatCompletionResponse, ChatMessage, Provider, StreamChunk } from "../src/custom-definition.ts";
import type { KnownApi } from "../src/model.ts";
import { type WireDialect, sse } from "../src/testing/dialects/dialect.ts";
import { splitText, getStopReason } from "../src/testing/script.ts";

export interface CloudflareConfig {
  accountId: string;
  apiKey: string;
  baseUrl?: string;
  stream?: boolean;
}

interface CloudflareResponse {
  result: { response: string; usage?: { prompt_tokens?: number; completion_tokens?: number } };
  success: boolean;
  errors?: { code: number; message: string }[];
}

export const cloudflareAIProvider: Provider<CloudflareConfig> = {
  name: "cloudflare-ai",
  displayName: "Cloudflare Workers AI",
  models: [
    { id: "@cf/meta/llama-3-8b-instruct", name: "Llama 3 8B" },
    { id: "@cf/google/gemma-7b-instruct", name: "Gemma 7B", contextWindow: 8_192 },
  ],
  defaultModel: "@cf/meta/llama-3-8b-instruct",
  auth: { type: "api-key", header: "Authorization", prefix: "Bearer", envVar: "CLOUDFLARE_API_KEY" },
  buildRequest: (config: CloudflareConfig, model: string, messages: ChatMessage[]) => ({
    url: `${config.baseUrl ?? "https://api.cloudflare.com/client/v4"}/accounts/${config.accountId}/ai/run/${model}`,
    method: "POST",
    headers: { Authorization: `Bearer ${config.apiKey}`, "Content-Type": "application/json" },
    body: {
      messages: messages.map(({ role, content }) => ({ role, content })),
      stream: config.stream ?? false,
      max_tokens: 4096,
    },
  }),
  parseResponse: (response: CloudflareResponse): ChatCompletionResponse => {
    if (!response.success) {
      throw new Error(`Cloudflare AI error: ${response.errors?.map(({ message }) => message).join(", ")}`);
    }
    const { prompt_tokens = 0, completion_tokens = 0 } = response.result.usage ?? {};
    return {
      content: response.result.response,
      model: "unknown",
      usage: { inputTokens: prompt_tokens, outputTokens: completion_tokens },
      finishReason: "stop",
    };
  },
  parseStreamChunk: (chunk: string): StreamChunk | null => {
    if (!chunk.startsWith("data: ")) return null;
    if (chunk === "data: [DONE]") return null;
    const data = JSON.parse(chunk.slice(6)) as {
      response?: string;
      finish_reason?: string;
      usage?: { prompt_tokens: number; completion_tokens: number };
      errors?: { message: string }[];
    };
    if (data.errors) throw new Error(data.errors.map(({ message }) => message).join(", "));
    return {
      delta: data.response ?? "",
      done: false,
      ...(data.finish_reason && { finishReason: data.finish_reason }),
      ...(data.usage && {
        usage: { inputTokens: data.usage.prompt_tokens, outputTokens: data.usage.completion_tokens },
      }),
    };
  },
  errorMap: {
    401: "Invalid Cloudflare API key",
    403: "Account ID or permissions error",
    429: "Rate limited: try a smaller model or wait",
    500: "Cloudflare AI service error",
    503: "Cloudflare AI temporarily unavailable",
  },
};

const failed = (code: number, message: string) => ({
  result: null,
  success: false,
  errors: [{ code, message }],
  messages: [],
});

/** A whole answer, as the REST API wraps it. */
export const cloudflareAnswer = (response: string, usage = { prompt_tokens: 9, completion_tokens: 4 }) =>
  JSON.stringify({ result: { response, usage }, success: true, errors: [], messages: [] });

export const cloudflareFailure = (code: number, message: string) => JSON.stringify(failed(code, message));

/** Streams as Workers AI does: one piece an event, usage with the last, `[DONE]` at the end. Text only. */
export const cloudflareDialect: WireDialect = {
  api: "custom:cloudflare-ai" as KnownApi,
  contentType: "text/event-stream",
  answer(answer) {
    const said = answer.content.flatMap((block) => (block.type === "text" ? splitText(block.text) : []));
    const reason = { stop: "stop", toolUse: "stop", length: "length", refused: "content_filter" }[
      getStopReason(answer)
    ];
    return [
      ...said.map((response) => sse({ response, p: "abdefgh" })),
      sse({
        response: "",
        finish_reason: reason,
        usage: { prompt_tokens: answer.usage?.input ?? 0, completion_tokens: answer.usage?.output ?? 0 },
      }),
      sse("[DONE]"),
    ];
  },
  ping: new TextEncoder().encode(": ping\n\n"),
  streamError: (kind, message) =>
    sse(failed(3040, `${kind === "overloaded" ? "overloaded" : "rate limit"}: ${message}`)),
  errorBody: (status, message) => JSON.stringify(failed(status, message)),
};

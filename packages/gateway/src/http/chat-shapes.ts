/** Answers to chat completions, as OpenAI's clients expect them. Pure. */
import type { GatewayFault } from "@tau/protocol/gateway";
import type { WireUsage } from "@tau/protocol";

export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
}

export const noUsage: ChatUsage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_tokens_details: { cached_tokens: 0 },
};

/** The input counts what is read from a cache and written to it, as OpenAI's does. */
export function addUsage(sum: ChatUsage, usage: WireUsage): ChatUsage {
  const { inputTokens, outputTokens, cacheReadTokens = 0 } = usage;
  const prompt = sum.prompt_tokens + inputTokens;
  const completion = sum.completion_tokens + outputTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: sum.prompt_tokens_details.cached_tokens + cacheReadTokens },
  };
}

/** Fields that all parts of an answer share. `created` is in seconds. */
export interface ChatHead {
  id: string;
  created: number;
  model: string;
}

export type FinishReason = "stop" | "length";

export interface ChatAnswer {
  text: string;
  finishReason: FinishReason;
  usage: ChatUsage;
}

export const toCompletion = (head: ChatHead, { text, finishReason, usage }: ChatAnswer) => ({
  ...head,
  object: "chat.completion",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: text, refusal: null },
      logprobs: null,
      finish_reason: finishReason,
    },
  ],
  usage,
});

type ChunkDelta = { role: "assistant"; content: string } | { content: string } | Record<never, never>;

export const toChunk = (head: ChatHead, delta: ChunkDelta, finishReason: FinishReason | null = null) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
});

export const toUsageChunk = (head: ChatHead, usage: ChatUsage) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [],
  usage,
});

const errorTypes: Readonly<Record<string, string>> = {
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  rate_limited: "rate_limit_error",
  internal: "server_error",
  unavailable: "server_error",
  write_failed: "server_error",
  run_failed: "server_error",
  aborted: "server_error",
  unknown_outcome: "server_error",
};

export const toChatError = ({ code, message }: Pick<GatewayFault, "code" | "message">) => ({
  error: { message, type: errorTypes[code] ?? "invalid_request_error", param: null, code },
});

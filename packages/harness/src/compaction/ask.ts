/** Asks a model for a summary. Failures are values. */
import type { StreamFn } from "@tau/agent";
import {
  type AssistantMessage,
  emptyUsage,
  type Failure,
  isContextOverflow,
  type Model,
  type SimpleStreamOptions,
  systemClock,
  type Usage,
} from "@tau/ai";
import { classifyThrown, createAssistantMessage, getFailure, untilAborted, withFailure } from "@tau/ai/internal";
import { addUsage } from "../budget/usage.ts";
import { plainText } from "./serialise.ts";

/** The model that writes summaries. */
export interface Summariser {
  model: Model;
  streamFn: StreamFn;
  /** Ends the work at once, even if the stream function ignores it. */
  signal?: AbortSignal | undefined;
  /** For every request: keys, headers, retries. */
  requestOptions?: Omit<SimpleStreamOptions, "signal" | "maxTokens"> | undefined;
}

type Answer = { usage: Usage } & (
  | { kind: "text"; text: string }
  /** The request was too long. */
  | { kind: "overflow"; failure: Failure }
  | { kind: "failed"; failure: Failure }
  | { kind: "aborted" }
);

interface Question {
  systemPrompt: string;
  prompt: string;
  maxTokens: number;
}

export async function ask(summariser: Summariser, question: Question): Promise<Answer> {
  const { model, signal } = summariser;
  const usage = emptyUsage();
  if (signal?.aborted) return { kind: "aborted", usage };
  try {
    const outcome = await untilAborted(request(summariser, question), signal);
    if (outcome.kind === "aborted") return { kind: "aborted", usage };
    const message: unknown = outcome.value;
    if (typeof message !== "object" || message === null)
      return { kind: "failed", failure: unknownFailure("The model's stream ended without an answer."), usage };
    return toAnswer(message as AssistantMessage, model);
  } catch (error) {
    if (signal?.aborted) return { kind: "aborted", usage };
    return toAnswer(withFailure(createAssistantMessage(model, 0), classifyThrown(error)), model);
  }
}

function toAnswer(message: AssistantMessage, model: Model): Answer {
  // A custom stream function may count nothing.
  const usage = addUsage(emptyUsage(), message.usage ?? {});
  if (message.stopReason === "aborted") return { kind: "aborted", usage };
  const isFailed = message.stopReason === "error";
  if (isContextOverflow({ ...message, usage }, model.contextWindow)) {
    const tooLong: Failure = {
      kind: "context_overflow",
      message: "The conversation is longer than the model's context.",
    };
    return { kind: "overflow", failure: isFailed ? getFailure(message) : tooLong, usage };
  }
  if (isFailed) return { kind: "failed", failure: getFailure(message), usage };
  const text = plainText(message.content);
  if (text !== "") return { kind: "text", text, usage };
  return { kind: "failed", failure: unknownFailure("The model answered without a summary."), usage };
}

const unknownFailure = (message: string): Failure => ({ kind: "unknown", message });

async function request(
  { model, streamFn, signal, requestOptions }: Summariser,
  { systemPrompt, prompt, maxTokens }: Question,
): Promise<AssistantMessage> {
  const timestamp = (requestOptions?.clock ?? systemClock).now();
  const stream = await streamFn(
    model,
    { systemPrompt, messages: [{ role: "user", content: [{ type: "text", text: prompt }], timestamp }] },
    // The same prompt is never sent again, so caching it would only cost money.
    { cacheRetention: "none", ...requestOptions, maxTokens, ...(signal && { signal }) },
  );
  return await stream.result();
}

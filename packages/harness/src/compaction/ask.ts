/** One request for a summary. Whatever goes wrong with it is a value. */
import type { StreamFn } from "@tau/agent";
import {
  type AssistantMessage,
  emptyUsage,
  type Failure,
  isContextOverflow,
  getErrorMessage,
  type Model,
  type SimpleStreamOptions,
  systemClock,
  type Usage,
} from "@tau/ai";
import { plainText } from "./serialise.ts";

/** Who writes summaries. */
export interface Summariser {
  model: Model;
  streamFn: StreamFn;
  /** Ends the work at once, also when the stream function does not look at it. */
  signal?: AbortSignal | undefined;
  /** For every request: keys, headers, retries. */
  requestOptions?: Omit<SimpleStreamOptions, "signal" | "maxTokens"> | undefined;
}

export type Answer = { usage: Usage } & (
  | { kind: "text"; text: string }
  /** The request did not fit. */
  | { kind: "overflow"; failure: Failure }
  | { kind: "failed"; failure: Failure }
  | { kind: "aborted" }
);

export interface Question {
  systemPrompt: string;
  prompt: string;
  maxTokens: number;
}

export async function ask(summariser: Summariser, question: Question): Promise<Answer> {
  const { model, signal } = summariser;
  if (signal?.aborted) return { kind: "aborted", usage: emptyUsage() };
  const settled = await untilAborted(request(summariser, question), signal);
  if (settled.kind === "aborted") return { kind: "aborted", usage: emptyUsage() };
  if (settled.kind === "failed") {
    return {
      kind: "failed",
      failure: { kind: "unknown", message: getErrorMessage(settled.error) },
      usage: emptyUsage(),
    };
  }
  const message = wholeAnswer(settled.value);
  if (!message) return { kind: "failed", failure: noAnswer, usage: emptyUsage() };
  const { usage } = message;
  if (message.stopReason === "aborted") return { kind: "aborted", usage };
  const reason = message.errorMessage ?? "The model gave no reason.";
  if (isContextOverflow(message, model.contextWindow)) {
    return { kind: "overflow", failure: message.failure ?? { kind: "context_overflow", message: reason }, usage };
  }
  const failure = message.failure ?? { kind: "unknown", message: reason };
  if (message.stopReason === "error") return { kind: "failed", failure, usage };
  const text = plainText(message.content);
  if (text !== "") return { kind: "text", text, usage };
  return { kind: "failed", failure: { kind: "unknown", message: "The model answered without a summary." }, usage };
}

const noAnswer: Failure = { kind: "unknown", message: "The model's stream ended without an answer." };

/** A stream function may be anybody's, and say less than it should: what it did not count is nothing. */
function wholeAnswer(answer: Partial<AssistantMessage> | null | undefined): AssistantMessage | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  return { ...(answer as AssistantMessage), usage: addUsage(emptyUsage(), answer.usage ?? {}) };
}

async function request(
  summariser: Summariser,
  { systemPrompt, prompt, maxTokens }: Question,
): Promise<AssistantMessage> {
  const { model, streamFn, signal, requestOptions } = summariser;
  const timestamp = (requestOptions?.clock ?? systemClock).now();
  const stream = await streamFn(
    model,
    { systemPrompt, messages: [{ role: "user", content: [{ type: "text", text: prompt }], timestamp }] },
    // Nobody asks the same again: what is cached is paid for in vain.
    { cacheRetention: "none", ...requestOptions, maxTokens, ...(signal && { signal }) },
  );
  return await stream.result();
}

type Settled<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "aborted" };

/** Waits for work that may never look at the signal. What it does later is not looked at. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<Settled<T>> {
  return new Promise((resolve) => {
    const finish = (settled: Settled<T>) => {
      signal?.removeEventListener("abort", onAbort);
      resolve(settled);
    };
    const onAbort = () => finish({ kind: "aborted" });
    signal?.addEventListener("abort", onAbort, { once: true });
    work.then(
      (value) => finish({ kind: "done", value }),
      (error: unknown) => finish({ kind: "failed", error }),
    );
  });
}

/** Adds what a request cost to what was spent before. */
export function addUsage(spent: Usage, usage: Partial<Usage>): Usage {
  const cost = { ...spent.cost };
  for (const key of Object.keys(cost) as (keyof Usage["cost"])[]) cost[key] += amount(usage.cost?.[key]);
  const sum: Usage = { ...spent, cost };
  for (const key of ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const) {
    sum[key] += amount(usage[key]);
  }
  for (const key of ["reasoning", "cacheWrite1h"] as const) {
    const tokens = (spent[key] ?? 0) + amount(usage[key]);
    if (tokens > 0) sum[key] = tokens;
  }
  return sum;
}

const amount = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

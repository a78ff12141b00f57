import type { StreamFn } from "@tau/agent";
import { type AssistantMessage, AssistantMessageEventStream, emptyUsage, type Model } from "@tau/ai";

export const houseModel: Model = {
  id: "small",
  name: "Small",
  provider: "house",
  api: "house",
  baseUrl: "https://models.example",
  reasoning: false,
  input: ["text"],
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, // dollars for a million tokens
  contextWindow: 32_000,
  maxTokens: 4_000,
};

/** A stream function over a service that answers with pieces of text. */
export const createStreamFn =
  (request: (prompt: string, signal?: AbortSignal) => AsyncIterable<string>): StreamFn =>
  (model, { messages }, options) => {
    const stream = new AssistantMessageEventStream();
    const answer: AssistantMessage = {
      role: "assistant",
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: emptyUsage(),
      stopReason: "stop",
      timestamp: Date.now(),
    };
    const send = async () => {
      stream.push({ type: "start", partial: answer });
      const block = { type: "text" as const, text: "" };
      answer.content.push(block);
      stream.push({ type: "text_start", contentIndex: 0, partial: answer });
      for await (const delta of request(JSON.stringify(messages), options?.signal)) {
        block.text += delta;
        stream.push({ type: "text_delta", contentIndex: 0, delta, partial: answer });
      }
      stream.push({ type: "text_end", contentIndex: 0, content: block.text, partial: answer });
      stream.push({ type: "done", reason: "stop", message: answer });
    };
    send().catch((error: unknown) => {
      const reason = options?.signal?.aborted ? "aborted" : "error";
      const failed: AssistantMessage = { ...answer, stopReason: reason, errorMessage: String(error) };
      stream.push({ type: "error", reason, error: failed });
    });
    return stream;
  };

/** Messages are prepared once and used by many requests: what a hook does to one payload must not reach the next. */
import { expect, onTestFinished, test } from "vitest";
import type { Context } from "../src/context.ts";
import type { Model } from "../src/model.ts";
import { completeSimple } from "../src/stream.ts";
import { startWireServer, text, type WireReply } from "../src/testing/index.ts";
import { emptyUsage } from "../src/usage.ts";

const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };

const createModel = (api: string, baseUrl: string): Model => ({
  id: "claude-sonnet-4-5",
  name: "Test",
  api,
  provider: "test",
  baseUrl,
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1_000,
});

const createContext = (api: string): Context => ({
  systemPrompt: "Be brief.",
  messages: [
    { role: "user", content: [{ type: "text", text: "Look at this." }, image], timestamp: 1 },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I should look.", thinkingSignature: "c2ln" },
        { type: "text", text: "I look." },
        { type: "toolCall", id: "call_1", name: "look", arguments: { at: { path: "a.txt" } } },
      ],
      api,
      provider: "test",
      model: "claude-sonnet-4-5",
      usage: emptyUsage(),
      stopReason: "toolUse",
      timestamp: 2,
    },
    {
      role: "toolResult",
      toolCallId: "call_1",
      toolName: "look",
      content: [{ type: "text", text: "It is an apple." }, image],
      isError: false,
      timestamp: 3,
    },
    { role: "user", content: "And now?", timestamp: 4 },
  ],
});

/** Adds a field to every object, and an item to every list. */
function spoil(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) spoil(inner);
  if (Array.isArray(value)) value.push("spoilt");
  else Object.assign(value, { spoilt: true });
}

for (const api of ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"] as const) {
  test(`${api}: what onPayload changes is sent, and is not in the next request`, async () => {
    const answer: WireReply = { kind: "answer", answer: { content: [text("Done.")] } };
    const server = await startWireServer(api, [answer, answer, answer]);
    onTestFinished(() => server.close());
    const [model, context] = [createModel(api, server.url), createContext(api)];
    const stored = structuredClone(context.messages);
    const ask = (onPayload?: (payload: unknown) => void) =>
      completeSimple(model, context, { apiKey: "test-key-0123456789", ...(onPayload && { onPayload }) });
    await ask();
    await ask(spoil);
    await ask();
    const [first, second, third] = server.requests.map(({ body }) => body);
    expect(JSON.stringify(second)).toContain("spoilt");
    expect(third).toEqual(first);
    expect(context.messages).toEqual(stored);
  });
}

import fc from "fast-check";
import { expect, test } from "vitest";
import { handOff, type HandoffRules } from "./handoff.ts";
import type { AssistantMessage, Message, ToolCall } from "./message.ts";
import type { Model } from "./model.ts";
import { emptyUsage } from "./usage.ts";
import { unwrapToolCall, wrapToolCall } from "./wrapped-call.ts";

const call = (args: Record<string, unknown>): ToolCall => ({
  type: "toolCall",
  id: "1",
  name: "call_tool",
  arguments: args,
});

test.each([
  [{ name: "mcp__docs__search", arguments: { query: "a" } }, { query: "a" }],
  [{ name: "mcp__docs__search", arguments: '{"query":"a"}' }, { query: "a" }],
  [{ name: "mcp__docs__search", arguments: "" }, {}],
  [{ name: "mcp__docs__search" }, {}],
  [{ name: "mcp__docs__search", query: "a" }, { query: "a" }],
  [JSON.parse('{"name":"x","arguments":{"__proto__":{"a":1}}}'), JSON.parse('{"__proto__":{"a":1}}')],
])("%j names a tool and its arguments", (args: Record<string, unknown>, inner) => {
  const unwrapped = unwrapToolCall(call(args));
  expect(unwrapped).toMatchObject({ id: "1", name: args["name"], via: "call_tool" });
  expect(JSON.stringify(unwrapped.arguments)).toBe(JSON.stringify(inner));
});

test.each([
  [{}],
  [{ name: "" }],
  [{ name: 1, arguments: {} }],
  [{ name: "x", arguments: [] }],
  [{ name: "x", arguments: "no JSON" }],
  [{ name: "x", arguments: null }],
])("%j names no tool, and stays as it is", (args) => {
  const wrapped = call(args);
  expect(unwrapToolCall(wrapped)).toBe(wrapped);
});

test("a call is unwrapped once, and not at all if its arguments were malformed", () => {
  const inner = unwrapToolCall(call({ name: "call_tool", arguments: { name: "x" } }));
  expect(unwrapToolCall(inner)).toBe(inner);
  const malformed = { ...call({ name: "x" }), argumentsError: "no JSON" };
  expect(unwrapToolCall(malformed)).toBe(malformed);
});

test("wrapping gives the call of the model again", () => {
  const args = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), args, (name, inner) => {
      const wrapped = call({ name, arguments: inner });
      expect(wrapToolCall(unwrapToolCall(wrapped))).toEqual(wrapped);
    }),
  );
});

test("requests show the call that the model made, and its result under that name", () => {
  const model: Model = {
    id: "target",
    name: "Target",
    api: "google-generative-ai",
    provider: "google",
    baseUrl: "",
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000,
    maxTokens: 100,
  };
  const rules: HandoffRules = { toolCallId: (id) => id, imageTypes: [], maxImageCharacters: 0, userFirst: false };
  const made = call({ name: "a name with spaces", arguments: { query: "a" } });
  const answer: AssistantMessage = {
    role: "assistant",
    content: [unwrapToolCall(made)],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: emptyUsage(),
    stopReason: "toolUse",
    timestamp: 1,
  };
  const result: Message = {
    role: "toolResult",
    toolCallId: "1",
    toolName: "a name with spaces",
    content: [{ type: "text", text: "ok" }],
    isError: false,
    timestamp: 2,
  };
  const [sent, answered] = handOff([answer, result], model, rules);
  expect(sent?.content).toEqual([made]);
  expect(answered).toMatchObject({ toolCallId: "1", toolName: "call_tool" });
  const damaged = { ...answer, content: [{ ...made, via: 5 } as unknown as ToolCall] };
  expect(handOff([damaged, result], model, rules)[0]?.content).toEqual([made]);
});

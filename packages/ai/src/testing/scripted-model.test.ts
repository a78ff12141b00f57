import { expect, onTestFinished, test } from "vitest";
import type { AssistantMessageEvent } from "../event.ts";
import { complete, streamSimple } from "../stream.ts";
import { createFakeClock } from "./fake-clock.ts";
import { assertGrammar } from "./provider-contract.ts";
import { call, text, thinking } from "./script.ts";
import { scriptedModel } from "./scripted-model.ts";

const context = { messages: [{ role: "user" as const, content: "hi", timestamp: 0 }] };

test("it answers with its script turn by turn, and records the requests", async () => {
  const model = scriptedModel([
    [thinking("Hm.", "sig"), call("read", { path: "a" }, "c1")],
    { content: [text("Done.")], stopReason: "length", usage: { input: 3, output: 4 } },
    (request, _options, turn) => [text(`turn ${turn}, ${request.messages.length} messages`)],
  ]);
  const events: AssistantMessageEvent[] = [];
  const stream = streamSimple(model, context);
  for await (const event of stream) events.push(event);
  assertGrammar(events);
  expect(await stream.result()).toMatchObject({
    stopReason: "toolUse",
    content: [
      { thinking: "Hm.", thinkingSignature: "sig" },
      { id: "c1", name: "read", arguments: { path: "a" } },
    ],
  });
  expect(await complete(model, context)).toMatchObject({
    stopReason: "length",
    usage: { input: 3, output: 4, totalTokens: 7 },
  });
  expect((await complete(model, context)).content).toEqual([text("turn 3, 1 messages")]);
  expect(model.asked.map((request) => request.context.messages.length)).toEqual([1, 1, 1]);
  expect(model.left).toBe(0);
  model.dispose();
});

test("a script that is too short is an error", async () => {
  const message = await complete(scriptedModel([]), context);
  expect(message.errorMessage).toMatch(/asked 1 times/);
});

test("it fails as scripted, after the scripted content", async () => {
  const failure = { kind: "rate_limited" as const, message: "slow down", retryAfterMs: 5 };
  const message = await complete(scriptedModel([{ failure, content: [text("I was")] }]), context);
  expect(message).toMatchObject({ stopReason: "error", errorMessage: "slow down", failure, content: [text("I was")] });
});

test("it sends deltas at the configured rate of the clock, and stops when the signal aborts", async () => {
  const clock = createFakeClock();
  const model = scriptedModel([[text("one two three four five")]], { tokensPerSecond: 10, delayMs: 500, clock });
  const abort = new AbortController();
  const events: AssistantMessageEvent[] = [];
  const reading = (async () => {
    for await (const event of streamSimple(model, context, { signal: abort.signal })) events.push(event);
  })();
  await clock.advance(499);
  expect(events).toEqual([]);
  await clock.advance(150);
  expect(events.filter(({ type }) => type === "text_delta").length).toBe(2);
  abort.abort();
  await reading;
  expect(events.at(-1)).toMatchObject({ type: "error", reason: "aborted" });
  assertGrammar(events);
});

test("it answers although the details of a tool contain a function, as a model does that is never sent them", async () => {
  const model = scriptedModel([[text("Done.")]]);
  const details = { retry: () => "again" };
  const result = {
    role: "toolResult" as const,
    toolCallId: "c1",
    toolName: "read",
    content: [text("a")],
    details,
    isError: false,
    timestamp: 0,
  };
  const messages = [...context.messages, result];
  expect(await complete(model, { messages })).toMatchObject({ stopReason: "stop" });
  expect(model.asked[0]?.context.messages).toEqual(messages);
});

test("two calls of one turn get different ids, unless the ids were given", async () => {
  const model = scriptedModel([
    [call("read", { path: "a" }), call("read", { path: "b" }), call("write", { path: "c" })],
    [call("read", { path: "a" }, "same"), call("read", { path: "b" }, "same")],
  ]);
  onTestFinished(() => model.dispose());
  const ids = async () => {
    const { content } = await complete(model, { messages: [] });
    return content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  };
  expect(await ids()).toEqual(["call_read_1", "call_read_1_2", "call_write_1"]);
  expect(await ids()).toEqual(["same", "same"]);
});

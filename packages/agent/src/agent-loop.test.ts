import { type Message, streamSimple } from "@tau/ai";
import { call, text, thinking } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { echo, last, runLoop, resultTexts, script, user } from "../test/loop-kit.ts";
import { runAgentLoop } from "./agent-loop.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentContext, AgentMessage, AgentTool } from "./types.ts";

describe("the order of events", () => {
  test("of a prompt without tool calls", async () => {
    const { lines, messages } = await runLoop(script([text("4")]));
    expect(lines).toEqual([
      "agent_start",
      "turn_start",
      "message_start user",
      "message_end user",
      "message_start assistant",
      "message_end assistant",
      "turn_end 0",
      "agent_end",
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("of a tool call and the answer that follows it", async () => {
    const model = script([thinking("Hm."), call("echo", { value: "x" }, "c1")], [text("done")]);
    const { lines, messages } = await runLoop(model);
    expect(lines.slice(4)).toEqual([
      "message_start assistant",
      "message_end assistant",
      "tool_execution_start echo#c1",
      "tool_execution_end echo#c1",
      "message_start result#c1",
      "message_end result#c1",
      "turn_end 1",
      "turn_start",
      "message_start assistant",
      "message_end assistant",
      "turn_end 0",
      "agent_end",
    ]);
    expect(resultTexts(messages)).toEqual(["echo x"]);
    expect(model.asked[1]!.context.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
  });

  test("steering in a sequential batch skips the calls that are left, and the message follows in a new turn", async () => {
    const queue: AgentMessage[] = [];
    const busy: AgentTool = {
      ...echo,
      execute: async (_id, { value }) => {
        if (value === "1") queue.push(user("stop!"));
        return { content: [text(value)], details: {} };
      },
    };
    const model = script([call("echo", { value: "1" }, "a"), call("echo", { value: "2" }, "b")], [text("ok")]);
    const { lines, messages } = await runLoop(model, {
      tools: [busy],
      toolExecution: "sequential",
      getSteeringMessages: () => queue.splice(0),
    });
    expect(lines.slice(6)).toEqual([
      "tool_execution_start echo#a",
      "tool_execution_end echo#a",
      "message_start result#a",
      "message_end result#a",
      "tool_execution_start echo#b",
      "tool_execution_end echo#b error",
      "message_start result#b",
      "message_end result#b",
      "turn_end 2",
      "turn_start",
      "message_start user",
      "message_end user",
      "message_start assistant",
      "message_end assistant",
      "turn_end 0",
      "agent_end",
    ]);
    expect(resultTexts(messages)).toEqual(["1", "Skipped due to queued user message."]);
  });

  test("in a parallel batch no call is skipped, and results come in the order of the calls", async () => {
    const finished: string[] = [];
    const slow: AgentTool = {
      ...echo,
      execute: async (_id, { value }) => {
        if (value === "slow") await new Promise((resolve) => setImmediate(resolve));
        finished.push(value);
        return { content: [text(value)], details: {} };
      },
    };
    const queue = [user("by the way")];
    const model = script(
      [call("echo", { value: "slow" }, "a"), call("echo", { value: "fast" }, "b")],
      [text("ok")],
      [text("ok")],
    );
    let polls = 0;
    const { lines, messages } = await runLoop(model, {
      tools: [slow],
      getSteeringMessages: () => (polls++ === 0 ? [] : queue.splice(0)),
    });
    expect(finished).toEqual(["fast", "slow"]);
    expect(lines.filter((entry) => entry.startsWith("tool_execution_end"))).toEqual([
      "tool_execution_end echo#b",
      "tool_execution_end echo#a",
    ]);
    expect(resultTexts(messages)).toEqual(["slow", "fast"]);
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(2);
  });

  test("one sequential tool makes its batch sequential", async () => {
    const running: string[] = [];
    const tool = (name: string, executionMode: "parallel" | "sequential"): AgentTool => ({
      ...echo,
      name,
      executionMode,
      execute: async () => {
        running.push(`${name} starts`);
        await new Promise((resolve) => setImmediate(resolve));
        running.push(`${name} ends`);
        return { content: [text(name)], details: {} };
      },
    });
    const model = script([call("a", { value: "" }, "1"), call("b", { value: "" }, "2")], [text("ok")]);
    await runLoop(model, { tools: [tool("a", "parallel"), tool("b", "sequential")] });
    expect(running).toEqual(["a starts", "a ends", "b starts", "b ends"]);
  });

  test("follow-ups keep the run going, one turn each", async () => {
    const queue = [user("and then?"), user("and then?")];
    const model = script([text("1")], [text("2")], [text("3")]);
    const { lines } = await runLoop(model, { getFollowUpMessages: () => queue.splice(0, 1) });
    expect(lines.filter((entry) => entry === "turn_start")).toHaveLength(3);
    expect(lines.filter((entry) => entry === "agent_end")).toHaveLength(1);
  });

  test("steering that was queued before the run is added before the first request", async () => {
    const queue = [user("psst")];
    const model = script([text("ok")]);
    await runLoop(model, { getSteeringMessages: () => queue.splice(0) });
    expect(model.asked[0]!.context.messages.map(({ content }) => content)).toEqual(["go", "psst"]);
  });
});

describe("the request", () => {
  test("goes through transformContext and convertToLlm, with the current key of getApiKey", async () => {
    const keys = ["first", "second"];
    const model = script([call("echo", { value: "x" })], [text("ok")]);
    const seen: string[] = [];
    await runLoop(model, {
      apiKey: "fallback",
      getApiKey: async (provider) => {
        seen.push(provider);
        return keys.shift();
      },
      transformContext: async (messages) => [user("injected"), ...messages],
      convertToLlm: (messages) => (messages as Message[]).filter(({ role }) => role !== "assistant"),
      reasoning: "high",
      sessionId: "s",
    });
    expect(model.asked.map(({ options }) => options.apiKey)).toEqual(["first", "second"]);
    expect(model.asked[0]!.options).toMatchObject({ reasoning: "high", sessionId: "s" });
    expect(model.asked[1]!.context.messages.map(({ role }) => role)).toEqual(["user", "user", "toolResult"]);
    expect(model.asked[1]!.context.systemPrompt).toBe("Be brief.");
    expect(seen).toEqual(["scripted", "scripted"]);
  });

  test("uses the configured key if getApiKey returns none", async () => {
    const model = script([text("ok")]);
    await runLoop(model, { apiKey: "fallback", getApiKey: () => undefined });
    expect(model.asked[0]!.options.apiKey).toBe("fallback");
  });

  test("the partial answer is in the working context while it arrives, and replaced when it is complete", async () => {
    const model = script([text("one two three"), call("echo", { value: "x" }, "c")], [text("ok")]);
    let working: AgentMessage[] = [];
    await runLoop(model, {
      beforeToolCall: ({ context, assistantMessage }) => {
        working = context.messages;
        expect(context.messages.at(-1)).toBe(assistantMessage);
        return undefined;
      },
    });
    expect(working.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  });

  test("model, thinking level, context and tools may change between turns", async () => {
    const other = script([text("from another model")]);
    const model = script([call("echo", { value: "x" }, "c")]);
    const { messages } = await runLoop(model, {
      prepareNextTurn: ({ context, message, toolResults }) => {
        expect([message.stopReason, toolResults.length]).toEqual(["toolUse", 1]);
        return {
          model: other,
          thinkingLevel: "low",
          context: { systemPrompt: "New.", messages: context.messages.slice(-1), tools: [] },
        };
      },
    });
    expect(other.asked[0]).toMatchObject({
      options: { reasoning: "low" },
      context: { systemPrompt: "New.", tools: [] },
    });
    expect(other.asked[0]!.context.messages.map(({ role }) => role)).toEqual(["toolResult"]);
    expect(last(messages).content).toEqual([text("from another model")]);
  });

  test("shouldStopAfterTurn ends the run after its turn, before anything is polled", async () => {
    const model = script([call("echo", { value: "x" }, "c")]);
    let polls = 0;
    const { messages } = await runLoop(model, {
      shouldStopAfterTurn: ({ newMessages }) => newMessages.length === 3,
      getFollowUpMessages: () => {
        polls++;
        return [];
      },
    });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
    expect(polls).toBe(0);
  });
});

test("the loop does not change its arguments", async () => {
  const messages = [user("before")];
  const prompts = [user("go")];
  const tools = [echo];
  const context: AgentContext = { systemPrompt: "", messages, tools };
  const before = structuredClone({ messages, prompts });
  const model = script([call("echo", { value: "x" }, "c")], [text("ok")]);
  const steering = [[], [user("s")]];
  await runAgentLoop(
    prompts,
    context,
    {
      model,
      convertToLlm: defaultConvertToLlm,
      getSteeringMessages: () => steering.shift() ?? [],
    },
    () => {},
  );
  expect({ messages, prompts }).toEqual(before);
  expect(context.messages).toBe(messages);
  expect(tools).toEqual([echo]);
});

test("the messages of a request do not change after it was sent", async () => {
  const model = script([call("echo", { value: "x" }, "c")], [text("ok")]);
  const requests: Message[][] = [];
  const context: AgentContext = { systemPrompt: "", messages: [], tools: [echo] };
  await runAgentLoop(
    [user("go")],
    context,
    { model, convertToLlm: defaultConvertToLlm },
    () => {},
    undefined,
    (asked, llm, options) => {
      requests.push(llm.messages);
      return streamSimple(asked, llm, options);
    },
  );
  expect(requests.map(({ length }) => length)).toEqual([1, 3]);
});

test("the messages of a request may be changed without an effect on other requests", async () => {
  const kept: { messages: Message[] }[] = [];
  const model = script([call("echo", { value: "x" }, "c1")], [call("echo", { value: "y" }, "c2")], [text("done")]);
  const config = { model, convertToLlm: defaultConvertToLlm };
  const context: AgentContext = { systemPrompt: "", messages: [], tools: [echo] };
  await runAgentLoop(
    [user("go")],
    context,
    config,
    () => undefined,
    undefined,
    (asked, request, options) => {
      kept.push(request);
      return streamSimple(asked, { ...request }, options);
    },
  );
  expect(kept.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
  kept[0]!.messages.push(...kept[1]!.messages);
  expect(kept[1]!.messages).toHaveLength(3);
  kept[2]!.messages = [];
  expect(kept[2]!.messages).toEqual([]);
});

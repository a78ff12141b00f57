import {
  type AssistantMessage,
  AssistantMessageEventStream,
  emptyUsage,
  type ImageContent,
  type Message,
  streamSimple,
} from "@tau/ai";
import { call, createFakeClock, type ScriptedModel, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { afterEach, describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "./agent.ts";
import type { AgentEvent, AgentMessage, AgentTool } from "./types.ts";

const models: ScriptedModel[] = [];
afterEach(() => models.splice(0).forEach((model) => model.dispose()));

const script = (turns: ScriptedTurn[], tokensPerSecond?: number): ScriptedModel => {
  const model = scriptedModel(turns, tokensPerSecond ? { tokensPerSecond } : {});
  models.push(model);
  return model;
};

const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });

const tool = (execute: AgentTool["execute"]): AgentTool => ({
  name: "work",
  label: "Work",
  description: "",
  parameters: { type: "object", properties: {} },
  execute,
});

const start = (turns: ScriptedTurn[], options: AgentOptions = {}) => {
  const model = script(turns);
  const agent = new Agent({ ...options, initialState: { model, ...options.initialState } });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  return { agent, model, events, types: () => events.map(({ type }) => type) };
};

/** The transcript, one line per message. */
const transcript = (agent: Agent) =>
  (agent.state.messages as Message[]).map(({ role, content }) => {
    const blocks = typeof content === "string" ? [text(content)] : content;
    return `${role}: ${blocks.map((block) => (block.type === "text" ? block.text : block.type)).join(" ")}`;
  });

describe("prompting", () => {
  test("takes text, text with images, a message and messages", async () => {
    const image: ImageContent = { type: "image", data: "AAAA", mimeType: "image/png" };
    const { agent } = start([[text("1")], [text("2")], [text("3")], [text("4")]], { clock: createFakeClock(5) });
    await agent.prompt("plain");
    await agent.prompt("look", [image]);
    await agent.prompt(user("message"));
    await agent.prompt([user("first"), user("second")]);
    expect(transcript(agent)).toEqual([
      "user: plain",
      "assistant: 1",
      "user: look image",
      "assistant: 2",
      "user: message",
      "assistant: 3",
      "user: first",
      "user: second",
      "assistant: 4",
    ]);
    expect(agent.state.messages[0]).toEqual({ role: "user", content: [text("plain")], timestamp: 5 });
  });

  test("is refused while the agent is busy, and possible again after", async () => {
    const { agent } = start([[text("1")], [text("2")]]);
    const running = agent.prompt("go");
    expect(agent.state.isStreaming).toBe(true);
    await expect(agent.prompt("again")).rejects.toMatchObject({ name: "AgentError", code: "busy" });
    await expect(agent.continue()).rejects.toMatchObject({ code: "busy" });
    await running;
    expect(agent.state.isStreaming).toBe(false);
    await agent.prompt("again");
    expect(transcript(agent)).toHaveLength(4);
  });

  test("is refused if it is no message, and so are those that wait, so that the transcript has only messages", async () => {
    const { agent } = start([{ content: [text("Hello.")] }]);
    await expect(agent.prompt(undefined as never)).rejects.toMatchObject({ code: "invalid_message" });
    await expect(agent.prompt([{ content: "Hi" }] as never)).rejects.toMatchObject({ code: "invalid_message" });
    for (const queue of [() => agent.steer("Hi" as never), () => agent.followUp(null as never)]) {
      expect(queue).toThrow(expect.objectContaining({ code: "invalid_message" }));
    }
    expect(agent.state.messages).toEqual([]);
    await agent.prompt("Hi");
    expect(agent.state.messages).toHaveLength(2);
  });

  test("a failed answer without an error message still sets errorMessage", async () => {
    const { agent } = start([]);
    agent.streamFn = () => {
      const stream = new AssistantMessageEventStream();
      const { api, provider, id } = agent.state.model;
      const usage = emptyUsage();
      const stopReason = "error";
      stream.end({ role: "assistant", content: [], api, provider, model: id, usage, stopReason, timestamp: 1 });
      return stream;
    };
    await agent.prompt("hello");
    expect(agent.state.errorMessage).toBe("The answer failed, and its provider does not say why.");
  });

  test("without a model ends in an error message", async () => {
    const agent = new Agent();
    await agent.prompt("hello");
    expect(agent.state.errorMessage).toMatch(/unknown/);
    expect(agent.state.messages).toHaveLength(2);
  });
});

describe("continuing", () => {
  test("starts from a user's message, without reporting it again", async () => {
    const { agent, types } = start([[text("ok")]], { initialState: { messages: [user("q")] } });
    await agent.continue();
    expect(transcript(agent)).toEqual(["user: q", "assistant: ok"]);
    expect(types().filter((type) => type === "message_end")).toHaveLength(1);
  });

  test("after an answer takes queued messages: steering first, then follow-ups, one at a time", async () => {
    const { agent } = start([[text("1")], [text("2")], [text("3")], [text("4")]]);
    await agent.prompt("q");
    agent.followUp(user("f"));
    agent.steer(user("s1"));
    agent.steer(user("s2"));
    await agent.continue();
    expect(transcript(agent)).toEqual([
      "user: q",
      "assistant: 1",
      "user: s1",
      "assistant: 2",
      "user: s2",
      "assistant: 3",
      "user: f",
      "assistant: 4",
    ]);
  });

  test("is refused when there is nothing to continue from", async () => {
    const { agent } = start([[text("1")]]);
    await expect(agent.continue()).rejects.toThrow("No messages to continue from");
    await agent.prompt("q");
    await expect(agent.continue()).rejects.toThrow("Cannot continue from message role: assistant");
  });
});

describe("queues", () => {
  test.each(["one-at-a-time", "all"] as const)("hand over steering messages %s", async (steeringMode) => {
    const { agent, model } = start([[call("work", {}, "c")], [text("a")], [text("b")]], {
      steeringMode,
      initialState: {
        tools: [
          tool(async () => {
            agent.steer(user("s1"));
            agent.steer(user("s2"));
            return { content: [text("worked")], details: {} };
          }),
        ],
      },
    });
    await agent.prompt("go");
    const added = model.asked.map(({ context }) => context.messages.filter(({ role }) => role === "user").length);
    expect(added).toEqual(steeringMode === "all" ? [1, 3] : [1, 2, 3]);
  });

  test.each(["one-at-a-time", "all"] as const)("hand over follow-ups %s", async (followUpMode) => {
    const { agent, model } = start([[text("1")], [text("2")], [text("3")]], { followUpMode });
    agent.followUp(user("f1"));
    agent.followUp(user("f2"));
    await agent.prompt("go");
    expect(model.asked).toHaveLength(followUpMode === "all" ? 2 : 3);
  });

  test("can be read, cleared and switched to another mode", () => {
    const { agent } = start([]);
    expect(agent.hasQueuedMessages()).toBe(false);
    agent.steer(user("s"));
    expect(agent.hasQueuedMessages()).toBe(true);
    agent.clearSteeringQueue();
    agent.followUp(user("f"));
    expect(agent.hasQueuedMessages()).toBe(true);
    agent.clearAllQueues();
    expect(agent.hasQueuedMessages()).toBe(false);
    agent.setSteeringMode("all");
    agent.setFollowUpMode("all");
    expect([agent.steeringMode, agent.followUpMode]).toEqual(["all", "all"]);
  });
});

describe("ending early", () => {
  test("abort ends the run; queued messages stay queued", async () => {
    const { agent, types } = start([[call("work", {}, "c")]], {
      initialState: {
        tools: [
          tool(async () => {
            agent.followUp(user("later"));
            agent.abort();
            return { content: [text("worked")], details: {} };
          }),
        ],
      },
    });
    await agent.prompt("go");
    expect((agent.state.messages.at(-1) as AssistantMessage).stopReason).toBe("aborted");
    expect(agent.state.errorMessage).toBe("The run was aborted.");
    expect(types().at(-1)).toBe("agent_end");
    expect(agent.hasQueuedMessages()).toBe(true);
    expect(agent.state.pendingToolCalls.size).toBe(0);
  });

  test("steering that interrupts aborts the turn and continues with the message, in the same prompt", async () => {
    const model = script([[text("one two three four five six")], [text("yes?")]], 1_000);
    const agent = new Agent({ initialState: { model } });
    let [ends, hasSteered] = [0, false];
    agent.subscribe((event) => {
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta" && !hasSteered) {
        hasSteered = true;
        agent.steer(user("wait!"), { interrupt: true });
      }
      if (event.type === "agent_end") ends++;
    });
    await agent.prompt("go");
    expect(ends).toBe(2);
    expect(agent.state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect((agent.state.messages[1] as AssistantMessage).stopReason).toBe("aborted");
    expect((agent.state.messages[3] as AssistantMessage).stopReason).toBe("stop");
    expect(agent.state.isStreaming).toBe(false);
  });

  test("an interruption of an idle agent is ordinary steering", async () => {
    const { agent } = start([[text("1")]]);
    agent.steer(user("s"), { interrupt: true });
    await agent.prompt("go");
    expect(transcript(agent)).toEqual(["user: go", "user: s", "assistant: 1"]);
  });

  test("abort cancels an interruption", async () => {
    const model = script([[text("one two three")]], 1_000);
    const agent = new Agent({ initialState: { model } });
    agent.subscribe((event) => {
      if (event.type !== "message_update") return;
      agent.steer(user("wait!"), { interrupt: true });
      agent.abort();
    });
    await agent.prompt("go");
    expect(agent.state.messages).toHaveLength(2);
    expect(agent.hasQueuedMessages()).toBe(true);
  });

  test("reset ends the run and forgets it; prompt, model and tools stay", async () => {
    const model = script([[text("one two three")], [text("fresh")]], 1_000);
    const agent = new Agent({ initialState: { model, systemPrompt: "p" } });
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === "message_update") agent.reset();
    });
    agent.followUp(user("f"));
    await agent.prompt("go");
    unsubscribe();
    expect(agent.state.messages).toEqual([]);
    expect(agent.hasQueuedMessages()).toBe(false);
    await agent.prompt("again");
    expect(transcript(agent)).toEqual(["user: again", "assistant: fresh"]);
    expect(agent.state.systemPrompt).toBe("p");
  });

  test("waitForIdle resolves when the last listener has settled", async () => {
    const { agent } = start([[text("1")]]);
    let settled = false;
    agent.subscribe(async (event) => {
      if (event.type !== "agent_end") return;
      await new Promise((resolve) => setImmediate(resolve));
      settled = true;
    });
    await agent.waitForIdle();
    void agent.prompt("go");
    await agent.waitForIdle();
    expect(settled).toBe(true);
    expect(agent.state.isStreaming).toBe(false);
  });
});

describe("listeners", () => {
  test("are called in order, each when the one before it has settled", async () => {
    const { agent } = start([[text("1")]]);
    const calls: string[] = [];
    agent.subscribe(async ({ type }) => {
      calls.push(`a ${type}`);
      await new Promise((resolve) => setImmediate(resolve));
      calls.push(`a done`);
    });
    agent.subscribe(({ type }) => void calls.push(`b ${type}`));
    await agent.prompt("go");
    expect(calls.slice(0, 6)).toEqual([
      "a agent_start",
      "a done",
      "b agent_start",
      "a turn_start",
      "a done",
      "b turn_start",
    ]);
    expect(calls.at(-1)).toBe("b agent_end");
  });

  test("are called once, even if they subscribed twice", async () => {
    const { agent } = start([[text("ok")]]);
    let starts = 0;
    const listener = (event: AgentEvent) => {
      if (event.type === "agent_start") starts++;
    };
    agent.subscribe(listener);
    agent.subscribe(listener);
    await agent.prompt("go");
    expect(starts).toBe(1);
  });

  test("get the run's signal, and can unsubscribe", async () => {
    const { agent } = start([[text("1")], [text("2")]]);
    const signals = new Set<AbortSignal>();
    const unsubscribe = agent.subscribe((_event, signal) => void signals.add(signal));
    await agent.prompt("go");
    unsubscribe();
    await agent.prompt("go");
    expect(signals.size).toBe(1);
    expect(agent.signal).toBeUndefined();
  });

  test("that throw end the run, and the others still get the events that end it", async () => {
    const { agent, types } = start([[text("one two three four")], [text("fine")]]);
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === "message_start" && (event.message as Message).role === "assistant")
        throw new Error("listener broke");
    });
    await agent.prompt("go");
    expect(agent.state.errorMessage).toBe("listener broke");
    expect(types().slice(-3)).toEqual(["message_end", "turn_end", "agent_end"]);
    unsubscribe();
    await agent.prompt("again");
    expect(agent.state.errorMessage).toBeUndefined();
  });
});

test("a change made by prepareNextTurn lasts until something is set on the agent", async () => {
  const done = tool(async () => ({ content: [text("x")], details: {} }));
  const turns = Array.from({ length: 4 }, () => [call("work", {})]);
  const { agent, model } = start([...turns, [text("ok")]], { initialState: { tools: [done], systemPrompt: "one" } });
  let calls = 0;
  agent.prepareNextTurn = ({ context }) => {
    calls++;
    if (calls === 3) agent.setSystemPrompt("three");
    return calls === 1 ? { context: { ...context, systemPrompt: "two" } } : undefined;
  };
  await agent.prompt("go");
  expect(model.asked.map(({ context }) => context.systemPrompt)).toEqual(["one", "two", "two", "two", "three"]);
});

describe("state", () => {
  test("can be spread and written as JSON", () => {
    const { agent } = start([], { initialState: { systemPrompt: "one", messages: [user("hi")] } });
    const copy = { ...agent.state };
    expect(copy).toMatchObject({ systemPrompt: "one", messages: [user("hi")], tools: [], isStreaming: false });
    expect(JSON.parse(JSON.stringify(agent.state))).toMatchObject({ thinkingLevel: "off", messages: [user("hi")] });
  });

  test("has thinking level off for none", () => {
    const agent = new Agent({ initialState: { thinkingLevel: "none" as "off" } });
    expect(agent.state.thinkingLevel).toBe("off");
  });

  test("copies lists when they are assigned", () => {
    const { agent } = start([]);
    const messages = [user("a")];
    const tools = [tool(async () => ({ content: [] }))];
    agent.state.messages = messages;
    agent.setTools(tools);
    messages.push(user("b"));
    tools.pop();
    expect([agent.state.messages.length, agent.state.tools.length]).toEqual([1, 1]);
    agent.appendMessage(user("c"));
    expect(agent.state.messages).toHaveLength(2);
    agent.replaceMessages([user("d")]);
    expect(transcript(agent)).toEqual(["user: d"]);
    agent.clearMessages();
    expect(agent.state.messages).toEqual([]);
  });

  test("shows the answer that arrives and the calls that run", async () => {
    const seen: unknown[] = [];
    const { agent } = start([[text("hello"), call("work", {}, "c1")], [text("ok")]], {
      initialState: {
        tools: [
          tool(async () => {
            seen.push([...agent.state.pendingToolCalls], agent.state.streamingMessage);
            return { content: [text("x")], details: {} };
          }),
        ],
      },
    });
    let streaming = 0;
    agent.subscribe((event) => {
      if (event.type === "message_update" && agent.state.streamingMessage === event.message) streaming++;
    });
    await agent.prompt("go");
    expect(seen).toEqual([["c1"], undefined]);
    expect(streaming).toBeGreaterThan(0);
  });

  test("that is set during a run takes effect in the next turn", async () => {
    const other = script([[text("other")]]);
    const { agent } = start([[call("work", {}, "c")]], {
      initialState: {
        tools: [
          tool(async () => {
            agent.setModel(other);
            agent.setThinkingLevel("high");
            agent.setSystemPrompt("new");
            agent.setTools([]);
            return { content: [text("x")], details: {} };
          }),
        ],
      },
    });
    await agent.prompt("go");
    expect(other.asked[0]).toMatchObject({
      context: { systemPrompt: "new", tools: [] },
      options: { reasoning: "high" },
    });
  });

  test("with thinking off sends no reasoning option", async () => {
    const { agent, model } = start([[text("1")], [text("2")]]);
    await agent.prompt("a");
    agent.setThinkingLevel("low");
    await agent.prompt("b");
    expect(model.asked.map(({ options }) => options.reasoning)).toEqual([undefined, "low"]);
  });
});

test("every option reaches the loop or the request", async () => {
  const seen: string[] = [];
  const note = (name: string) => () => void seen.push(name);
  const { agent, model } = start([[call("work", {}, "c")], [text("ok")]], {
    initialState: { tools: [tool(async () => ({ content: [text("x")], details: {} }))], thinkingLevel: "medium" },
    sessionId: "s",
    thinkingBudgets: { low: 1 },
    transport: "sse",
    maxRetryDelayMs: 5,
    maxRetries: 0,
    toolExecution: "sequential",
    onPayload: note("onPayload"),
    onResponse: note("onResponse"),
    getApiKey: () => (seen.push("getApiKey"), "key"),
    transformContext: (messages) => (seen.push("transformContext"), messages),
    convertToLlm: (messages: AgentMessage[]) => (seen.push("convertToLlm"), messages as Message[]),
    beforeToolCall: () => (seen.push("beforeToolCall"), undefined),
    afterToolCall: () => (seen.push("afterToolCall"), undefined),
    shouldStopAfterTurn: () => (seen.push("shouldStopAfterTurn"), false),
    prepareNextTurn: () => (seen.push("prepareNextTurn"), undefined),
    streamFn: (...request) => (seen.push("streamFn"), streamSimple(...request)),
  });
  await agent.prompt("go");
  expect([...new Set(seen)].sort()).toEqual([
    "afterToolCall",
    "beforeToolCall",
    "convertToLlm",
    "getApiKey",
    "prepareNextTurn",
    "shouldStopAfterTurn",
    "streamFn",
    "transformContext",
  ]);
  const { options } = model.asked[0]!;
  expect(options).toMatchObject({
    sessionId: "s",
    thinkingBudgets: { low: 1 },
    transport: "sse",
    maxRetryDelayMs: 5,
    maxRetries: 0,
    reasoning: "medium",
    apiKey: "key",
  });
  expect([typeof options.onPayload, typeof options.onResponse]).toEqual(["function", "function"]);
});

import { type AssistantMessage, AssistantMessageEventStream, type Message, type Model, streamSimple } from "@tau/ai";
import {
  call,
  createFakeClock,
  type ScriptedModel,
  scriptedModel,
  type ScriptedTurn,
  text,
  thinking,
} from "@tau/ai/testing";
import { afterEach, describe, expect, test } from "vitest";
import { agentLoop, agentLoopContinue, runAgentLoop } from "./agent-loop.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type {
  AgentContext,
  AgentEvent,
  AgentEventSink,
  AgentLoopConfig,
  AgentMessage,
  AgentTool,
  StreamFn,
} from "./types.ts";

const models: ScriptedModel[] = [];
afterEach(() => models.splice(0).forEach((model) => model.dispose()));

const script = (...turns: ScriptedTurn[]): ScriptedModel => {
  const model = scriptedModel(turns);
  models.push(model);
  return model;
};

const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });

const echo: AgentTool = {
  name: "echo",
  label: "Echo",
  description: "Says it again",
  parameters: { type: "object", properties: { value: { type: "string" } }, required: ["value"] },
  execute: async (_id, { value }) => ({ content: [text(`echo ${value}`)], details: { value } }),
};

interface Options extends Partial<AgentLoopConfig> {
  tools?: AgentTool[];
  messages?: AgentMessage[];
  signal?: AbortSignal;
}

const play = async (model: Model, { tools = [echo], messages = [], signal, ...config }: Options = {}) => {
  const context: AgentContext = { systemPrompt: "Be brief.", messages, tools };
  const events: AgentEvent[] = [];
  const stream = agentLoop(
    [user("go")],
    context,
    { model, convertToLlm: defaultConvertToLlm, ...config },
    signal,
    streamSimple,
  );
  for await (const event of stream) events.push(event);
  return { events, messages: await stream.result(), lines: events.filter(isStep).map(line) };
};

/** With a stream function and a sink of one's own. */
const playWith = async (
  open: StreamFn = streamSimple,
  sink: AgentEventSink = () => undefined,
  signal?: AbortSignal,
) => {
  const events: AgentEvent[] = [];
  const config = { model: script([text("ok")]), convertToLlm: defaultConvertToLlm };
  const hear: AgentEventSink = (event) => {
    events.push(event);
    return sink(event);
  };
  const messages = await runAgentLoop([user("go")], { systemPrompt: "", messages: [] }, config, hear, signal, open);
  return { events, messages };
};

const isStep = ({ type }: AgentEvent) => type !== "message_update";

/** An event as a person would tell it. */
function line(event: AgentEvent): string {
  switch (event.type) {
    case "message_start":
    case "message_end":
      return `${event.type} ${describeMessage(event.message as Message)}`;
    case "tool_execution_start":
      return `${event.type} ${event.toolName}#${event.toolCallId}`;
    case "tool_execution_end":
      return `${event.type} ${event.toolName}#${event.toolCallId}${event.isError ? " error" : ""}`;
    case "turn_end":
      return `turn_end ${event.toolResults.length}`;
    default:
      return event.type;
  }
}

function describeMessage(message: Message): string {
  return message.role === "toolResult" ? `result#${message.toolCallId}` : message.role;
}

const resultTexts = (messages: AgentMessage[]) =>
  messages
    .filter((message) => message.role === "toolResult")
    .map(({ content }) => (content[0] as { text: string }).text);

const last = (messages: AgentMessage[]) => messages.at(-1) as AssistantMessage;

describe("what happens, in order", () => {
  test("a question", async () => {
    const { lines, messages } = await play(script([text("4")]));
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

  test("a tool call, and the answer that follows it", async () => {
    const model = script([thinking("Hm."), call("echo", { value: "x" }, "c1")], [text("done")]);
    const { lines, messages } = await play(model);
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

  test("steering in a sequential batch: the calls that are left are skipped, and the message follows in a new turn", async () => {
    const queue: AgentMessage[] = [];
    const busy: AgentTool = {
      ...echo,
      execute: async (_id, { value }) => {
        if (value === "1") queue.push(user("stop!"));
        return { content: [text(value)], details: {} };
      },
    };
    const model = script([call("echo", { value: "1" }, "a"), call("echo", { value: "2" }, "b")], [text("ok")]);
    const { lines, messages } = await play(model, {
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

  test("in parallel nothing is skipped, and results come in the order of the calls", async () => {
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
    const { lines, messages } = await play(model, {
      tools: [slow],
      getSteeringMessages: () => (polls++ === 0 ? [] : queue.splice(0)),
    });
    expect(finished).toEqual(["fast", "slow"]);
    expect(lines.filter((one) => one.startsWith("tool_execution_end"))).toEqual([
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
    await play(model, { tools: [tool("a", "parallel"), tool("b", "sequential")] });
    expect(running).toEqual(["a starts", "a ends", "b starts", "b ends"]);
  });

  test("follow-ups keep the run going, one turn each", async () => {
    const queue = [user("and then?"), user("and then?")];
    const model = script([text("1")], [text("2")], [text("3")]);
    const { lines } = await play(model, { getFollowUpMessages: () => queue.splice(0, 1) });
    expect(lines.filter((one) => one === "turn_start")).toHaveLength(3);
    expect(lines.filter((one) => one === "agent_end")).toHaveLength(1);
  });

  test("steering that waits already goes in before the first request", async () => {
    const queue = [user("psst")];
    const model = script([text("ok")]);
    await play(model, { getSteeringMessages: () => queue.splice(0) });
    expect(model.asked[0]!.context.messages.map(({ content }) => content)).toEqual(["go", "psst"]);
  });
});

describe("the request", () => {
  test("goes through transformContext and convertToLlm, with the key of the moment", async () => {
    const keys = ["first", "second"];
    const model = script([call("echo", { value: "x" })], [text("ok")]);
    const seen: string[] = [];
    await play(model, {
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

  test("without a key of the moment the configured one is used", async () => {
    const model = script([text("ok")]);
    await play(model, { apiKey: "fallback", getApiKey: () => undefined });
    expect(model.asked[0]!.options.apiKey).toBe("fallback");
  });

  test("the partial answer is in the working context while it arrives, and replaced when it is complete", async () => {
    const model = script([text("one two three"), call("echo", { value: "x" }, "c")], [text("ok")]);
    let working: AgentMessage[] = [];
    await play(model, {
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
    const { messages } = await play(model, {
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
    const { messages } = await play(model, {
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

describe("calls", () => {
  const outcomes = async (content: AssistantMessage["content"], options: Options = {}) => {
    const { messages, events } = await play(script(content, [text("ok")]), options);
    const ends = events.filter((event) => event.type === "tool_execution_end");
    return { texts: resultTexts(messages), errors: ends.map(({ isError }) => isError), events, messages };
  };

  test("an unknown tool, bad arguments, a blocked and a failing call are answered, and the run goes on", async () => {
    const failing: AgentTool = {
      ...echo,
      name: "fail",
      execute: async () => {
        throw new Error("it broke");
      },
    };
    const { texts, errors } = await outcomes(
      [
        call("nope", {}, "1"),
        call("echo", {}, "2"),
        call("echo", { value: "secret" }, "3"),
        call("fail", { value: "" }, "4"),
        call("echo", { value: "fine" }, "5"),
      ],
      {
        tools: [echo, failing],
        beforeToolCall: ({ args }) =>
          (args as { value: string }).value === "secret" ? { block: true, reason: "no secrets" } : undefined,
      },
    );
    expect(texts[0]).toBe("Tool nope not found");
    expect(texts[1]).toMatch(/arguments for echo are not valid[\s\S]*value[\s\S]*Received: \{\}/);
    expect(texts.slice(2)).toEqual(["no secrets", "it broke", "echo fine"]);
    expect(errors.filter(Boolean)).toHaveLength(4);
  });

  test("a guard that throws denies its call", async () => {
    let executed = false;
    const tool: AgentTool = { ...echo, execute: async () => ((executed = true), { content: [] }) };
    const { texts } = await outcomes([call("echo", { value: "x" }, "1")], {
      tools: [tool],
      beforeToolCall: () => {
        throw new Error("guard broke");
      },
    });
    expect(texts).toEqual(["guard broke"]);
    expect(executed).toBe(false);
  });

  test("a block without a reason has one", async () => {
    const { texts } = await outcomes([call("echo", { value: "x" }, "1")], { beforeToolCall: () => ({ block: true }) });
    expect(texts).toEqual(["Tool execution was blocked"]);
  });

  test("arguments are prepared, coerced on a copy, and the call stays as it was", async () => {
    const seen: unknown[] = [];
    const tool: AgentTool = {
      name: "repeat",
      label: "Repeat",
      description: "",
      parameters: { type: "object", properties: { times: { type: "integer" } }, required: ["times"] },
      prepareArguments: (args) => ({ times: (args as { count?: unknown }).count }),
      execute: async (_id, args) => {
        seen.push(args);
        return { content: [text("ok")], details: {} };
      },
    };
    const { messages } = await outcomes([call("repeat", { count: "5" }, "1")], { tools: [tool] });
    expect(seen).toEqual([{ times: 5 }]);
    expect((messages[1] as AssistantMessage).content).toMatchObject([{ arguments: { count: "5" } }]);
  });

  test.each([["a string"], [null], [[1]], [7]])(
    "arguments that are %j and not an object are answered with an error",
    async (given) => {
      const model = script((): ScriptedTurn => [text("x")], [text("ok")]);
      const broken = { type: "toolCall", id: "1", name: "echo", arguments: given } as never;
      const { messages } = await play(model, {
        convertToLlm: (all) => all as Message[],
        getFollowUpMessages: () => [],
      });
      expect(last(messages).stopReason).toBe("stop");
      const direct = await runWith([broken]);
      expect(resultTexts(direct)[0]).toMatch(/not valid|could not/);
    },
  );

  test("afterToolCall replaces what it names and nothing else; one that throws makes an error", async () => {
    const { messages } = await outcomes([call("echo", { value: "x" }, "1")], {
      afterToolCall: ({ isError, result }) => ({ isError: !isError, content: [...result.content, text("and more")] }),
    });
    expect(messages[2]).toMatchObject({
      isError: true,
      details: { value: "x" },
      content: [text("echo x"), text("and more")],
    });
    const broken = await outcomes([call("echo", { value: "x" }, "1")], {
      afterToolCall: () => {
        throw new Error("review broke");
      },
    });
    expect(broken.texts).toEqual(["review broke"]);
    expect(broken.errors).toEqual([true]);
  });

  test("terminate ends the run only when every result asks for it", async () => {
    const tool: AgentTool = {
      ...echo,
      execute: async (_id, { value }) => ({ content: [text(value)], details: {}, terminate: value === "end" }),
    };
    const both = await outcomes([call("echo", { value: "end" }, "1"), call("echo", { value: "end" }, "2")], {
      tools: [tool],
    });
    expect(both.messages.at(-1)!.role).toBe("toolResult");
    const one = await outcomes([call("echo", { value: "end" }, "1"), call("echo", { value: "go" }, "2")], {
      tools: [tool],
    });
    expect(one.messages.at(-1)!.role).toBe("assistant");
  });

  test("updates are reported while the tool runs and ignored once it has settled", async () => {
    let late: (() => void) | undefined;
    const tool: AgentTool = {
      ...echo,
      execute: async (_id, _args, _signal, onUpdate) => {
        onUpdate?.({ content: [text("half")], updateType: "stdout", progressPercent: 50 });
        late = () => onUpdate?.({ content: [text("too late")] });
        return { content: [text("done")], details: {} };
      },
    };
    const { events } = await outcomes([call("echo", { value: "x" }, "1")], {
      tools: [tool],
      afterToolCall: () => {
        late?.();
        return undefined;
      },
    });
    const updates = events.filter((event) => event.type === "tool_execution_update");
    expect(updates).toMatchObject([{ toolCallId: "1", partialResult: { updateType: "stdout", progressPercent: 50 } }]);
  });

  test("a tool that returns no content has failed", async () => {
    const tool = { ...echo, execute: async () => undefined } as unknown as AgentTool;
    expect((await outcomes([call("echo", { value: "x" }, "1")], { tools: [tool] })).texts[0]).toMatch(
      /returned no content/,
    );
  });

  test("two calls with the same id get an outcome each", async () => {
    const { texts, errors } = await outcomes([
      call("echo", { value: "a" }, "same"),
      call("echo", { value: "b" }, "same"),
    ]);
    expect(texts).toEqual(["echo a", "echo b"]);
    expect(errors).toEqual([false, false]);
  });

  test.each(["parallel", "sequential"] as const)("a thousand calls in one message, %s", async (toolExecution) => {
    const calls = Array.from({ length: 1_000 }, (_unused, at) => call("echo", { value: `${at}` }, `c${at}`));
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown) => warnings.push(warning);
    process.on("warning", onWarning);
    const { texts } = await outcomes(calls, { toolExecution });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(texts).toEqual(calls.map(({ arguments: { value } }) => `echo ${value}`));
    expect(warnings).toEqual([]);
  });

  test("an answer cut by its length has none of its calls executed, and the model may try again three times", async () => {
    let executed = 0;
    const tool: AgentTool = { ...echo, execute: async () => (executed++, { content: [] }) };
    const cut: ScriptedTurn = { content: [call("echo", { value: "x" }, "c")], stopReason: "length" };
    const { messages } = await play(script(cut, cut, cut, cut, [text("never asked")]), { tools: [tool] });
    expect(executed).toBe(0);
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      ...Array.from({ length: 4 }, () => ["assistant", "toolResult"]).flat(),
    ]);
    expect(resultTexts(messages)[0]).toMatch(/output token limit/);
    const recovered = await play(script(cut, [text("shorter")]), { tools: [tool] });
    expect(last(recovered.messages).content).toEqual([text("shorter")]);
  });

  test("an answer cut by its length without calls ends the run", async () => {
    const { messages } = await play(script({ content: [text("and so")], stopReason: "length" }));
    expect(messages).toHaveLength(2);
  });
});

/** Runs one turn whose answer is given as it is, without a stream that would put it right. */
async function runWith(content: AssistantMessage["content"]): Promise<AgentMessage[]> {
  const model = script([text("ok")]);
  const { EventStream } = await import("@tau/ai");
  let turns = 0;
  const context: AgentContext = { systemPrompt: "", messages: [], tools: [echo] };
  return await runAgentLoop(
    [user("go")],
    context,
    { model, convertToLlm: defaultConvertToLlm },
    () => {},
    undefined,
    () => {
      const stream = new EventStream<never, AssistantMessage>(
        () => false,
        () => undefined as never,
      );
      const message = { ...emptyAnswer(model), content: turns++ === 0 ? content : [text("ok")] };
      queueMicrotask(() => stream.end(message));
      return stream as never;
    },
  );
}

const emptyAnswer = (model: Model): AssistantMessage => ({
  role: "assistant",
  content: [],
  api: model.api,
  provider: model.provider,
  model: model.id,
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  stopReason: "stop",
  timestamp: 0,
});

describe("what goes wrong", () => {
  const boom = () => {
    throw new Error("boom");
  };

  test.each([
    ["transformContext", { transformContext: boom }],
    ["convertToLlm", { convertToLlm: boom }],
    ["getApiKey", { getApiKey: boom }],
    ["getSteeringMessages", { getSteeringMessages: boom }],
    ["getFollowUpMessages", { getFollowUpMessages: boom }],
    ["shouldStopAfterTurn", { shouldStopAfterTurn: boom }],
    ["prepareNextTurn", { prepareNextTurn: boom }],
  ] as [string, Options][])("%s that throws ends the run with an error message", async (name, options) => {
    const model = script([call("echo", { value: "x" }, "c")], [text("ok")]);
    const { lines, messages } = await play(model, options);
    expect(last(messages)).toMatchObject({ role: "assistant", stopReason: "error" });
    const failure = { kind: "unknown", message: `${name} failed: boom` };
    expect(last(messages)).toMatchObject({ errorMessage: "boom", failure });
    expect(lines.at(-1)).toBe("agent_end");
    expect(lines.filter((one) => one === "turn_start").length).toBe(
      lines.filter((one) => one.startsWith("turn_end")).length,
    );
  });

  test("a stream function that throws, or rejects, is an answer that failed", async () => {
    const model = script();
    for (const streamFn of [boom, async () => boom()]) {
      const context: AgentContext = { systemPrompt: "", messages: [] };
      const messages = await runAgentLoop(
        [user("go")],
        context,
        { model, convertToLlm: defaultConvertToLlm },
        () => {},
        undefined,
        streamFn,
      );
      expect(last(messages)).toMatchObject({
        stopReason: "error",
        errorMessage: "boom",
        failure: { message: "The stream function failed: boom" },
      });
    }
  });

  test("a model that fails ends the run with its message", async () => {
    const failure = { kind: "overloaded" as const, message: "busy" };
    const { messages, lines } = await play(script({ failure, content: [text("I was")] }));
    expect(last(messages)).toMatchObject({ stopReason: "error", failure, content: [text("I was")] });
    expect(lines.slice(-2)).toEqual(["turn_end 0", "agent_end"]);
  });

  test("a sink that throws ends the run, and still hears how everything ends", async () => {
    const model = script([text("a b c d e f g h i j k l")]);
    const heard: string[] = [];
    const messages = await runAgentLoop(
      [user("go")],
      { systemPrompt: "", messages: [], tools: [] },
      { model, convertToLlm: defaultConvertToLlm },
      (event) => {
        heard.push(event.type);
        if (event.type === "message_update") throw new Error("disk full");
      },
    );
    expect(last(messages)).toMatchObject({
      stopReason: "error",
      errorMessage: "disk full",
      failure: { message: "A listener failed: disk full" },
    });
    expect(heard.filter((type) => type === "message_update")).toHaveLength(1);
    expect(heard.slice(-3)).toEqual(["message_end", "turn_end", "agent_end"]);
  });

  test.each([
    ["transformContext", undefined],
    ["transformContext", null],
    ["convertToLlm", 5],
  ])("%s that returns %s is named", async (hook, given) => {
    const { messages } = await play(script([text("never said")]), { [hook]: () => given });
    expect(messages.at(-1)).toMatchObject({
      stopReason: "error",
      failure: { message: `${hook} failed: it returned no list of messages.` },
    });
  });

  test.each([undefined, null, 5, {}])("a stream function that returns %s is named", async (given) => {
    const { messages } = await playWith(() => given as never);
    expect(last(messages)).toMatchObject({ stopReason: "error", errorMessage: "it returned no stream." });
  });

  test("a stream that can only be iterated is read like any other", async () => {
    const { messages, events } = await playWith((model) => {
      const answer = { ...emptyAnswer(model), content: [text("hello")] };
      const iterate = async function* () {
        yield { type: "start" as const, partial: emptyAnswer(model) };
        yield { type: "text_delta" as const, contentIndex: 0, delta: "hello", partial: answer };
      };
      return { [Symbol.asyncIterator]: iterate, result: async () => answer } as never;
    });
    expect(last(messages)).toMatchObject({ stopReason: "stop", content: [text("hello")] });
    expect(events.map(({ type }) => type)).toContain("message_update");
  });

  test("a stream that breaks while it is iterated ends the run in words", async () => {
    const { messages } = await playWith(() => {
      const iterate = () => ({ next: () => Promise.reject(new Error("cut")) });
      return { [Symbol.asyncIterator]: iterate, result: () => new Promise(() => {}) } as never;
    });
    expect(last(messages)).toMatchObject({ stopReason: "error", errorMessage: "cut" });
  });

  test("a stream that sends a new partial with each event is followed, also when it is aborted", async () => {
    const abort = new AbortController();
    const shown: unknown[] = [];
    const { messages } = await playWith(
      (model) => {
        const stream = new AssistantMessageEventStream();
        const partial = { ...emptyAnswer(model), content: [text("ab")] };
        stream.push({ type: "start", partial: emptyAnswer(model) });
        stream.push({ type: "text_delta", contentIndex: 0, delta: "ab", partial });
        return stream;
      },
      (event) => {
        if (event.type !== "message_update") return;
        shown.push((event.message as AssistantMessage).content);
        abort.abort();
      },
      abort.signal,
    );
    expect(shown).toEqual([[text("ab")]]);
    expect(last(messages)).toMatchObject({ stopReason: "aborted", content: [text("ab")] });
  });

  test("what is thrown may be anything: calls still get outcomes, and starts their ends", async () => {
    const bare: unknown = Object.create(null);
    const odd: AgentTool = { ...echo, execute: () => Promise.reject(bare as Error) };
    const { events, messages } = await play(script([call("echo", { value: "x" }, "c")], [text("ok")]), {
      tools: [odd],
    });
    expect(resultTexts(messages)[0]).toMatch(/without a description/);
    expect(events.at(-1)?.type).toBe("agent_end");
    const broken = await play(script(), { transformContext: () => Promise.reject(bare as Error) });
    expect(last(broken.messages)).toMatchObject({ stopReason: "error" });
  });

  test("what a sink returns does not matter, unless it is a promise", async () => {
    const heard: AgentEvent[] = [];
    const { messages } = await playWith(undefined, (event) => heard.push(event) as never);
    expect(last(messages)).toMatchObject({ stopReason: "stop" });
  });

  test("a hook that rejects because the run was aborted has not failed", async () => {
    const abort = new AbortController();
    const transformContext = (_messages: AgentMessage[], signal?: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
        abort.abort();
      });
    const { messages } = await play(script([text("never said")]), { transformContext, signal: abort.signal });
    expect(messages.at(-1)).toMatchObject({ stopReason: "aborted", errorMessage: "The run was aborted." });
  });

  test("a stream that starts twice has started once", async () => {
    const { events } = await playWith((model) => {
      const stream = new AssistantMessageEventStream();
      const partial = emptyAnswer(model);
      stream.push({ type: "start", partial });
      stream.push({ type: "start", partial });
      stream.end(partial);
      return stream;
    });
    expect(events.filter(isStep).map(line).slice(4)).toEqual([
      "message_start assistant",
      "message_end assistant",
      "turn_end 0",
      "agent_end",
    ]);
  });

  test("continuing needs something to continue from", () => {
    const config = { model: script(), convertToLlm: defaultConvertToLlm };
    expect(() => agentLoopContinue({ systemPrompt: "", messages: [] }, config)).toThrow("no messages in context");
    const messages = [user("q"), emptyAnswer(config.model)];
    expect(() => agentLoopContinue({ systemPrompt: "", messages }, config)).toThrow("from message role: assistant");
  });

  test("continuing reports no prompt and returns only what is new", async () => {
    const model = script([text("ok")]);
    const context = { systemPrompt: "", messages: [user("q")] };
    const stream = agentLoopContinue(context, { model, convertToLlm: defaultConvertToLlm });
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.filter(isStep).map(line)).toEqual([
      "agent_start",
      "turn_start",
      "message_start assistant",
      "message_end assistant",
      "turn_end 0",
      "agent_end",
    ]);
    expect((await stream.result()).map(({ role }) => role)).toEqual(["assistant"]);
    expect(context.messages).toHaveLength(1);
  });
});

describe("abort", () => {
  test("before the start: nobody is asked", async () => {
    const model = script([text("x")]);
    const { messages } = await play(model, { signal: AbortSignal.abort() });
    expect(last(messages)).toMatchObject({ stopReason: "aborted", failure: { kind: "aborted" } });
    expect(model.asked).toHaveLength(0);
  });

  test.each([
    ["a tool", { tools: [{ ...echo, execute: () => hang() }] }],
    ["a guard", { beforeToolCall: () => hang() }],
    ["a review", { afterToolCall: () => hang() }],
    ["transformContext", { transformContext: () => hang() }],
    ["convertToLlm", { convertToLlm: () => hang() }],
    ["getApiKey", { getApiKey: () => hang() }],
    ["shouldStopAfterTurn", { shouldStopAfterTurn: () => hang() }],
    ["prepareNextTurn", { prepareNextTurn: () => hang() }],
    ["getSteeringMessages", { getSteeringMessages: () => hang() }],
  ] as [string, Options][])(
    "%s that never returns cannot hold a run that is aborted for more than 200 ms",
    async (_name, options) => {
      const clock = createFakeClock();
      const abort = new AbortController();
      const model = script([call("echo", { value: "x" }, "c")], [text("ok")]);
      const playing = play(model, { ...options, signal: abort.signal, clock });
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      abort.abort();
      await clock.advance(200);
      const { messages, lines } = await playing;
      expect(last(messages).stopReason).toBe("aborted");
      expect(lines.at(-1)).toBe("agent_end");
      const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
      expect(resultTexts(messages)).toHaveLength(calls.filter(({ type }) => type === "toolCall").length);
    },
  );

  test("a tool that stops by itself within the grace keeps its own outcome", async () => {
    const abort = new AbortController();
    const tool: AgentTool = {
      ...echo,
      execute: (_id, _args, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener("abort", () => resolve({ content: [text("stopped half-way")], details: {} }));
          setImmediate(() => abort.abort());
        }),
    };
    const { messages } = await play(script([call("echo", { value: "x" }, "c")]), {
      tools: [tool],
      signal: abort.signal,
    });
    expect(resultTexts(messages)).toEqual(["stopped half-way"]);
    expect(last(messages).stopReason).toBe("aborted");
  });

  test("a model that ignores the abort is left behind, and what it says later changes nothing", async () => {
    const clock = createFakeClock();
    const abort = new AbortController();
    const model = script();
    const partial: AssistantMessage = { ...emptyAnswer(model), content: [text("so far")] };
    const stream = new AssistantMessageEventStream();
    stream.push({ type: "start", partial });
    stream.push({ type: "text_start", contentIndex: 0, partial });
    const running = runAgentLoop(
      [user("go")],
      { systemPrompt: "", messages: [] },
      { model, convertToLlm: defaultConvertToLlm, clock },
      () => {},
      abort.signal,
      () => stream,
    );
    await clock.advance(0);
    abort.abort();
    await clock.advance(200);
    const messages = await running;
    partial.content.push(text("too late"));
    expect(last(messages)).toMatchObject({ stopReason: "aborted", content: [text("so far")] });
  });

  test("steering that was not taken stays in its queue", async () => {
    const queue = [user("later")];
    const abort = new AbortController();
    const tool: AgentTool = { ...echo, execute: async () => (abort.abort(), { content: [text("x")], details: {} }) };
    let polls = 0;
    await play(script([call("echo", { value: "x" }, "c")]), {
      tools: [tool],
      signal: abort.signal,
      getSteeringMessages: () => (polls++ === 0 ? [] : queue.splice(0)),
    });
    expect(queue).toHaveLength(1);
  });
});

const hang = () => new Promise<never>(() => undefined);

test("nothing that belongs to the caller is changed", async () => {
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

test("the contexts that the model was given stay as they were given", async () => {
  const model = script([call("echo", { value: "x" }, "c")], [text("ok")]);
  const given: Message[][] = [];
  const context: AgentContext = { systemPrompt: "", messages: [], tools: [echo] };
  await runAgentLoop(
    [user("go")],
    context,
    { model, convertToLlm: defaultConvertToLlm },
    () => {},
    undefined,
    (asked, llm, options) => {
      given.push(llm.messages);
      return streamSimple(asked, llm, options);
    },
  );
  expect(given.map(({ length }) => length)).toEqual([1, 3]);
});

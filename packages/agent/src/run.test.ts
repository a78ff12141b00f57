import { type AssistantMessage, AssistantMessageEventStream } from "@tau/ai";
import { call, createFakeClock, text } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import {
  echo,
  emptyAnswer,
  hang,
  last,
  runLoop,
  runLoopWith,
  resultTexts,
  script,
  user,
  isNotUpdate,
  formatEvent,
  type RunOptions,
} from "../test/loop-kit.ts";
import { agentLoopContinue, runAgentLoop } from "./agent-loop.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentContext, AgentEvent, AgentMessage, AgentTool } from "./types.ts";

describe("failures", () => {
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
  ] as [string, RunOptions][])("%s that throws ends the run with an error message", async (name, options) => {
    const model = script([call("echo", { value: "x" }, "c")], [text("ok")]);
    const { lines, messages } = await runLoop(model, options);
    expect(last(messages)).toMatchObject({ role: "assistant", stopReason: "error" });
    const failure = { kind: "unknown", message: `${name} failed: boom` };
    expect(last(messages)).toMatchObject({ errorMessage: "boom", failure });
    expect(lines.at(-1)).toBe("agent_end");
    expect(lines.filter((entry) => entry === "turn_start").length).toBe(
      lines.filter((entry) => entry.startsWith("turn_end")).length,
    );
  });

  test("a stream function that throws or rejects becomes a failed answer", async () => {
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

  test("a stream that fails has the kind of its failure, and other code has none", async () => {
    const busy = () => {
      throw Object.assign(new Error("Try later."), { status: 503 });
    };
    const brokenStream = { [Symbol.asyncIterator]: () => ({ next: async () => busy() }), result: async () => busy() };
    for (const streamFn of [busy, () => brokenStream as unknown as AssistantMessageEventStream]) {
      const config = { model: script(), convertToLlm: defaultConvertToLlm };
      const context: AgentContext = { systemPrompt: "", messages: [] };
      const messages = await runAgentLoop([user("go")], context, config, () => {}, undefined, streamFn);
      expect(last(messages)).toMatchObject({
        errorMessage: "Try later.",
        failure: { kind: "overloaded", status: 503 },
      });
    }
    const { messages } = await runLoop(script([text("ok")]), { transformContext: busy });
    expect(last(messages)).toMatchObject({ failure: { kind: "unknown" } });
  });

  test("a model that fails ends the run with its message", async () => {
    const failure = { kind: "overloaded" as const, message: "busy" };
    const { messages, lines } = await runLoop(script({ failure, content: [text("I was")] }));
    expect(last(messages)).toMatchObject({ stopReason: "error", failure, content: [text("I was")] });
    expect(lines.slice(-2)).toEqual(["turn_end 0", "agent_end"]);
  });

  test("a sink that throws ends the run, and still gets the events that end it", async () => {
    const model = script([text("a b c d e f g h i j k l")]);
    const types: string[] = [];
    const messages = await runAgentLoop(
      [user("go")],
      { systemPrompt: "", messages: [], tools: [] },
      { model, convertToLlm: defaultConvertToLlm },
      (event) => {
        types.push(event.type);
        if (event.type === "message_update") throw new Error("disk full");
      },
    );
    expect(last(messages)).toMatchObject({
      stopReason: "error",
      errorMessage: "disk full",
      failure: { message: "A listener failed: disk full" },
    });
    expect(types.filter((type) => type === "message_update")).toHaveLength(1);
    expect(types.slice(-3)).toEqual(["message_end", "turn_end", "agent_end"]);
  });

  test.each([
    ["transformContext", undefined],
    ["transformContext", null],
    ["convertToLlm", 5],
    ["getSteeringMessages", 5],
    ["getFollowUpMessages", {}],
  ])("%s that returns %s ends the run with an error that names it", async (hook, value) => {
    const { messages } = await runLoop(script([text("never said")]), { [hook]: () => value });
    expect(messages.at(-1)).toMatchObject({
      stopReason: "error",
      failure: { message: `${hook} failed: it returned no list of messages.` },
    });
  });

  test.each([undefined, null, 5, {}])("a stream function that returns %s ends the run with an error", async (value) => {
    const { messages } = await runLoopWith(() => value as never);
    expect(last(messages)).toMatchObject({ stopReason: "error", errorMessage: "it returned no stream." });
  });

  test.each([
    ["the answer", null, "its answer is not a message."],
    ["content", { content: "hello" }, "the `content` of its answer is not a list of blocks."],
    ["content", { content: [null] }, "the `content` of its answer is not a list of blocks."],
    ["usage", { usage: undefined }, "its answer has no `usage`."],
  ])("an answer of a stream function that lacks %s ends the run with an error: %j", async (_name, changes, message) => {
    const { messages } = await runLoopWith((model) => {
      const stream = new AssistantMessageEventStream();
      const answer = changes && { ...emptyAnswer(model), ...changes };
      stream.push({ type: "done", reason: "stop", message: answer as never });
      return stream;
    });
    expect(last(messages)).toMatchObject({ stopReason: "error", errorMessage: message });
  });

  test("an event of a stream function without a partial message ends the run with an error that names it", async () => {
    const { messages } = await runLoopWith((model) => {
      const stream = new AssistantMessageEventStream();
      stream.push({ type: "text_start", contentIndex: 0 } as never);
      stream.push({ type: "done", reason: "stop", message: emptyAnswer(model) });
      return stream;
    });
    const errorMessage = 'it sent "text_start" without a partial message.';
    expect(last(messages)).toMatchObject({ stopReason: "error", errorMessage });
  });

  test("a stream that can only be iterated is read like an EventStream", async () => {
    const { messages, events } = await runLoopWith((model) => {
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

  test("a stream that fails while it is iterated ends the run with its error", async () => {
    const { messages } = await runLoopWith(() => {
      const iterate = () => ({ next: () => Promise.reject(new Error("cut")) });
      return { [Symbol.asyncIterator]: iterate, result: () => new Promise(() => {}) } as never;
    });
    expect(last(messages)).toMatchObject({ stopReason: "error", errorMessage: "cut" });
  });

  test("each new partial message of a stream replaces the one before, also in an aborted run", async () => {
    const abort = new AbortController();
    const shown: unknown[] = [];
    const { messages } = await runLoopWith(
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

  test("a thrown value that is not an error still leaves every call with an outcome and every start with an end", async () => {
    const bare: unknown = Object.create(null);
    const odd: AgentTool = { ...echo, execute: () => Promise.reject(bare as Error) };
    const { events, messages } = await runLoop(script([call("echo", { value: "x" }, "c")], [text("ok")]), {
      tools: [odd],
    });
    expect(resultTexts(messages)[0]).toMatch(/without a description/);
    expect(events.at(-1)?.type).toBe("agent_end");
    const broken = await runLoop(script(), { transformContext: () => Promise.reject(bare as Error) });
    expect(last(broken.messages)).toMatchObject({ stopReason: "error" });
  });

  test("a sink may return any value; only a promise is awaited", async () => {
    const received: AgentEvent[] = [];
    const { messages } = await runLoopWith(undefined, (event) => received.push(event) as never);
    expect(last(messages)).toMatchObject({ stopReason: "stop" });
  });

  test("a hook that rejects because the run was aborted does not fail the run", async () => {
    const abort = new AbortController();
    const transformContext = (_messages: AgentMessage[], signal?: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
        abort.abort();
      });
    const { messages } = await runLoop(script([text("never said")]), { transformContext, signal: abort.signal });
    expect(messages.at(-1)).toMatchObject({ stopReason: "aborted", errorMessage: "The run was aborted." });
  });

  test("a second start event of a stream is ignored", async () => {
    const { events } = await runLoopWith((model) => {
      const stream = new AssistantMessageEventStream();
      const partial = emptyAnswer(model);
      stream.push({ type: "start", partial });
      stream.push({ type: "start", partial });
      stream.end(partial);
      return stream;
    });
    expect(events.filter(isNotUpdate).map(formatEvent).slice(4)).toEqual([
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

  test("continuing reports no prompt and returns only new messages", async () => {
    const model = script([text("ok")]);
    const context = { systemPrompt: "", messages: [user("q")] };
    const stream = agentLoopContinue(context, { model, convertToLlm: defaultConvertToLlm });
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.filter(isNotUpdate).map(formatEvent)).toEqual([
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
  test("before the start means that no request is sent", async () => {
    const model = script([text("x")]);
    const { messages } = await runLoop(model, { signal: AbortSignal.abort() });
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
  ] as [string, RunOptions][])("ends a run within 200 ms although %s never returns", async (_name, options) => {
    const clock = createFakeClock();
    const abort = new AbortController();
    const model = script([call("echo", { value: "x" }, "c")], [text("ok")]);
    const playing = runLoop(model, { ...options, signal: abort.signal, clock });
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await clock.advance(200);
    const { messages, lines } = await playing;
    expect(last(messages).stopReason).toBe("aborted");
    expect(lines.at(-1)).toBe("agent_end");
    const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
    expect(resultTexts(messages)).toHaveLength(calls.filter(({ type }) => type === "toolCall").length);
  });

  test("leaves a tool that stops within the grace period its own outcome", async () => {
    const abort = new AbortController();
    const tool: AgentTool = {
      ...echo,
      execute: (_id, _args, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener("abort", () => resolve({ content: [text("stopped half-way")], details: {} }));
          setImmediate(() => abort.abort());
        }),
    };
    const { messages } = await runLoop(script([call("echo", { value: "x" }, "c")]), {
      tools: [tool],
      signal: abort.signal,
    });
    expect(resultTexts(messages)).toEqual(["stopped half-way"]);
    expect(last(messages).stopReason).toBe("aborted");
  });

  test("abandons a model that ignores it, and later changes of the partial message have no effect", async () => {
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

  test("leaves steering messages in their queue", async () => {
    const queue = [user("later")];
    const abort = new AbortController();
    const tool: AgentTool = { ...echo, execute: async () => (abort.abort(), { content: [text("x")], details: {} }) };
    let polls = 0;
    await runLoop(script([call("echo", { value: "x" }, "c")]), {
      tools: [tool],
      signal: abort.signal,
      getSteeringMessages: () => (polls++ === 0 ? [] : queue.splice(0)),
    });
    expect(queue).toHaveLength(1);
  });
});

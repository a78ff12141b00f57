import { type AssistantMessage, AssistantMessageEventStream } from "@tau/ai";
import { call, createFakeClock, text } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import {
  echo,
  emptyAnswer,
  hang,
  last,
  play,
  playWith,
  resultTexts,
  script,
  user,
  isStep,
  line,
  type PlayOptions,
} from "../test/loop-kit.ts";
import { agentLoopContinue, runAgentLoop } from "./agent-loop.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentContext, AgentEvent, AgentMessage, AgentTool } from "./types.ts";

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
  ] as [string, PlayOptions][])("%s that throws ends the run with an error message", async (name, options) => {
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
  ] as [string, PlayOptions][])(
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

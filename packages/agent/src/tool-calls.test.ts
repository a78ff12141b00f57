import type { AssistantMessage, Message } from "@tau/ai";
import { call, type ScriptedTurn, text } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { echo, last, resultTexts, runAnswer, runLoop, type RunOptions, script, user } from "../test/loop-kit.ts";
import type { AgentEvent, AgentMessage, AgentTool } from "./types.ts";

describe("calls", () => {
  const outcomes = async (content: AssistantMessage["content"], options: RunOptions = {}) => {
    const { messages, events } = await runLoop(script(content, [text("ok")]), options);
    const ends = events.filter((event) => event.type === "tool_execution_end");
    return { texts: resultTexts(messages), errors: ends.map(({ isError }) => isError), events, messages };
  };

  test("with an unknown tool, invalid arguments, a denial or a failure get an error result, and the run continues", async () => {
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
    expect(texts[0]).toBe("Tool nope not found. The tools are: echo, fail.");
    expect(texts[1]).toMatch(/arguments for echo are not valid[\s\S]*value[\s\S]*Received: \{\}/);
    expect(texts.slice(2)).toEqual(["no secrets", "it broke", "echo fine"]);
    expect(errors.filter(Boolean)).toHaveLength(4);
  });

  test("of a tool that does not exist are told which tools exist, the nearest first", async () => {
    const tools = ["read", "bash", "grep"].map((name) => ({ ...echo, name }));
    const { texts } = await outcomes([call("grap", {}, "1")], { tools });
    expect(texts).toEqual([`Tool grap not found. Did you mean "grep"? The tools are: read, bash, grep.`]);
    expect((await outcomes([call("grap", {}, "1")], { tools: [] })).texts).toEqual([
      "Tool grap not found. There are no tools.",
    ]);
  });

  test("are denied by a guard that throws", async () => {
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

  test("that are blocked without a reason get a default one", async () => {
    const { texts } = await outcomes([call("echo", { value: "x" }, "1")], { beforeToolCall: () => ({ block: true }) });
    expect(texts).toEqual(["Tool execution was blocked"]);
  });

  test("have their arguments prepared and coerced on a copy", async () => {
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
    "whose arguments are %j and not an object get an error result",
    async (args) => {
      const model = script((): ScriptedTurn => [text("x")], [text("ok")]);
      const broken = { type: "toolCall", id: "1", name: "echo", arguments: args } as never;
      const { messages } = await runLoop(model, {
        convertToLlm: (all) => all as Message[],
        getFollowUpMessages: () => [],
      });
      expect(last(messages).stopReason).toBe("stop");
      const direct = await runAnswer([broken]);
      expect(resultTexts(direct)[0]).toMatch(/not valid|could not/);
    },
  );

  test("get the fields that afterToolCall returns; if it throws, the result is an error", async () => {
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

  test("end the run with terminate only if every result has it", async () => {
    const tool: AgentTool = {
      ...echo,
      execute: async (_id, { value }) => ({ content: [text(value)], details: {}, terminate: value === "end" }),
    };
    const both = await outcomes([call("echo", { value: "end" }, "1"), call("echo", { value: "end" }, "2")], {
      tools: [tool],
    });
    expect(both.messages.at(-1)!.role).toBe("toolResult");
    const onlyFirst = await outcomes([call("echo", { value: "end" }, "1"), call("echo", { value: "go" }, "2")], {
      tools: [tool],
    });
    expect(onlyFirst.messages.at(-1)!.role).toBe("assistant");
  });

  test("report updates while the tool runs, and none once it has settled", async () => {
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

  test("fail if the tool or afterToolCall returns no content", async () => {
    const tool = { ...echo, execute: async () => undefined } as unknown as AgentTool;
    expect((await outcomes([call("echo", { value: "x" }, "1")], { tools: [tool] })).texts[0]).toMatch(
      /returned no content/,
    );
    const reviewed = await outcomes([call("echo", { value: "x" }, "1")], {
      afterToolCall: () => ({ content: "fine" as never }),
    });
    expect(reviewed.texts).toEqual(["afterToolCall returned no content."]);
  });

  test("of a tool without a schema get an error that names the tool", async () => {
    const { parameters: _none, ...tool } = echo;
    expect((await outcomes([call("echo", {}, "1")], { tools: [tool as AgentTool] })).texts).toEqual([
      "The tool echo has no schema for its parameters.",
    ]);
  });

  test("with the same id get an outcome each", async () => {
    const { texts, errors } = await outcomes([
      call("echo", { value: "a" }, "same"),
      call("echo", { value: "b" }, "same"),
    ]);
    expect(texts).toEqual(["echo a", "echo b"]);
    expect(errors).toEqual([false, false]);
  });

  test.each(["parallel", "sequential", "ordered"] as const)(
    "may be a thousand in one answer, %s",
    async (toolExecution) => {
      const calls = Array.from({ length: 1_000 }, (_unused, index) => call("echo", { value: `${index}` }, `c${index}`));
      const warnings: unknown[] = [];
      const onWarning = (warning: unknown) => warnings.push(warning);
      process.on("warning", onWarning);
      const { texts } = await outcomes(calls, { toolExecution });
      await new Promise((resolve) => setImmediate(resolve));
      process.off("warning", onWarning);
      expect(texts).toEqual(calls.map(({ arguments: { value } }) => `echo ${value}`));
      expect(warnings).toEqual([]);
    },
  );

  test("say why they were not executed by a code", async () => {
    const errorCodes = async (turn: ScriptedTurn, options: RunOptions = {}) => {
      const { events } = await runLoop(script(turn, [text("ok")]), { toolExecution: "sequential", ...options });
      return events.flatMap((event) => (event.type === "tool_execution_end" ? [event.errorCode] : []));
    };
    const two = [call("echo", { value: "1" }), call("echo", { value: "2" })];
    const queue = [[], [user("wait")]];
    expect(await errorCodes(two, { getSteeringMessages: () => queue.shift() ?? [] })).toEqual([undefined, "skipped"]);
    expect(await errorCodes({ content: two, stopReason: "length" })).toEqual(["truncated", "truncated"]);
    expect(await errorCodes([call("nope"), call("echo")])).toEqual(["unknown_tool", "invalid_arguments"]);
    const throwing = () => Promise.reject(Object.assign(new Error("full"), { code: "disk_full" }));
    expect(await errorCodes([two[0]!], { tools: [{ ...echo, execute: throwing }] })).toEqual(["disk_full"]);
    expect(await errorCodes([two[0]!], { afterToolCall: () => ({ isError: true }) })).toEqual(["tool_failed"]);
    expect(await errorCodes([two[0]!], { beforeToolCall: () => Promise.reject(new Error("broken")) })).toEqual([
      "denied",
    ]);
  });

  test("of an answer that reached its token limit are not executed, and the model may try again three times", async () => {
    let executed = 0;
    const tool: AgentTool = { ...echo, execute: async () => (executed++, { content: [] }) };
    const cut: ScriptedTurn = { content: [call("echo", { value: "x" }, "c")], stopReason: "length" };
    const { messages } = await runLoop(script(cut, cut, cut, cut, [text("never asked")]), { tools: [tool] });
    expect(executed).toBe(0);
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      ...Array.from({ length: 4 }, () => ["assistant", "toolResult"]).flat(),
    ]);
    expect(resultTexts(messages)[0]).toMatch(/output token limit/);
    const recovered = await runLoop(script(cut, [text("shorter")]), { tools: [tool] });
    expect(last(recovered.messages).content).toEqual([text("shorter")]);
  });

  test("that are missing in an answer at its token limit end the run", async () => {
    const { messages } = await runLoop(script({ content: [text("and so")], stopReason: "length" }));
    expect(messages).toHaveLength(2);
  });
});

describe("ordered execution", () => {
  /** Runs an answer with these calls and returns what happened, one line per step. */
  const runCalls = async (names: string[], options: RunOptions = {}) => {
    const steps: string[] = [];
    const createTool = (name: string, fields: Partial<AgentTool>): AgentTool => ({
      ...echo,
      ...fields,
      name,
      execute: async (id) => {
        steps.push(`${id} runs`);
        await new Promise((resolve) => setImmediate(resolve));
        if (name === "fail") throw new Error("it broke");
        return { content: [text(id)], details: {} };
      },
    });
    const tools = [
      createTool("read", { readOnly: true }),
      createTool("write", {}),
      createTool("fail", {}),
      createTool("notify", { executionMode: "parallel" }),
      createTool("alone", { executionMode: "sequential" }),
    ];
    const answer = names.map((name, index) => call(name, { value: "" }, `${name}${index}`));
    const { events, messages } = await runLoop(script(answer, [text("ok")]), {
      tools,
      toolExecution: "ordered",
      beforeToolCall: ({ toolCall }) => void steps.push(`${toolCall.id} is asked`),
      ...options,
    });
    return { steps, events, messages, texts: resultTexts(messages) };
  };
  const getCallIds = (events: AgentEvent[], type: AgentEvent["type"]) =>
    events.filter((event) => event.type === type).map((event) => (event as { toolCallId: string }).toolCallId);

  test.each([
    ["calls that read run together", ["read", "read"], "read0? read1? read0 read1"],
    ["a call that writes waits for those before it", ["read", "write"], "read0? read0 write1? write1"],
    ["calls after one that writes wait for it", ["write", "read", "read"], "write0? write0 read1? read2? read1 read2"],
    ["calls that write run alone", ["write", "write"], "write0? write0 write1? write1"],
    [
      "a call of an unknown tool is ordered like one that writes",
      ["read", "gone", "read"],
      "read0? read0 read2? read2",
    ],
    ["a parallel tool does not wait", ["write", "write", "notify"], "write0? notify2? write0 notify2 write1? write1"],
    [
      "one sequential tool makes its batch sequential",
      ["read", "alone", "read"],
      "read0? read0 alone1? alone1 read2? read2",
    ],
  ])("%s", async (_law, names, expected) => {
    const { steps } = await runCalls(names);
    expect(steps.map((step) => step.replace(" is asked", "?").replace(" runs", "")).join(" ")).toBe(expected);
  });

  test("a call that waits starts after the calls it waits for have ended", async () => {
    const { events } = await runCalls(["read", "read", "write"]);
    const steps = events.flatMap((event) =>
      event.type === "tool_execution_start" || event.type === "tool_execution_end"
        ? [`${event.toolCallId} ${event.type === "tool_execution_start" ? "starts" : "ends"}`]
        : [],
    );
    expect(steps).toEqual(["read0 starts", "read1 starts", "read0 ends", "read1 ends", "write2 starts", "write2 ends"]);
  });

  test("a call that writes does not wait for a parallel tool", async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const slow: AgentTool = {
      ...echo,
      name: "slow",
      executionMode: "parallel",
      execute: async () => (await finished, { content: [text("slow")], details: {} }),
    };
    const write: AgentTool = { ...echo, execute: async () => (finish(), { content: [text("written")], details: {} }) };
    const answer = [call("slow", { value: "" }, "a"), call("echo", { value: "" }, "b")];
    const { events, messages } = await runLoop(script(answer, [text("ok")]), {
      tools: [slow, write],
      toolExecution: "ordered",
    });
    expect(getCallIds(events, "tool_execution_end")).toEqual(["b", "a"]);
    expect(resultTexts(messages)).toEqual(["slow", "written"]);
  });

  test("the results of calls that have ended are added before the next calls start, in the order of the calls", async () => {
    const getResultsBefore = async (names: string[], id: string) => {
      const { events } = await runCalls(names);
      const started = events.findIndex((event) => event.type === "tool_execution_start" && event.toolCallId === id);
      const added = events.flatMap((event, index) =>
        event.type === "message_end" && event.message.role === "toolResult" && index < started
          ? [event.message.toolCallId]
          : [],
      );
      return added.join(" ");
    };
    expect(await getResultsBefore(["read", "read", "write"], "write2")).toBe("read0 read1");
    expect(await getResultsBefore(["write", "write", "write"], "write2")).toBe("write0 write1");
    expect(await getResultsBefore(["fail", "gone", "read"], "read2")).toBe("fail0 gone1");
  });

  test("a failure does not stop the calls that wait", async () => {
    const { texts } = await runCalls(["fail", "write"]);
    expect(texts).toEqual(["it broke", "write1"]);
  });

  test("an abort ends the calls that wait, and they are not executed", async () => {
    const abort = new AbortController();
    const { steps, texts } = await runCalls(["read", "write", "read"], {
      signal: abort.signal,
      afterToolCall: () => void abort.abort(),
    });
    expect(steps).toEqual(["read0 is asked", "read0 runs"]);
    expect(texts).toEqual(["read0", "The call was aborted.", "The call was aborted."]);
  });

  test("steering skips no call and follows after the batch", async () => {
    const queue: AgentMessage[] = [];
    const { texts, messages } = await runCalls(["write", "write"], {
      afterToolCall: () => void queue.push(user("by the way")),
      getSteeringMessages: () => queue.splice(0, 1),
    });
    expect(texts).toEqual(["write0", "write1"]);
    expect(messages.map(({ role }) => role).slice(2, 5)).toEqual(["toolResult", "toolResult", "user"]);
  });
});

import type { AssistantMessage, Message } from "@tau/ai";
import { call, type ScriptedTurn, text } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { echo, last, play, resultTexts, runWith, script, type PlayOptions } from "../test/loop-kit.ts";
import type { AgentTool } from "./types.ts";

describe("calls", () => {
  const outcomes = async (content: AssistantMessage["content"], options: PlayOptions = {}) => {
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
    const reviewed = await outcomes([call("echo", { value: "x" }, "1")], {
      afterToolCall: () => ({ content: "fine" as never }),
    });
    expect(reviewed.texts).toEqual(["afterToolCall returned no content."]);
  });

  test("a tool without a schema is named", async () => {
    const { parameters: _none, ...tool } = echo;
    expect((await outcomes([call("echo", {}, "1")], { tools: [tool as AgentTool] })).texts).toEqual([
      "The tool echo has no schema for its parameters.",
    ]);
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

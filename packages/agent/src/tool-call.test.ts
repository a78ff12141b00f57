/** Calls that tools make. What holds in every order is in `test/laws`. */
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { runAgentLoop } from "./agent-loop.ts";
import { defaultConvertToLlm } from "./convert.ts";
import { echo, formatEvent, hang, resultTexts, runLoop, type RunOptions, script } from "../test/loop-kit.ts";
import type { AgentEvent, AgentTool, AgentToolUpdate, RunningToolCall, ToolCallOutcome } from "./types.ts";

/** Runs a tool `outer` that makes calls. */
async function runOuter(makeCalls: (running: RunningToolCall) => unknown, options: RunOptions = {}) {
  const { tools = [echo], onToolExecution, ...others } = options;
  const running = new Map<string, RunningToolCall>();
  const outer: AgentTool = {
    ...echo,
    name: "outer",
    parameters: { type: "object", properties: {} },
    async execute(id) {
      await makeCalls(running.get(id)!);
      return { content: [text("outer is done")], details: {} };
    },
  };
  const run = await runLoop(script([call("outer", {}, "1")], [text("ok")]), {
    tools: [outer, ...tools],
    onToolExecution(started) {
      running.set(started.toolCallId, started);
      onToolExecution?.(started);
    },
    ...others,
  });
  return { ...run, calls: run.events.filter(isCallEvent).map(formatEvent) };
}

const isCallEvent = ({ type }: AgentEvent) => type.startsWith("tool_execution");

const getText = ({ result }: ToolCallOutcome) => (result.content[0] as { text: string }).text;

const hanging: AgentTool = { ...echo, name: "hang", execute: hang };

test("a nested call is validated, guarded, reviewed and reported inside the call of its tool", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const guarded: unknown[] = [];
  const { calls, events, messages } = await runOuter(
    async (running) => {
      outcomes.push(await running.callTool("echo", { value: "a" }));
      outcomes.push(await running.callTool("echo", {}));
      outcomes.push(await running.callTool("echo", { value: "secret" }));
      outcomes.push(await running.callTool("nothing", {}));
    },
    {
      beforeToolCall: ({ toolCall, args, parentToolCallId, assistantMessage }) => {
        guarded.push([toolCall.id, args, parentToolCallId, assistantMessage.content.length]);
        return (args as { value?: string }).value === "secret" ? { block: true, reason: "no secrets" } : undefined;
      },
      afterToolCall: ({ toolCall, parentToolCallId }) =>
        parentToolCallId === "1" ? { content: [text(`reviewed ${toolCall.id}`)] } : undefined,
    },
  );
  expect(calls).toEqual([
    "tool_execution_start outer#1",
    ...["echo#1/1", "echo#1/2 error", "echo#1/3 error", "nothing#1/4 error"].flatMap((line) => [
      `tool_execution_start ${line.replace(" error", "")}`,
      `tool_execution_end ${line}`,
    ]),
    "tool_execution_end outer#1",
  ]);
  const parents = events.filter(isCallEvent).map((event) => (event as { parentToolCallId?: string }).parentToolCallId);
  expect(parents).toEqual([undefined, ...Array<string>(8).fill("1"), undefined]);
  expect(guarded).toEqual([
    ["1", {}, undefined, 1],
    ["1/1", { value: "a" }, "1", 1],
    ["1/3", { value: "secret" }, "1", 1],
  ]);
  expect(outcomes.map(({ errorCode }) => errorCode)).toEqual([
    undefined,
    "invalid_arguments",
    "denied",
    "unknown_tool",
  ]);
  expect([outcomes[0]!, outcomes[2]!].map(getText)).toEqual(["reviewed 1/1", "no secrets"]);
  // The model sees only the result of the call it made.
  expect(resultTexts(messages)).toEqual(["outer is done"]);
});

test("arguments and results of a nested call are copies", async () => {
  const args = { value: "judged" };
  const { events } = await runOuter(
    async (running) => {
      const { result } = await running.callTool("echo", args);
      result.content.push(text("added"));
      (result.details as { value: string }).value = "changed";
    },
    {
      beforeToolCall({ parentToolCallId }) {
        if (parentToolCallId !== undefined) args.value = "changed while it was judged";
        return undefined;
      },
    },
  );
  const start = events.find((event) => event.type === "tool_execution_start" && event.toolName === "echo");
  expect(start).toMatchObject({ args: { value: "judged" } });
  const end = events.find((event) => event.type === "tool_execution_end" && event.toolName === "echo");
  expect(end).toMatchObject({ result: { content: [text("echo judged")], details: { value: "judged" } } });
});

test("arguments that cannot be copied are not valid", async () => {
  const outcomes: ToolCallOutcome[] = [];
  await runOuter(async (running) => outcomes.push(await running.callTool("echo", { value: () => "" })));
  expect(outcomes).toMatchObject([{ isError: true, errorCode: "invalid_arguments" }]);
});

test("a nested call that is left running is aborted when its tool ends, and ends before it", async () => {
  const reasons: unknown[] = [];
  let onStarted = () => {};
  const isStarted = new Promise<void>((resolve) => (onStarted = resolve));
  const stopping: AgentTool = {
    ...echo,
    name: "stop",
    execute: (_id, _args, signal) =>
      new Promise((_resolve, reject) => {
        onStarted();
        signal!.addEventListener("abort", () => {
          reasons.push((signal!.reason as Error).message);
          reject(new Error("stopped"));
        });
      }),
  };
  const outcomes: ToolCallOutcome[] = [];
  let running: RunningToolCall;
  const { calls } = await runOuter(
    async (started) => {
      running = started;
      void started.callTool("stop", { value: "" }).then((outcome) => outcomes.push(outcome));
      void started.callTool("hang", { value: "" }).then((outcome) => outcomes.push(outcome));
      await isStarted;
    },
    { tools: [stopping, hanging] },
  );
  expect(reasons).toEqual(["The call of outer that made this one has ended."]);
  expect(calls.slice(-3)).toEqual([
    "tool_execution_end stop#1/1 error",
    "tool_execution_end hang#1/2 error",
    "tool_execution_end outer#1",
  ]);
  expect(outcomes.map(({ errorCode }) => errorCode)).toEqual(["aborted", "aborted"]);
  const late = await running!.callTool("echo", { value: "late" });
  expect(late).toMatchObject({ isError: true, errorCode: "aborted" });
  expect(getText(late)).toContain("the call of outer that it belongs to has ended");
});

test("a nested call is aborted alone by its own signal, and its updates go to its caller and to listeners", async () => {
  const reporting: AgentTool = {
    ...echo,
    name: "report",
    execute: (_id, _args, _signal, onUpdate) => {
      onUpdate?.({ content: [text("so far")] });
      return hang();
    },
  };
  const controller = new AbortController();
  const updates: unknown[] = [];
  const outcomes: ToolCallOutcome[] = [];
  const { events, messages } = await runOuter(
    async (running) => {
      const onUpdate = (update: AgentToolUpdate) => {
        updates.push(structuredClone(update));
        update.content.push(text("added by the caller"));
        controller.abort();
      };
      outcomes.push(await running.callTool("report", { value: "" }, { signal: controller.signal, onUpdate }));
      outcomes.push(await running.callTool("echo", { value: "still works" }, { id: "own-id" }));
    },
    { tools: [echo, reporting] },
  );
  expect(updates).toEqual([{ content: [text("so far")] }]);
  expect(events.find(({ type }) => type === "tool_execution_update")).toMatchObject({
    toolCallId: "1/1",
    parentToolCallId: "1",
    partialResult: { content: [text("so far")] },
  });
  expect(outcomes.map(({ errorCode }) => errorCode)).toEqual(["aborted", undefined]);
  expect(events.filter(isCallEvent).map(formatEvent)).toContain("tool_execution_start echo#own-id");
  expect(resultTexts(messages)).toEqual(["outer is done"]);
});

test("a nested call may reach tools that the model is not shown", async () => {
  const hidden: AgentTool = { ...echo, name: "hidden" };
  const outcomes: ToolCallOutcome[] = [];
  const known: string[][] = [];
  await runOuter(
    async (running) => outcomes.push(await running.callTool("hidden", { value: "x" }, { tools: [hidden] })),
    {
      beforeToolCall: ({ context }) => void known.push(context.tools!.map(({ name }) => name)),
    },
  );
  expect(outcomes.map(getText)).toEqual(["echo x"]);
  expect(known).toEqual([["outer", "echo"], ["hidden"]]);
});

test("a listener may wait for a nested call", async () => {
  let running: RunningToolCall | undefined;
  const reporting: AgentTool = {
    ...echo,
    name: "report",
    parameters: { type: "object", properties: {} },
    async execute(_id, _args, _signal, onUpdate) {
      onUpdate?.({ content: [text("so far")] });
      return { content: [text("done")] };
    },
  };
  const outcomes: ToolCallOutcome[] = [];
  await runAgentLoop(
    [{ role: "user", content: "go", timestamp: 1 }],
    { systemPrompt: "", messages: [], tools: [reporting, echo] },
    {
      model: script([call("report", {}, "1")], [text("ok")]),
      convertToLlm: defaultConvertToLlm,
      onToolExecution: (started) => void (running = started.toolName === "report" ? started : running),
    },
    async (event) => {
      if (event.type === "tool_execution_update") outcomes.push(await running!.callTool("echo", { value: "x" }));
    },
  );
  expect(outcomes).toHaveLength(1);
});

test("if onToolExecution throws, the call fails and its tool is not executed", async () => {
  const { messages } = await runOuter(() => expect.unreachable(), {
    onToolExecution: () => {
      throw new Error("no");
    },
  });
  expect(resultTexts(messages)).toEqual(["no"]);
});

const caller: AgentTool = {
  ...echo,
  name: "call_tool",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  callsNamedTool: true,
  execute: () => Promise.reject(new Error("it was executed itself")),
};

test("a call of a tool that is not listed is validated, guarded, reviewed, reported and recorded as that tool's", async () => {
  const found: AgentTool = { ...echo, name: "found" };
  const seen: unknown[] = [];
  const { events, messages } = await runLoop(
    script([call("call_tool", { name: "found", arguments: { value: "a" } }, "1")], [text("ok")]),
    {
      tools: [caller],
      findTool: ({ name }) => (name === "found" ? found : undefined),
      beforeToolCall({ toolCall, args, context }) {
        seen.push(["before", toolCall.name, args, context.tools!.includes(found)]);
        return undefined;
      },
      afterToolCall({ toolCall, args }) {
        seen.push(["after", toolCall.name, args]);
        return undefined;
      },
    },
  );
  expect(seen).toEqual([
    ["before", "found", { value: "a" }, true],
    ["after", "found", { value: "a" }],
  ]);
  expect(events.filter(isCallEvent).map(formatEvent)).toEqual([
    "tool_execution_start found#1",
    "tool_execution_end found#1",
  ]);
  expect(messages[1]).toMatchObject({
    content: [{ id: "1", name: "found", arguments: { value: "a" }, via: "call_tool" }],
  });
  expect(messages[2]).toMatchObject({ toolCallId: "1", toolName: "found", isError: false });
});

test.each([
  [{ name: "echo", arguments: { value: "a" } }, /^echo a$/],
  [{ name: "echo", arguments: {} }, /value/],
  [{ name: "nothing", arguments: {} }, /Tool nothing not found/],
  [{ name: "call_tool", arguments: { name: "echo" } }, /cannot call call_tool/],
  [{ name: "other_caller", arguments: { name: "echo" } }, /cannot call other_caller/],
  [{}, /name/],
  [{ name: "broken" }, /cannot be found/],
])("a call with %j ends with %s", async (args, outcome) => {
  const findTool = ({ name }: { name: string }) => {
    if (name === "broken") throw new Error("It cannot be found.");
    return undefined;
  };
  const tools = [echo, caller, { ...caller, name: "other_caller" }];
  const { messages } = await runLoop(script([call("call_tool", args, "1")], [text("ok")]), { tools, findTool });
  const [result] = resultTexts(messages);
  expect(result).toMatch(outcome);
});

test("what is called through another tool has its own order, also if it has to be found first", async () => {
  const steps: string[] = [];
  const record = (name: string, readOnly: boolean): AgentTool => ({
    ...echo,
    name,
    readOnly,
    async execute() {
      steps.push(`${name} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`${name} ends`);
      return { content: [text("ok")], details: {} };
    },
  });
  const found = new Map(["reads", "looks", "writes"].map((name) => [name, record(name, name !== "writes")]));
  const calls = ["reads", "looks", "writes"].map((name) =>
    call("call_tool", { name, arguments: { value: "a" } }, name),
  );
  await runLoop(script(calls, [text("ok")]), {
    tools: [caller],
    findTool: async ({ name }) => found.get(name),
    toolExecution: "ordered",
  });
  expect(steps.slice(0, 2)).toEqual(["reads starts", "looks starts"]);
  expect(steps.slice(4)).toEqual(["writes starts", "writes ends"]);
});

test("a tool can call another through one that calls by name", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const { calls } = await runOuter(
    async (running) => {
      outcomes.push(await running.callTool("call_tool", { name: "echo", arguments: { value: "a" } }));
      outcomes.push(await running.callTool("call_tool", { name: "call_tool", arguments: { name: "echo" } }));
    },
    { tools: [echo, caller] },
  );
  expect(outcomes.map(({ errorCode }) => errorCode)).toEqual([undefined, "invalid_arguments"]);
  expect(calls).toContain("tool_execution_start echo#1/1");
});

test("a hook that finds nothing in time is abandoned with the run", async () => {
  const aborting = new AbortController();
  const { messages } = await runLoop(script([call("call_tool", { name: "slow" }, "1")]), {
    tools: [caller],
    signal: aborting.signal,
    findTool() {
      aborting.abort();
      return new Promise<undefined>(() => {});
    },
  });
  expect(resultTexts(messages)).toEqual(["The call was aborted."]);
});

test("tools that call each other without end are stopped", async () => {
  let running: RunningToolCall | undefined;
  let last: ToolCallOutcome | undefined;
  const again: AgentTool = {
    ...echo,
    name: "again",
    async execute() {
      const outcome = await running!.callTool("again", { value: "a" });
      last ??= outcome;
      return { content: [text("ok")], details: {} };
    },
  };
  const { events } = await runLoop(script([call("again", { value: "a" }, "1")], [text("ok")]), {
    tools: [again],
    onToolExecution: (started) => (running = started),
  });
  expect(last?.errorCode).toBe("too_deep");
  expect(events.filter(({ type }) => type === "tool_execution_start")).toHaveLength(16);
});

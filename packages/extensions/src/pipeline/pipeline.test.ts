import { type AgentEvent, type AgentTool, agentLoop, defaultConvertToLlm } from "@tau/agent";
import { streamSimple } from "@tau/ai";
import { call, scriptedModel, text } from "@tau/ai/testing";
import fc from "fast-check";
import { type CommandSandbox, createFiles, createSpawn, type ToolCallContext } from "@tau/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ToolChoice } from "@tau/config/internal";
import { choiceProblems } from "./choices.ts";
import type { DroppedTool, GivenTool, HarnessActions, InputSchemaTool, PipelineInput, PipelineTool } from "./layer.ts";
import { buildPipeline, layers } from "./pipeline.ts";
import { toolsPrefix } from "./stable-order.ts";

const actions = (): HarnessActions => ({
  branch: async (entryId) => `after-${entryId ?? "the-last"}`,
  listEntries: async () => [],
  navigate: async () => undefined,
  reload: async () => [],
  interrupt: () => undefined,
});

const own = ["session_branch", "session_navigate", "gateway_reload", "agent_interrupt"];

const tool = (name: string, more: Partial<PipelineTool> = {}): PipelineTool => ({
  name,
  label: name,
  description: `does ${name}`,
  parameters: { type: "object", properties: { path: { type: "string" }, limit: { type: "integer" } } },
  execute: async () => ({ content: [text(name)] }),
  ...more,
});

const form = (name: string, more: Partial<InputSchemaTool> = {}): InputSchemaTool => ({
  name,
  description: `does ${name}`,
  execute: () => name,
  ...more,
});

const choice = (name: string, options: ToolChoice["options"] = {}, enabled = true): ToolChoice => ({
  name,
  enabled,
  options,
});

/** For tools that use neither files nor processes. */
const noContext = (): ToolCallContext => ({ files: createFiles(), spawn: createSpawn() });

const getInput = (more: Partial<PipelineInput> = {}): PipelineInput => ({
  base: [],
  requested: [],
  custom: [],
  choices: [],
  actions: actions(),
  binding: { channel: "chat", tools: [] },
  allowed: undefined,
  excluded: [],
  scopes: undefined,
  model: { api: "anthropic-messages", provider: "test", id: "test" },
  signal: new AbortController().signal,
  createCallContext: noContext,
  sandbox: undefined,
  lifecycles: { bind: (bound) => bound, getFailure: () => undefined },
  report: () => undefined,
  ...more,
});

const build = (more: Partial<PipelineInput> = {}) => {
  const reports: DroppedTool[] = [];
  const tools = buildPipeline(getInput({ report: (dropped) => void reports.push(dropped), ...more }));
  return {
    tools,
    names: tools.map(({ name }) => name),
    reports,
    lines: reports.map(({ name, layer, reason }) => `${layer} ${name}: ${reason}`),
  };
};

/** Without the harness's own tools, which are there because the session serves a channel. */
const given = (names: readonly string[]) => names.filter((name) => !own.includes(name));

const getText = async (tools: readonly AgentTool[], name: string, args = {}) => {
  const { content } = await tools.find((one) => one.name === name)!.execute("1", args);
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
};

describe("layer 1", () => {
  test("puts a custom tool in the place of a base tool of its name, reports that, and appends the others", async () => {
    const { names, lines, tools } = build({
      base: [tool("read"), tool("bash"), tool("ls")],
      custom: [form("deploy"), form("bash", { execute: () => "my bash" })],
    });
    expect(given(names)).toEqual(["read", "bash", "ls", "deploy"]);
    expect(await getText(tools, "bash")).toBe("my bash");
    expect(lines).toEqual(["1 bash: A custom tool of the same name replaces it."]);
  });

  test("keeps the first of two tools with one name", async () => {
    const { tools, lines } = build({
      base: [tool("read"), form("read", { execute: () => "later" })],
      custom: [form("x", { execute: () => "first" }), form("x", { execute: () => "later" })],
    });
    expect([await getText(tools, "read"), await getText(tools, "x")]).toEqual(["read", "first"]);
    expect(lines).toEqual([
      "1 read: Another tool has the same name and came first.",
      "1 x: Another tool has the same name and came first.",
    ]);
  });

  test("drops what an agent turns off, wherever it comes from, and what is no tool", () => {
    const { names, lines } = build({
      base: [tool("read"), tool("bash"), null as unknown as GivenTool],
      custom: [{ name: "half", description: "" } as unknown as GivenTool],
      binding: { channel: "discord", tools: [form("react")] },
      choices: [choice("bash", {}, false), choice("session_branch", {}, false), choice("react", {}, false)],
    });
    expect(names).toEqual(["read", ...own.slice(1)]);
    expect(lines).toEqual([
      "1 bash: The agent's tools.yaml turns it off.",
      "1 (no name): A tool is an object with a name and a function `execute`.",
      "1 half: It has no function `execute`.",
      "3 session_branch: The agent's tools.yaml turns it off.",
      "4 react: The agent's tools.yaml turns it off.",
    ]);
  });
});

describe("what an agent sets for a tool", () => {
  const seen = (): { calls: unknown[]; read: PipelineTool } => {
    const calls: unknown[] = [];
    const read = tool("read", {
      prepareArguments: (args) => {
        const { file_path: path, ...rest } = args as Record<string, unknown>;
        return path === undefined ? rest : { ...rest, path };
      },
      execute: async (_id, args) => (calls.push(args), { content: [] }),
    });
    return { calls, read: { ...read, parameters: { ...(read.parameters as object), required: ["path", "limit"] } } };
  };

  test("is put in where the model left it out, before arguments are validated", async () => {
    const { calls, read } = seen();
    const { tools } = build({ base: [read], choices: [choice("read", { limit: 5, path: "/default", colour: "red" })] });
    const model = scriptedModel([
      [
        call("read", { path: "a" }, "1"),
        call("read", { path: "b", limit: 9 }, "2"),
        call("read", { file_path: "c", limit: null }, "3"),
        call("read", {}, "4"),
      ],
      [text("ok")],
    ]);
    onTestFinished(() => model.dispose());
    const prompt = { role: "user" as const, content: "go", timestamp: 1 };
    const context = { systemPrompt: "", messages: [], tools };
    const config = { model, convertToLlm: defaultConvertToLlm, toolExecution: "sequential" as const };
    const messages = await agentLoop([prompt], context, config, undefined, streamSimple).result();
    expect(calls).toEqual([
      { path: "a", limit: 5 },
      { path: "b", limit: 9 },
      { path: "c", limit: 5 },
      { path: "/default", limit: 5 },
    ]);
    // What the model is shown, and what it said, stay as they were.
    expect(toolsPrefix(tools.slice(0, 1))).toBe(toolsPrefix([read]));
    expect(messages.find(({ role }) => role === "assistant")).toMatchObject({
      content: [{ arguments: { path: "a" } }, {}, {}, { arguments: {} }],
    });
  });

  test("leaves a null alone where the parameter takes one, and arguments that are no object", () => {
    const properties = { limit: { type: ["integer", "null"] } };
    const read = tool("read", { parameters: { type: "object", properties } });
    const [built] = build({ base: [read], choices: [choice("read", { limit: 5 })] }).tools;
    expect(built!.prepareArguments!({ limit: null })).toEqual({ limit: null });
    expect(built!.prepareArguments!({ limit: undefined })).toEqual({ limit: 5 });
    expect(built!.prepareArguments!("text")).toBe("text");
    expect(built!.prepareArguments!(null)).toBe(null);
  });

  test("is a problem where the tool has no such parameter, and the tool stays as it is", () => {
    const read = tool("read");
    const choices = [
      choice("read", { limitt: 5, ["__proto__"]: 1, toString: 2 }),
      choice("gone", { x: 1 }),
      choice("session_branch", { entryId: "e1" }),
    ];
    const { tools, reports } = build({ base: [read], choices });
    expect(reports).toEqual([]);
    expect(tools[0]!.prepareArguments).toBeUndefined();
    expect(choiceProblems(tools, choices).map(({ tool, option, message }) => [tool, option, message])).toEqual([
      ["read", "limitt", 'read has no parameter "limitt"; its value is ignored. Did you mean "limit"?'],
      ["read", "__proto__", 'read has no parameter "__proto__"; its value is ignored.'],
      ["read", "toString", 'read has no parameter "toString"; its value is ignored.'],
    ]);
  });
});

describe("a value that a parameter does not take", () => {
  test.each([
    ["limit", { limit: "many" }],
    ["limit", { limit: () => 1 }],
    ["path", { path: { a: 1 } }],
  ])("is ignored and is a problem: %s", (option, options) => {
    const { tools } = build({ base: [tool("read")], choices: [choice("read", options)] });
    expect(tools[0]!.prepareArguments).toBeUndefined();
    expect(choiceProblems(tools, [choice("read", options)]).map(({ message }) => message)).toEqual([
      `The parameter "${option}" of read does not take the value that is set for it, which is ignored.`,
    ]);
  });

  test("is not known behind a reference or in a schema that is broken, so it is left to the call", () => {
    const properties = { limit: { $ref: "#/$defs/limit" }, path: { type: "string", pattern: "(" } };
    const parameters = { type: "object", properties, $defs: { limit: { type: "integer" } } };
    const read = tool("read", { parameters });
    const { tools } = build({ base: [read], choices: [choice("read", { limit: "5", path: "x" })] });
    expect(tools[0]!.prepareArguments!({})).toEqual({ limit: "5", path: "x" });
  });
});

describe("the sandbox", () => {
  test("is given to calls that may change something, and a model is shown the same tools", async () => {
    const sandbox: CommandSandbox = { enter: async () => undefined };
    const contexts: (ToolCallContext | undefined)[] = [];
    const seen = (name: string, readOnly: boolean): PipelineTool => ({
      ...tool(name),
      readOnly,
      execute: async (_id, _params, _signal, _onUpdate, context) => {
        contexts.push(context);
        return { content: [], details: undefined };
      },
    });
    const base = [seen("writes", false), seen("reads", true)];
    const [without, inside] = [build({ base }), build({ base, sandbox })];
    const show = ({ tools }: typeof inside) =>
      tools.map(({ name, description, parameters, label }) => ({ name, description, parameters, label }));
    expect(show(inside)).toEqual(show(without));
    for (const one of inside.tools) await one.execute("id", {});
    expect(contexts.map((context) => context?.sandbox)).toEqual([sandbox, undefined]);
  });
});

describe("layer 3", () => {
  const told = () => {
    const done: string[] = [];
    const changed = ["settings.json"];
    const host: HarnessActions = {
      branch: async (entryId) => (done.push(`branch ${entryId}`), "s2"),
      listEntries: async () => ["e1 user: Hello", "e2 assistant: Hi"],
      navigate: async (entryId) => void done.push(`navigate ${entryId}`),
      reload: async () => changed.splice(0),
      interrupt: (reason) => void done.push(`interrupt ${reason}`),
    };
    return { done, tools: build({ actions: host }).tools };
  };

  test("has four tools that act on the session", async () => {
    const { done, tools } = told();
    expect(tools.map(({ name }) => name)).toEqual(own);
    const list = "e1 user: Hello\ne2 assistant: Hi";
    expect(await getText(tools, "session_branch")).toBe(
      `The new session is s2.\nThe last entries of this one:\n${list}`,
    );
    expect(await getText(tools, "session_navigate")).toBe(`The last entries:\n${list}`);
    expect(await getText(tools, "session_branch", { entryId: "e1" })).toBe("The new session is s2.");
    expect(await getText(tools, "session_navigate", { entryId: "e2" })).toContain("e2");
    expect(await getText(tools, "gateway_reload")).toBe("Changed:\n- settings.json");
    expect(await getText(tools, "gateway_reload")).toBe("Nothing changed.");
    expect(done).toEqual(["branch undefined", "branch e1", "navigate e2"]);
  });

  test("ends the run by agent_interrupt, with a reason or without", async () => {
    const { done, tools } = told();
    const interrupt = tools.find(({ name }) => name === "agent_interrupt")!;
    expect(await interrupt.execute("1", { reason: "no key" })).toMatchObject({ terminate: true });
    expect(await interrupt.execute("2", {})).toMatchObject({ terminate: true });
    expect(done).toEqual(["interrupt no key", "interrupt The agent asked for it."]);
  });
});

describe("layers 3 and 4", () => {
  test("replace nothing", async () => {
    const { names, tools, lines } = build({
      base: [form("agent_interrupt", { execute: () => "mine" })],
      binding: { channel: "discord", tools: [form("react"), form("session_branch"), form("react")] },
    });
    expect(names).toEqual(["agent_interrupt", ...own.slice(0, 3), "react"]);
    expect(await getText(tools, "agent_interrupt")).toBe("mine");
    expect(lines).toEqual([
      "3 agent_interrupt: Another tool has the same name and came first.",
      "4 session_branch: Another tool has the same name and came first.",
      "4 react: Another tool has the same name and came first.",
    ]);
  });
});

describe("layer 5", () => {
  test("hides the tools for channels from a session without one, unless its list of tools names them", () => {
    const { names, lines } = build({ base: [tool("read")], binding: undefined });
    expect(names).toEqual(["read"]);
    expect(lines).toEqual(own.map((name) => `5 ${name}: It is for sessions that serve a channel.`));
    expect(build({ binding: undefined, allowed: ["agent_interrupt"] }).names).toEqual(["agent_interrupt"]);
  });

  const base = [tool("read"), tool("bash", { requiredScope: "exec" }), form("post", { requiredScope: "net" })];

  test("hides nothing when nothing is said", () => {
    expect(build({ base }).names).toEqual(["read", "bash", "post", ...own]);
  });

  test("hides what is not allowed, what is excluded, and what needs a scope that the session lacks", () => {
    expect(build({ base, allowed: ["bash", "read", "nobody"] }).names).toEqual(["read", "bash"]);
    expect(build({ base, allowed: [] }).names).toEqual([]);
    const { names, lines } = build({ base, allowed: ["read", "bash", "post"], excluded: ["read"], scopes: ["net"] });
    expect(names).toEqual(["post"]);
    expect(lines.slice(0, 2)).toEqual([
      "5 read: This session excludes it.",
      '5 bash: It needs the scope "exec", which this session does not have.',
    ]);
    expect(lines[2]).toBe("5 session_branch: It is not among the tools that this session may have.");
  });
});

describe("all layers", () => {
  const names = fc.constantFrom("read", "bash", "a", "b", "session_branch", "dot.ted", "spa ce");
  const tools = fc.array(
    fc
      .record({ name: names, isForm: fc.boolean(), scope: fc.constantFrom(undefined, "net", "exec") })
      .map(({ name, isForm, scope }): GivenTool => {
        const more = scope === undefined ? {} : { requiredScope: scope };
        return isForm ? form(name, more) : tool(name, more);
      }),
    { maxLength: 5 },
  );
  const inputs = fc.record({
    base: tools,
    custom: fc.oneof(tools, fc.constant([undefined, { name: "broken" }] as unknown as GivenTool[])),
    binding: fc.option(
      tools.map((lent) => ({ channel: "discord", tools: lent })),
      { nil: undefined },
    ),
    choices: fc.array(
      fc.record({ name: names, enabled: fc.boolean(), options: fc.constantFrom({}, { limit: 1 }, { nope: 1 }) }),
      { maxLength: 3 },
    ),
    allowed: fc.option(fc.subarray(["read", "bash", "a", ...own]), { nil: undefined }),
    excluded: fc.subarray(["read", "b"]),
    scopes: fc.option(fc.subarray(["net", "exec"]), { nil: undefined }),
    model: fc
      .constantFrom("anthropic-messages", "google-vertex", "openai-responses", "mine")
      .map((api) => ({ api, provider: "test", id: "test" })),
  });

  test("change nothing of what they are given", () => {
    fc.assert(
      fc.property(inputs, (more) => {
        const input = deepFreeze(getInput(more));
        let passed: readonly PipelineTool[] = [];
        // Strict code throws when it changes what is frozen.
        for (const layer of layers) passed = layer(deepFreeze(passed), input);
        expect(passed.length).toBeLessThanOrEqual(input.base.length + input.custom.length + own.length + 5);
      }),
    );
  });

  test("make the same of the same input, down to the identity of each tool", () => {
    fc.assert(
      fc.property(inputs, (more) => {
        const input = getInput(more);
        const [first, second] = [buildPipeline(input), buildPipeline({ ...input })];
        expect(first.length).toBe(second.length);
        expect(first.every((one, at) => one === second[at])).toBe(true);
        // Also for another session, which shares nothing but what was given.
        const other = buildPipeline(getInput(more));
        expect(toolsPrefix(other)).toBe(toolsPrefix(first));
      }),
    );
  });

  test("keep each tool or report it, exactly once, under the number of the layer that took it", () => {
    fc.assert(
      fc.property(inputs, (more) => {
        const { names: kept, reports } = build(more);
        const getName = (one: GivenTool | undefined) => one?.name ?? "(no name)";
        const all = [...more.base, ...more.custom, ...(more.binding?.tools ?? [])].map(getName);
        expect([...kept, ...reports.map(({ name }) => name)].toSorted()).toEqual([...all, ...own].toSorted());
        expect(new Set(kept).size).toBe(kept.length);

        // Each layer alone reports under its own number.
        let passed: PipelineTool[] = [];
        for (const [at, layer] of layers.entries()) {
          const report = ({ layer: number }: DroppedTool) => expect(number).toBe(at + 1);
          passed = layer(passed, getInput({ ...more, report }));
        }
      }),
    );
  });

  test("pass a call through with its arguments, its updates and a signal that ends with the session", async () => {
    await fc.assert(
      fc.asyncProperty(inputs, fc.boolean(), async (more, bySession) => {
        const session = new AbortController();
        const calls: { args: unknown; signal: AbortSignal }[] = [];
        const probe = tool("probe", {
          execute: async (_id, args, signal, onUpdate) => {
            calls.push({ args, signal: signal! });
            onUpdate?.({ content: [text("half")] });
            (bySession ? session : run).abort("stop");
            return { content: [text("done")], details: { by: "probe" } };
          },
        });
        const run = new AbortController();
        const { tools: built } = build({
          ...more,
          base: [...more.base, probe],
          ...(more.allowed && { allowed: [...more.allowed, "probe"] }),
          signal: session.signal,
        });
        const updates: unknown[] = [];
        const result = await built
          .find(({ name }) => name === "probe")!
          .execute("1", { path: "x" }, run.signal, (update) => updates.push(update));
        expect(result).toEqual({ content: [text("done")], details: { by: "probe" } });
        expect(updates).toEqual([{ content: [text("half")] }]);
        expect(calls).toMatchObject([{ args: { path: "x" }, signal: { aborted: true, reason: "stop" } }]);
      }),
    );
  });

  test("carry a run: the model's call reaches the tool, and what it says reaches the listeners", async () => {
    const model = scriptedModel([
      [call("greet", { who: "you" }, "1")],
      [call("agent_interrupt", {}, "2")],
      [text("no")],
    ]);
    onTestFinished(() => model.dispose());
    const inputSchema = { type: "object", properties: { who: { type: "string" } }, required: ["who"] };
    const { tools: built } = build({
      custom: [form("greet", { inputSchema, execute: ({ who }) => ({ hello: who }) })],
      model,
    });
    const events: AgentEvent[] = [];
    const prompt = { role: "user" as const, content: "go", timestamp: 1 };
    const context = { systemPrompt: "", messages: [], tools: built };
    const loop = agentLoop([prompt], context, { model, convertToLlm: defaultConvertToLlm }, undefined, streamSimple);
    for await (const event of loop) events.push(event);
    expect(events.filter(({ type }) => type === "tool_execution_end")).toMatchObject([
      { toolName: "greet", isError: false, result: { content: [text('{"hello":"you"}')] } },
      { toolName: "agent_interrupt", isError: false, result: { terminate: true } },
    ]);
    expect(model.left).toBe(1);
  });
});

/** Plain objects and lists only: a signal has to stay alive. */
function deepFreeze<T>(value: T): T {
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value ?? 1) === Object.prototype;
  if (!isPlain || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value as object)) deepFreeze(inner);
  return value;
}

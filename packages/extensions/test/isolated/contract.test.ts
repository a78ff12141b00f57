/** Runs an extension in both hosts: what it answers, what it changes and what the session is asked are the same. */
import { systemClock } from "@tau/ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { createEventBus } from "../../src/runner/create-api.ts";
import {
  createCommandContext,
  createContext,
  createLifetime,
  createToolContext,
} from "../../src/runner/create-context.ts";
import type { ExtensionToolContext } from "../../src/api/context.ts";
import type { ExtensionEvent } from "../../src/api/events.ts";
import type { Extension } from "../../src/api/extension.ts";
import { loadInProcess } from "../../src/load/load-in-process.ts";
import { loadTypeboxModule } from "../../src/load/shared-modules.ts";
import { ExtensionRunner } from "../../src/runner/runner.ts";
import { callTool, createPlace, createPorts, createSource, canIsolate, load, toolCode } from "./kit.ts";

interface Hosted {
  extension: Extension;
  runner: ExtensionRunner;
  asked: unknown[][];
  toolContext: ExtensionToolContext;
  run: { command(name: string, args: string): Promise<void>; shortcut(key: string): Promise<void> };
}

interface Case {
  law: string;
  code: string;
  drive: (hosted: Hosted) => unknown;
}

const flags = new Map<string, boolean | string>([["loud", true]]);
const on = (body: string): string => `export default (tau) => { ${body} };`;
const toolCall = (): ExtensionEvent<"tool_call"> => ({
  type: "tool_call",
  toolCallId: "t1",
  toolName: "bash",
  input: { command: "ls", old: 1 },
});
const user = (text: string) => ({ role: "user" as const, content: text, timestamp: 1 });

const cases: readonly Case[] = [
  {
    law: "a tool answers with content and details",
    code: `export default (tau) => tau.registerTool({ name: "go", label: "Go", description: "d", parameters: { type: "object" },
      execute: async (id, params) => ({ content: [{ type: "text", text: id + params.a }], details: { b: [1] } }) });`,
    drive: ({ extension, toolContext }) =>
      extension.tools.get("go")!.execute("call", { a: 1 }, undefined, undefined, toolContext),
  },
  {
    law: "a tool that throws fails with its message",
    code: toolCode(`throw new Error("no luck");`),
    drive: (hosted) => callTool(hosted, "go").catch((error: Error) => error.message),
  },
  {
    law: "updates arrive in order, before the result",
    code: toolCode(
      `for (const n of [1, 2, 3]) onUpdate({ content: [{ type: "text", text: String(n) }] }); return "end";`,
    ),
    drive: async (hosted) => {
      const seen: unknown[] = [];
      return [await callTool(hosted, "go", {}, { onUpdate: (update) => seen.push(update) }), seen];
    },
  },
  {
    law: "an abort reaches the signal of a tool",
    code: toolCode(
      `onUpdate({ content: [] }); if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done)); return "stopped";`,
    ),
    drive: async (hosted) => {
      const controller = new AbortController();
      return await callTool(hosted, "go", {}, { signal: controller.signal, onUpdate: () => controller.abort() });
    },
  },
  {
    law: "a tool is described by its data",
    code: `import { Type } from "typebox"; export default (tau) => tau.registerTool({ name: "go", label: "Go", description: "d",
      parameters: Type.Object({ path: Type.String() }), promptSnippet: "s", promptGuidelines: ["g"], readOnly: true,
      executionMode: "sequential", execute: async () => ({ content: [] }) });`,
    drive: ({ extension }) => JSON.parse(JSON.stringify(extension.tools.get("go"))),
  },
  {
    law: "a call whose input was changed in place goes on with the new input",
    code: on(`tau.on("tool_call", (event) => { event.input.command = "pwd"; delete event.input.old; });`),
    drive: async ({ runner }) => {
      const event = toolCall();
      return [await runner.emit(event), event.input];
    },
  },
  {
    law: "the first handler that blocks a call counts",
    code: on(`tau.on("tool_call", () => ({ block: true, reason: "first" }));
      tau.on("tool_call", () => ({ block: true, reason: "second" }));`),
    drive: ({ runner }) => runner.emit(toolCall()),
  },
  {
    law: "a guard that throws denies",
    code: on(`tau.on("tool_call", () => { throw new Error("broken"); });`),
    drive: ({ runner }) => runner.emit(toolCall()).catch((error: Error) => error.message),
  },
  {
    law: "results of tools are changed one after the other",
    code: on(`tau.on("tool_result", () => ({ isError: true }));
      tau.on("tool_result", (event) => ({ content: [{ type: "text", text: String(event.isError) }] }));`),
    drive: ({ runner }) =>
      runner.emit({
        type: "tool_result",
        toolCallId: "t",
        toolName: "read",
        input: {},
        content: [],
        details: {},
        isError: false,
      }),
  },
  {
    law: "messages of the context pass from handler to handler",
    code: on(`tau.on("context", ({ messages }) => ({ messages: messages.slice(1) }));
      tau.on("context", ({ messages }) => ({ messages: [...messages, { role: "user", content: "more", timestamp: 2 }] }));`),
    drive: ({ runner }) => runner.emit({ type: "context", messages: [user("a"), user("b")] }),
  },
  {
    law: "system prompts are chained, and messages collected",
    code: on(`tau.on("before_agent_start", (e) => ({ systemPrompt: e.systemPrompt + " one", message: { customType: "m", content: "x", display: true } }));
      tau.on("before_agent_start", (e) => ({ systemPrompt: e.systemPrompt + " two" }));`),
    drive: ({ runner }) =>
      runner.emit({
        type: "before_agent_start",
        systemPrompt: "zero",
        systemPromptOptions: {
          cwd: "/",
          selectedTools: [],
          toolSnippets: {},
          promptGuidelines: [],
          sections: {},
          contextFiles: [],
          skills: [],
        },
        messageType: "user",
        prompt: "hi",
      }),
  },
  {
    law: "input is transformed, and one that is handled ends it",
    code: on(`tau.on("input", (e) => ({ action: "transform", text: e.text + "!" }));
      tau.on("input", (e) => e.text === "stop!" ? { action: "handled" } : undefined);`),
    drive: async ({ runner }) => [
      await runner.emit({ type: "input", text: "go", source: "interactive" }),
      await runner.emit({ type: "input", text: "stop", source: "interactive" }),
    ],
  },
  {
    law: "a switch can be cancelled",
    code: on(`tau.on("session_before_switch", () => ({ cancel: true }));`),
    drive: ({ runner }) => runner.emit({ type: "session_before_switch", reason: "new" }),
  },
  {
    law: "a payload is replaced by any value",
    code: on(`tau.on("before_provider_request", ({ payload }) => ({ ...payload, temperature: 0 }));`),
    drive: ({ runner }) => runner.emit({ type: "before_provider_request", payload: { model: "m" } }),
  },
  {
    law: "headers are changed in place",
    code: on(
      `tau.on("before_provider_headers", ({ headers }) => { headers["x-one"] = "1"; headers["x-two"] = null; });`,
    ),
    drive: async ({ runner }) => {
      const headers: Record<string, string | null> = { "x-two": "2", accept: "a" };
      await runner.emit({ type: "before_provider_headers", headers });
      return headers;
    },
  },
  {
    law: "entries at the end of a turn replace those of before",
    code: on(`tau.on("turn_end", ({ entries }) => ({ entries: [...entries, { type: "custom", customType: "n", data: 1 }] }));
      tau.on("turn_end", () => ({ continue: true }));`),
    drive: ({ runner }) =>
      runner.emit({
        type: "turn_end",
        entries: [],
        continue: false,
        context: { contextMessages: [], llmMessages: [], pendingMessages: [], canContinue: true },
        outcome: "completed",
        turnIndex: 0,
        message: user("x"),
        toolResults: [],
        messageEntryId: "e",
        toolResultEntryIds: [],
      }),
  },
  {
    law: "resources of several handlers are collected",
    code: on(
      `tau.on("resources_discover", () => ({ skillPaths: ["a"] })); tau.on("resources_discover", () => ({ skillPaths: ["b"], themePaths: ["t"] }));`,
    ),
    drive: ({ runner }) => runner.emit({ type: "resources_discover", cwd: "/", reason: "startup" }),
  },
  {
    law: "a replaced message keeps its role",
    code: on(`tau.on("message_end", ({ message }) => ({ message: { ...message, content: "changed" } }));
      tau.on("message_end", () => ({ message: { role: "assistant", content: [] } }));`),
    drive: ({ runner }) => runner.emit({ type: "message_end", message: user("x") }),
  },
  {
    law: "a handler that was removed is not called",
    code: on(`const stop = tau.on("tool_call", () => ({ block: true })); tau.on("agent_start", () => stop());`),
    drive: async ({ runner, extension }) => {
      const before = await runner.emit(toolCall());
      await runner.emit({ type: "agent_start" });
      await expect.poll(() => extension.handlers.has("tool_call")).toBe(false);
      return [before, await runner.emit(toolCall())];
    },
  },
  {
    law: "a handler that removes itself takes the turn of no other",
    code: on(`const stop = tau.on("input", async ({ text }) => { stop(); return { action: "transform", text: text + "1" }; });
      tau.on("input", ({ text }) => ({ action: "transform", text: text + "2" }));
      tau.on("input", ({ text }) => ({ action: "transform", text: text + "3" }));`),
    drive: ({ runner }) => runner.emit({ type: "input", text: "0", source: "rpc" }),
  },
  {
    law: "the state of the session can be read at once",
    code: toolCode(`return { model: ctx.model.id, hasUI: ctx.hasUI, mode: ctx.mode, cwd: ctx.cwd.length > 0, level: ctx.thinkingLevel, idle: ctx.isIdle(),
      usage: ctx.getContextUsage(), prompt: ctx.getSystemPrompt(), entries: ctx.sessionManager.getEntries(), entry: ctx.sessionManager.getEntry("e1").data,
      none: ctx.sessionManager.getEntry("e2") === undefined, leaf: ctx.sessionManager.getLeafId(), name: ctx.sessionManager.getSessionName(),
      models: ctx.modelRegistry.getAll().length, found: ctx.modelRegistry.find("test", "one").name, text: ctx.ui.getEditorText() };`),
    drive: (hosted) => callTool(hosted, "go"),
  },
  {
    law: "tools are set and read back at once",
    code: `let api; ${toolCode(`api.setActiveTools(["read"]); return api.getActiveTools();`).replace("function (tau) {", "function (tau) { api = tau;")}`,
    drive: (hosted) => callTool(hosted, "go"),
  },
  {
    law: "flags have their values, or their defaults",
    code: `let api; ${toolCode(`return [api.getFlag("loud"), api.getFlag("size"), api.getFlag("other")];`).replace(
      "function (tau) {",
      `function (tau) { api = tau; tau.registerFlag("loud", { type: "boolean" }); tau.registerFlag("size", { type: "string", default: "big" });`,
    )}`,
    drive: async (hosted) => [await callTool(hosted, "go"), [...hosted.extension.flags]],
  },
  {
    law: "a factory reads the defaults of its flags",
    code: `let early; ${toolCode(`return early;`).replace(
      "function (tau) {",
      `function (tau) { tau.registerFlag("size", { type: "string", default: "big" }); early = tau.getFlag("size");`,
    )}`,
    drive: (hosted) => callTool(hosted, "go"),
  },
  {
    law: "dialogs answer with what the person chose",
    code: toolCode(
      `return [await ctx.ui.select("t", ["first", "second"]), await ctx.ui.confirm("t", "m"), await ctx.ui.input("t", "p"), await ctx.ui.editor("t")];`,
    ),
    drive: async (hosted) => [await callTool(hosted, "go"), hosted.asked.map(([name, title]) => [name, title])],
  },
  {
    law: "dialogs take what is not text",
    code: toolCode(`return [await ctx.ui.select(3, [4, "second"]), await ctx.ui.confirm("t"), await ctx.ui.input()];`),
    drive: (hosted) => callTool(hosted, "go"),
  },
  {
    law: "a context can be copied, derived from and wrapped",
    code: toolCode(
      `const forms = [{ ...ctx }, Object.create(ctx), new Proxy(ctx, {}), Object.create({}, Object.getOwnPropertyDescriptors(ctx))];
       if (!Object.keys(ctx).includes("model")) throw new Error("It has no model.");
       return forms.map(({ cwd, hasUI, ui, tools, isIdle }) => [cwd === ctx.cwd, hasUI, typeof ui.notify, tools.length, isIdle()]);`,
    ),
    drive: (hosted) => callTool(hosted, "go"),
  },
  {
    law: "status, title, lines and notes are shown",
    code: toolCode(
      `ctx.ui.notify("hello", "warning"); ctx.ui.setStatus("k", "on"); ctx.ui.setTitle("t"); ctx.ui.setWidget("w", ["a", "b"], { placement: "belowEditor" }); return "";`,
    ),
    drive: async (hosted) => {
      await callTool(hosted, "go");
      await expect.poll(() => hosted.asked.length).toBe(4);
      return hosted.asked;
    },
  },
  {
    law: "messages and entries are sent",
    code: `let api; ${toolCode(`api.sendMessage({ customType: "c", content: "x", display: true }, { triggerTurn: true }); api.appendEntry("c", { a: 1 }); api.setSessionName("n"); return "";`).replace("function (tau) {", "function (tau) { api = tau;")}`,
    drive: async (hosted) => {
      await callTool(hosted, "go");
      await expect.poll(() => hosted.asked.length).toBe(3);
      return hosted.asked;
    },
  },
  {
    law: "a tool calls another one",
    code: toolCode(`return await ctx.executeTool("read", { path: "x" });`),
    drive: async (hosted) => [
      await callTool(hosted, "go"),
      hosted.asked.map(([name, id, tool, args]) => [name, id, tool, args]),
    ],
  },
  {
    law: "commands get their arguments, and complete them",
    code: on(`tau.registerCommand("hello", { description: "d", getArgumentCompletions: (p) => [{ value: p + "x", label: "l" }],
      handler: async (args, ctx) => { ctx.ui.notify(args); await ctx.waitForIdle(); } });`),
    drive: async ({ extension, asked, run }) => {
      const command = extension.commands.get("hello")!;
      const completions = await command.getArgumentCompletions!("a");
      await run.command("hello", "there");
      await expect.poll(() => asked.length).toBe(2);
      return [command.description, completions, asked.map(([name]) => name)];
    },
  },
  {
    law: "shortcuts are called",
    code: on(
      `tau.registerShortcut("ctrl+x", { description: "d", handler: (ctx) => ctx.ui.notify("pressed", "info") });`,
    ),
    drive: async ({ extension, asked, run }) => {
      await run.shortcut("ctrl+x");
      await expect.poll(() => asked.length).toBe(1);
      return [[...extension.shortcuts.keys()], asked];
    },
  },
  {
    law: "streamed messages arrive whole",
    code: `let text = ""; const kinds = []; ${toolCode(`return { text, kinds };`).replace(
      "function (tau) {",
      `function (tau) { tau.on("message_update", ({ message, assistantMessageEvent }) => { kinds.push(assistantMessageEvent.type); text = message.content.map((block) => block.text ?? JSON.stringify(block.arguments)).join("|"); });`,
    )}`,
    drive: async (hosted) => {
      // The first call starts the process; steps of before it are not sent.
      await callTool(hosted, "go");
      for (const event of streamSteps()) await hosted.runner.emit(event);
      return await callTool(hosted, "go");
    },
  },
  {
    law: "a provider is registered as data",
    code: on(
      `tau.registerProvider("mine", { baseUrl: "http://example.com", api: "openai-completions", apiKey: "k-1", models: [{ id: "m" }] });`,
    ),
    drive: ({ extension }) => [...extension.providers],
  },
  {
    law: "the object form has tools with their lifecycle, and hooks",
    code: `const seen = []; export default { name: "thing", version: "1.0.0", capabilities: ["crypto"], tools: [{ name: "go", description: "d",
      inputSchema: { type: "object", properties: {} }, onLoad: (ctx) => ctx.registerConfig({ word: { default: "hi" } }),
      beforeInvoke: () => { seen.push("before"); }, execute: (params, ctx) => ctx.getConfig("word") + seen.join() }],
      hooks: { onAgentStart: () => { seen.push("start"); } } };`,
    drive: async (hosted) => {
      const tool = hosted.extension.tools.get("go")!;
      const context = createFacilities();
      await tool.onLoad?.(context);
      await hosted.runner.emit({ type: "agent_start" });
      await tool.beforeInvoke?.({}, context);
      return await callTool(hosted, "go");
    },
  },
  {
    law: "an extension talks to itself and others over the bus",
    code: `const heard = []; let api; ${toolCode(
      `api.events.emit("c", { a: 1 });
       for (let tries = 0; tries < 1_000 && heard.length === 0; tries++) await new Promise((done) => setTimeout(done, 5));
       return heard;`,
    ).replace("function (tau) {", `function (tau) { api = tau; tau.events.on("c", (data) => heard.push(data));`)}`,
    drive: (hosted) => callTool(hosted, "go"),
  },
];

const createFacilities = () => {
  const config = new Map<string, unknown>();
  return {
    registerConfig: (fields: Record<string, { default?: unknown }>) => {
      for (const [name, field] of Object.entries(fields)) config.set(name, field.default);
    },
    getConfig: (name: string) => config.get(name),
    getLog: () => ({}) as never,
    signal: new AbortController().signal,
    toolCallId: "",
  };
};

/** A text of two pieces, then a call whose arguments grow. */
function* streamSteps(): Generator<ExtensionEvent<"message_update">> {
  const content: Record<string, unknown>[] = [];
  const message = { role: "assistant", content } as never;
  const step = (fields: object) =>
    ({ type: "message_update", message, assistantMessageEvent: { ...fields, partial: message } }) as never;
  yield step({ type: "start" });
  content.push({ type: "text", text: "" });
  yield step({ type: "text_start", contentIndex: 0 });
  for (const delta of ["Hel", "lo"]) {
    content[0]!["text"] = `${String(content[0]!["text"])}${delta}`;
    yield step({ type: "text_delta", contentIndex: 0, delta });
  }
  content.push({ type: "toolCall", id: "t", name: "n", arguments: {} });
  yield step({ type: "toolcall_start", contentIndex: 1 });
  content[1]!["arguments"] = { path: "a" };
  yield step({ type: "toolcall_delta", contentIndex: 1, delta: "{" });
}

async function inProcess(code: string): Promise<Hosted> {
  const place = createPlace();
  const { session, asked, problems } = await createPorts({ place });
  const { extensions, problems: failed } = await loadInProcess([createSource(place, code)], {
    lifetime: createLifetime(),
    getSession: () => session,
    flagValues: flags,
    findFlag: () => undefined,
    listMcpServers: () => [],
    events: createEventBus(),
    clock: systemClock,
    loadShared: loadTypeboxModule,
    cacheDirectory: undefined,
    report: (problem) => void problems.push(problem),
    log: () => {},
  });
  expect(failed).toEqual([]);
  return createHosted(extensions[0]!, session, asked);
}

async function isolated(code: string): Promise<Hosted> {
  const { extension, asked, ports } = await load(code, { ports: { flagValues: flags } });
  return createHosted(extension, ports.getSession()!, asked);
}

function createHosted(extension: Extension, session: Parameters<typeof createContext>[0], asked: unknown[][]): Hosted {
  const lifetime = createLifetime();
  const runner = new ExtensionRunner({
    extensions: [extension],
    session,
    clock: systemClock,
    lifetime,
    report: () => {},
  });
  onTestFinished(() => extension.close());
  return {
    extension,
    runner,
    asked,
    toolContext: createToolContext(session, lifetime, { id: "call", signal: undefined }),
    run: {
      command: async (name, args) =>
        await extension.commands.get(name)!.handler(args, createCommandContext(session, lifetime)),
      shortcut: async (key) => await extension.shortcuts.get(key)!.handler(createContext(session, lifetime)),
    },
  };
}

/** Without what is no data. */
const toData = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

describe.runIf(canIsolate)("in process and isolated", () => {
  test.each(cases)("$law", async ({ code, drive }) => {
    const outside = await isolated(code);
    const answer = toData(await drive(outside));
    const expected = toData(await drive(await inProcess(code)));
    expect(answer).toEqual(expected);
    expect(answer).not.toBeUndefined();
  });
});

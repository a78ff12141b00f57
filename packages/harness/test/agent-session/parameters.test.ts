/** Every parameter of seed 000 counts for something, and bad input is answered in words. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAI, systemClock } from "@tau/ai";
import { call, createFakeClock, startWireServer, text, type WireReply } from "@tau/ai/testing";
import type { LifecycleEvent } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import { AuthStorage } from "@tau/config/auth";
import { createAgent } from "../../src/construct/create-agent.ts";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import { ModelRegistry } from "@tau/config/models";
import { SessionManager } from "../../src/session/session-manager.ts";
import { SettingsManager } from "@tau/config/settings";
import { createHost } from "../../src/host/host.ts";
import type { Tool as InputSchemaTool } from "@tau/extensions";
import { createDebugLog } from "../../src/observe/debug-log.ts";
import { openDesk, sayTool, temporaryDirectory } from "./desk.ts";

/** A session that makes everything itself from what is in a directory. */
async function fromFiles(files: Record<string, string>, params: Parameters<typeof createAgentSession>[0] = {}) {
  const cwd = await temporaryDirectory();
  const agentDir = join(cwd, "agent");
  await mkdir(agentDir);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(cwd, name, ".."), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const session = await createAgentSession({ cwd, agentDir, use: ["user", "project"], ...params });
  onTestFinished(() => session.dispose());
  return { session, cwd, agentDir };
}

const localModel = (baseUrl: string) =>
  JSON.stringify({
    providers: {
      house: {
        baseUrl,
        api: "openai-completions",
        apiKey: "house-key-0123456789",
        models: [{ id: "small", name: "Small", contextWindow: 32_000, maxTokens: 4_000 }],
      },
    },
  });

/** A server that speaks a real wire protocol, and a session that knows it from its files. */
async function house(replies: readonly WireReply[], more: Record<string, string> = {}, params = {}) {
  const server = await startWireServer("openai-completions", replies);
  onTestFinished(() => server.close());
  const files = {
    "agent/models.json": localModel(server.url),
    "agent/settings.json": '{ "defaultModel": "house/small" } // chosen',
    ...more,
  };
  return { server, ...(await fromFiles(files, params)) };
}

const says = (words: string): WireReply => ({ kind: "answer", answer: { content: [text(words)] } });

test("from files alone: settings choose the model, models.json describes it, the request carries its key", async () => {
  const { session, server } = await house([says("Hello from the house.")], { "AGENTS.md": "Answer in one sentence." });
  expect(session.model).toMatchObject({ provider: "house", id: "small" });
  expect(await session.prompt("Hello?")).toMatchObject({ terminationReason: "no_tool_calls" });
  const [request] = server.requests;
  expect(request?.headers["authorization"]).toBe("Bearer house-key-0123456789");
  expect(JSON.stringify(request?.body)).toContain("Answer in one sentence.");
});

test("a provider that says nothing for 120 seconds is asked four times, and then the run ends for that reason", async () => {
  const clock = createFakeClock();
  const hangs: WireReply = { kind: "raw", chunks: [": hello\n\n"], ending: "hang" };
  const { session, server } = await house([hangs, hangs, hangs, hangs], {}, { clock });
  const ends: LifecycleEvent[] = [];
  session.onEvent((event) => event.type === "agent_end" && ends.push(event));
  const done = session.prompt("Hello?");
  let isOver = false;
  void done.finally(() => (isOver = true));
  // Small steps, so that a request is on its way for many of them before it is taken for idle.
  while (!isOver) await clock.advance(1_000);
  expect(ends[0]).toMatchObject({ terminationReason: "idle_timeout_120s" });
  expect(server.requests).toHaveLength(4);
});

test("a limit of the settings is the one that ends the run, and the one that is told", async () => {
  const clock = createFakeClock();
  const hangs: WireReply = { kind: "raw", chunks: [": hello\n\n"], ending: "hang" };
  const settings = { defaultModel: "house/small", httpIdleTimeoutMs: 300_000, retry: { enabled: false } };
  const { session } = await house([hangs], { "agent/settings.json": JSON.stringify(settings) }, { clock });
  const done = session.prompt("Hello?");
  let isOver = false;
  void done.finally(() => (isOver = true));
  while (!isOver) await clock.advance(1_000);
  const outcome = await done;
  expect(outcome).toMatchObject({ terminationReason: "idle_timeout_120s", detail: "idle_timeout_300s" });
  // The server is on this machine.
  expect(outcome).toMatchObject({
    failure: {
      message: expect.stringMatching(/^The provider sent no content for 300 s\. A local server .*httpIdleTimeoutMs/),
    },
  });
});

test("the debug log has what happened and never the key", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "debug.log");
  const debugLog = createDebugLog({ path, clock: systemClock, secrets: () => [] });
  const { session } = await house([says("Your key is house-key-0123456789.")], {}, { debugLog });
  await session.prompt("What is my key? Is it house-key-0123456789?");
  await debugLog.close();
  const log = await readFile(path, "utf8");
  expect(log).toContain("agent_end");
  expect(log).toContain("What is my key?");
  expect(log).not.toContain("house-key-0123456789");
});

test("nor has it the password of an address", async () => {
  const path = join(await temporaryDirectory(), "debug.log");
  const debugLog = createDebugLog({ path, clock: systemClock, secrets: () => [] });
  const elsewhere = localModel("http://ada:hunter2-secret@127.0.0.1:9/v1");
  const { session } = await house([], { "agent/models.json": elsewhere }, { debugLog });
  await session.prompt("Is hunter2-secret the password?");
  await debugLog.close();
  const log = await readFile(path, "utf8");
  expect(log).toContain("the password?");
  expect(log).not.toContain("hunter2");
});

test("authStorage: a key that was given for the process goes before the others", async () => {
  const authStorage = AuthStorage.inMemory();
  const { session, server } = await house([says("ok")], {}, { authStorage });
  authStorage.setRuntimeApiKey("house", "runtime-key-0123456789", server.url);
  await session.prompt("Hi");
  expect(server.requests[0]?.headers["authorization"]).toBe("Bearer runtime-key-0123456789");
});

test("a key is never sent to a host that it was not given for", async () => {
  const { session, server } = await house([says("never")], {}, { authStorage: AuthStorage.inMemory() });
  const before = process.env["ANTHROPIC_API_KEY"];
  process.env["ANTHROPIC_API_KEY"] = "env-key-0123456789";
  onTestFinished(() => {
    if (before === undefined) delete process.env["ANTHROPIC_API_KEY"];
    else process.env["ANTHROPIC_API_KEY"] = before;
  });
  const moved = { ...session.model!, provider: "anthropic" };
  await session.setModel(moved);
  expect(await session.prompt("Hi")).toMatchObject({ terminationReason: "error", failure: { kind: "auth" } });
  expect(server.requests).toHaveLength(0);
});

test("sessionId goes on with a session, also in a new process's place; one that is not there is said", async () => {
  const first = await house([says("one")]);
  await first.session.prompt("First.");
  const { sessionId } = first.session;
  await first.session.dispose();
  const { cwd, agentDir } = first;
  const again = await createAgentSession({ cwd, agentDir, sessionId });
  onTestFinished(() => again.dispose());
  expect(again.messages).toHaveLength(2);
  expect(again.model).toMatchObject({ provider: "house", id: "small" });
  await expect(createAgentSession({ cwd, agentDir, sessionId: "nowhere" })).rejects.toMatchObject({
    code: "session_not_found",
  });
});

test("agentName: an agent with its own prompt and its own tools", async () => {
  const { session } = await house(
    [],
    {
      "agent/agents/clerk/system-prompt.md": "You are a clerk.",
      "agent/agents/clerk/tools.yaml": "tools: [read, grep]\n",
    },
    { agentName: "clerk" },
  );
  expect(session.systemPrompt).toMatch(/^You are a clerk\./);
  expect(session.tools.map(({ name }) => name)).toEqual(["read", "grep"]);
  const cwd = await temporaryDirectory();
  await expect(createAgentSession({ cwd, agentDir: join(cwd, "agent"), agentName: "clark" })).rejects.toThrow("clark");
});

test("tools: names, tools and the inputSchema form, adapted once; an unknown name is answered with the nearest", async () => {
  const seen: unknown[] = [];
  const { session } = await openDesk([[call("greet", { who: "you" })], [text("ok")]], {
    tools: ["read", sayTool("look")],
    customTools: [
      {
        name: "greet",
        description: "Greets",
        inputSchema: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
        execute: async (input: Record<string, unknown>, { signal }: { signal: AbortSignal }) => {
          seen.push(input, signal instanceof AbortSignal);
          return { greeted: input["who"] };
        },
      },
    ],
  });
  await session.prompt("Greet me.");
  expect(seen).toEqual([{ who: "you" }, true]);
  expect(session.tools.map(({ name }) => name).slice(0, 3)).toEqual(["read", "look", "greet"]);
  expect(JSON.stringify(session.messages)).toContain('{\\"greeted\\":\\"you\\"}');
  await expect(createAgentSession({ cwd: "/", tools: ["raed"] })).rejects.toThrow('"read"');
});

test("bindings lend tools, scopes and lists of names hide them", async () => {
  const binding = { channel: "chat", tools: [{ ...sayTool("chat_react"), requiredScope: "chat.write" }] };
  const names = async (params: object) =>
    (await openDesk([], { tools: ["read"], binding, ...params })).session.tools.map(({ name }) => name);
  expect(await names({})).toContain("chat_react");
  expect(await names({ scopes: ["chat.read"] })).not.toContain("chat_react");
  expect(await names({ scopes: ["chat.write"] })).toContain("chat_react");
  expect(await names({ allowedTools: ["read"] })).toEqual(["read"]);
  expect(await names({ settings: { tools: { excluded: ["chat_react"] } } })).not.toContain("chat_react");
});

test("tools of a binding are told which channel, place and message the session answers", async () => {
  const seen: unknown[] = [];
  const react: InputSchemaTool = {
    name: "chat_react",
    description: "React to the message.",
    onLoad: ({ binding }) => seen.push(binding),
    execute: (_params, { binding }) => {
      seen.push(binding);
      return "done";
    },
  };
  const binding = { channel: "chat", channelId: "room-7", sourceMessageId: "message-9", tools: [react] };
  const { session } = await openDesk([[call("chat_react")], [text("ok")]], { binding });
  await session.prompt("React.");
  const place = { channel: "chat", channelId: "room-7", sourceMessageId: "message-9" };
  expect(seen).toEqual([place, place]);
  const wrong = { channel: "chat", channelId: 7, tools: [] } as never;
  await expect(createAgentSession({ cwd: "/", binding: wrong })).rejects.toThrow("binding.channelId");
});

test("onEvent gets the eleven events and nothing else", async () => {
  const events: LifecycleEvent[] = [];
  const { session } = await openDesk([[text("a"), call("look")], [text("b")]], {
    customTools: [sayTool("look")],
    onEvent: (event) => events.push(event),
  });
  await session.prompt("Look.");
  const eleven = new Set(
    "agent_start turn_start message_start text_delta tool_execution_start tool_execution_update tool_execution_end message_end turn_end agent_end error".split(
      " ",
    ),
  );
  expect(events.filter(({ type }) => !eleven.has(type))).toEqual([]);
  expect(events.length).toBeGreaterThan(10);
});

test("no model: the session opens, and a prompt says how to connect one", async () => {
  const { session } = await fromFiles({ "agent/settings.json": '{ "defaultModel": "nobody/knows" }' });
  if (session.model) return; // A key in the environment of this machine makes one usable.
  await expect(session.prompt("Hi")).rejects.toMatchObject({ code: "no_model" });
  await expect(session.prompt("Hi")).rejects.toThrow("ANTHROPIC_API_KEY");
});

test("files with mistakes are notices that name file and line, and the rest works", async () => {
  const { session } = await house([says("still here")], {
    "agent/settings.json": '{ "defaultModel": "house/small",\n "retry": { "maxRetries": "many" } }',
    "agent/skills/broken/SKILL.md": "---\nname: [\n---\nDo it.",
    ".tau/settings.json": '{ "shellPath": "/tmp/evil" }',
  });
  const words = session.notices.map(({ message }) => message).join("\n");
  expect(words).toMatch(/settings\.json:2/);
  expect(words).toContain("SKILL.md");
  expect(words).toContain("shellPath");
  expect(await session.prompt("Hi")).toMatchObject({ terminationReason: "no_tool_calls" });
});

test("a provider restricts the model, and a model that the catalogue does not have comes with a notice", async () => {
  const files = {
    "agent/models.json": JSON.stringify({ providers: { anthropic: { apiKey: "anthropic-key-0123456789" } } }),
    "agent/settings.json": JSON.stringify({ defaultProvider: "anthropic", defaultModel: "claude-opus-9" }),
  };
  const notices = (session: { notices: readonly { message: string }[] }) =>
    session.notices.map(({ message }) => message).join("\n");
  const { session: chosen } = await fromFiles(files);
  expect(chosen.model).toMatchObject({ provider: "anthropic", id: "claude-opus-9", contextWindow: 128_000 });
  expect(notices(chosen)).toContain('The catalogue has no model "anthropic/claude-opus-9"');

  const { session: restricted } = await fromFiles(files, { provider: "anthropic", model: "gpt-oss-120b" });
  expect(restricted.model).toMatchObject({ provider: "anthropic", id: "gpt-oss-120b" });
  const { session: alone } = await fromFiles(files, { provider: "openai" });
  expect(alone.model).toMatchObject({ provider: "openai", id: "gpt-6.1-sol" });
  expect(notices(alone)).toBe("");
  await alone.setModel("openai/gpt-99");
  expect(notices(alone)).toContain('The catalogue has no model "openai/gpt-99"');
  await expect(fromFiles(files, { provider: "nobody" })).rejects.toThrow('There is no provider "nobody".');
});

test("createAgent: three lines from an AI and tools by name to an answer", async () => {
  const server = await startWireServer("anthropic-messages", [
    { kind: "answer", answer: { content: [call("ls", {})] } },
    says("There is a file a.txt."),
  ]);
  onTestFinished(() => server.close());
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "a.txt"), "a");
  await mkdir(join(cwd, "agent"));
  await writeFile(join(cwd, "agent", "settings.json"), JSON.stringify({ retry: { maxRetries: 0 } }));
  const ai = createAI({
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    apiKey: "test-key-0123456789",
    config: { baseUrl: server.url },
  });
  const agent = createAgent({
    ai,
    tools: ["read", "write", "edit", "bash", "grep", "ls"],
    cwd,
    agentDir: join(cwd, "agent"),
  });
  onTestFinished(() => agent.dispose());
  expect(await agent.run("What is here?")).toBe("There is a file a.txt.");
  expect(JSON.stringify(server.requests[1]?.body)).toContain("a.txt");
  expect(server.requests[0]?.headers["x-api-key"]).toBe("test-key-0123456789");
  await expect(agent.run("And now?")).rejects.toMatchObject({ code: "run_failed" });
});

test("skills and templates from the settings: files and directories; commands can be turned off", async () => {
  const files = {
    "more/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies up.\n---\nPut things away.",
    "review.md": "Review $1 with care.",
    "agent/settings.json": JSON.stringify({
      defaultModel: "house/small",
      skills: ["../more/tidy/SKILL.md"],
      prompts: ["../review.md"],
    }),
  };
  const { session, server } = await house([says("ok"), says("ok")], files);
  expect(session.systemPrompt).toContain("Tidies up.");
  await session.prompt("/review main.ts");
  await session.prompt("/skill:tidy now");
  const sent = JSON.stringify(server.requests[1]?.body);
  expect(sent).toContain("Review main.ts with care.");
  expect(sent).toContain("Put things away.");
});

test("excludedTools are left out besides what the settings exclude", async () => {
  const { session } = await openDesk([], { excludedTools: ["bash"], settings: { tools: { excluded: ["jobs"] } } });
  const names = session.tools.map(({ name }) => name);
  expect(names).toContain("read");
  expect(names).not.toContain("bash");
  expect(names).not.toContain("jobs");
});

test("a budget of one session's own counts for each of its runs, whatever it spent before", async () => {
  const { session, events } = await openDesk([[call("look")], [text("never")], [text("fresh")]], {
    customTools: [sayTool("look")],
  });
  session.override({ budgets: { turns: 1 } });
  expect(await session.prompt("Look.")).toMatchObject({ detail: "budget_turns" });
  expect(await session.prompt("Again.")).toMatchObject({ detail: undefined });
  expect(events.filter(({ type }) => type === "agent_end")).toHaveLength(2);
});

test.each([
  ["cwd", "", '"cwd" has to be a string that is not empty, not "".'],
  ["agentDir", 1, '"agentDir" has to be a string that is not empty, not 1.'],
  ["model", {}, '"model" has to be a name, or a Model with all of its fields, not an object.'],
  ["tools", "read", '"tools" has to be a list, not "read".'],
  ["customTools", {}, '"customTools" has to be a list, not an object.'],
  ["excludedTools", "bash", '"excludedTools" has to be a list, not "bash".'],
  ["allowedTools", [1], '"allowedTools[0]" has to be a string, not 1.'],
  ["sessionManager", {}, '"sessionManager" has to be a SessionManager, or a promise of one, not an object.'],
  [
    "sessionManager",
    Promise.resolve(),
    '"sessionManager" has to be a SessionManager, or a promise of one, and is missing.',
  ],
  ["tools", [sayTool("say"), "read", sayTool("say")], '"tools" has two tools with the name "say".'],
  ["customTools", [sayTool("say"), sayTool("say")], '"customTools" has two tools with the name "say".'],
  [
    "binding",
    { channel: "chat", tools: [sayTool("say"), sayTool("say")] },
    '"binding.tools" has two tools with the name "say".',
  ],
  ["cwd", "/dev/null/gone", "The working directory /dev/null/gone does not exist."],
  ["cwd", "/dev/gone", "The working directory /dev/gone does not exist."],
  ["cwd", "/dev/null", "The working directory /dev/null is not a directory."],
  ["resources", { skillPaths: "x" }, '"resources.skillPaths" has to be a list, not "x".'],
  [
    "abortSignal",
    new AbortController(),
    '"abortSignal" has to be an AbortSignal, such as the signal of an AbortController, not an object.',
  ],
  ["onEvent", 1, '"onEvent" has to be a function, not 1.'],
  ["sandbox", "off", '"sandbox" has to be an object, not "off".'],
  ["sandbox", { mode: "always" }, '"sandbox.mode" has to be "off", "auto", or "required", not "always".'],
  ["toolExecution", "fast", '"toolExecution" has to be "ordered" or "sequential", not "fast".'],
  [
    "ask",
    "nobody",
    '"ask" has to be a function, "surface", or an object with a function `isAttended` or a store as `later`, not "nobody".',
  ],
  ["decide", "allow", '"decide" has to be a function, or what `extendPolicy` returns, not "allow".'],
  ["budgets", { turns: "3" }, '"budgets.turns" has to be a number of 0 or more, not "3".'],
  ["budgets", { turns: null }, '"budgets.turns" has to be a number of 0 or more, not null.'],
  ["budgets", { turn: 3 }, 'There is no parameter "budgets.turn". Did you mean "turns"?'],
  ["projectTrusted", "no", '"projectTrusted" has to be true or false, not "no".'],
  ["extensions", { factories: [1] }, '"extensions.factories[0]" has to be a function, or { name, factory }, not 1.'],
  ["clock", null, '"clock" has to be a Clock, not null.'],
  ["excludeTools", ["bash"], 'There is no parameter "excludeTools". Did you mean "excludedTools"?'],
])("a wrong %s is refused by its name: %j", async (name, value, message) => {
  const cwd = await temporaryDirectory();
  const opening = createAgentSession({ cwd, agentDir: join(cwd, "agent"), [name]: value });
  onTestFinished(async () => void (await opening.then((session) => session.dispose()).catch(() => {})));
  await expect(opening).rejects.toMatchObject({ code: "invalid_input", message });
});

test("a log that is still being opened is waited for", async () => {
  const cwd = await temporaryDirectory();
  const opening = SessionManager.inMemory(cwd);
  const session = await createAgentSession({ cwd, agentDir: join(cwd, "agent"), sessionManager: opening });
  onTestFinished(() => session.dispose());
  expect(session.sessionManager).toBe(await opening);
});

test("a parameter that is undefined is left out", async () => {
  const { session } = await openDesk([[text("Hello.")]], {
    abortSignal: undefined,
    budgets: { turns: undefined },
  } as {});
  expect(await session.prompt("Hi")).toMatchObject({ terminationReason: "no_tool_calls" });
});

test.each([
  [{ ...sayTool("odd"), description: 1 }, "Its description is not a text."],
  [{ name: "odd", description: "", inputSchema: "text", execute: () => "" }, "Its parameters are not a schema."],
])("a tool that is not valid is left out, and the session begins", async (tool, reason) => {
  const { session } = await openDesk([], { customTools: [tool] as never });
  expect(session.notices.map(({ message }) => message)).toContain(`The tool odd is left out: ${reason}`);
});

test.each([
  [{ type: "prompt", message: 1 }, '"message" has to be a string, not 1.'],
  [{ type: "prompt", message: "Hi", images: 1 }, '"images" has to be a list, not 1.'],
  [
    { type: "prompt", message: "Hi", images: [{ type: "image" }] },
    '"images[0].data" has to be a string, and is missing.',
  ],
  [{ type: "execute", prompt: "Hi", files: "a.txt" }, '"files" has to be a list, not "a.txt".'],
  [
    { type: "prompt", message: "Hi", streamingBehavior: "later" },
    '"streamingBehavior" has to be "steer" or "followUp", not "later".',
  ],
  [{ type: "steer", message: "Hi", interrupt: "now" }, '"interrupt" has to be true or false, not "now".'],
  [{ type: "set_tools", names: "read" }, '"names" has to be a list, not "read".'],
  [{ type: "set_auto_retry", enabled: "no" }, '"enabled" has to be true or false, not "no".'],
  [{ type: "compact", customInstructions: {} }, '"customInstructions" has to be a string, not an object.'],
  [{ type: "remove_queued" }, '"id" has to be a string that is not empty, and is missing.'],
  [{ type: "bash", command: 1 }, '"command" has to be a string that is not empty, not 1.'],
])("a wrong command is refused by the name of what is wrong: %j", async (command, message) => {
  const cwd = await temporaryDirectory();
  const host = createHost({ agentDir: join(cwd, "agent"), params: { cwd } });
  onTestFinished(() => host.dispose());
  const id = await host.create();
  await expect(host.execute(id, command as never)).rejects.toMatchObject({ code: "invalid_parameters", message });
  expect(host.get(id).session.messages).toEqual([]);
});

test("two tools with the same name are refused by an open session, which keeps its own", async () => {
  const { session } = await openDesk([]);
  const { tools } = session;
  expect(() => session.setTools([sayTool("say"), sayTool("say")])).toThrow(
    '"tools" has two tools with the name "say".',
  );
  expect(session.tools).toBe(tools);
});

const wrongCalls: [name: string, run: () => unknown, message: string][] = [
  ["createAgent", () => createAgent({} as never), '"ai" has to be an AI, such as one of createAI, and is missing.'],
  [
    "createHost",
    () => createHost({ params: {} } as never),
    '"agentDir" has to be a string that is not empty, and is missing.',
  ],
  ["createHost", () => createHost({ agentDir: "/a" } as never), '"params" has to be an object, and is missing.'],
  ["createHost", () => createHost(undefined as never), '"options" has to be an object, and is missing.'],
  ["createAgent", () => createAgent(undefined as never), '"options" has to be an object, and is missing.'],
  [
    "Host.execute",
    () => createHost({ agentDir: "/a", params: {} }).execute("1", undefined as never),
    '"command" has to be a command such as { type: "get_state" }, and is missing.',
  ],
  [
    "appendMessage",
    async () => await (await SessionManager.inMemory()).appendMessage({} as never),
    '"message" has to be a message with a role, not an object.',
  ],
  [
    "SettingsManager.create",
    () => SettingsManager.create(undefined as never),
    '"cwd" has to be a string, and is missing.',
  ],
  [
    "SettingsManager.update",
    () => SettingsManager.inMemory().update("user" as never, {}),
    '"scope" has to be "global" or "project", not "user".',
  ],
  [
    "ModelRegistry.create",
    () => ModelRegistry.create(undefined as never),
    '"agentDir" has to be a directory (ModelRegistry.inMemory() needs none), and is missing.',
  ],
  [
    "ModelRegistry.resolve",
    () => ModelRegistry.inMemory().resolve(undefined as never),
    '"spec" has to be a string, and is missing.',
  ],
  ["AuthStorage.create", () => AuthStorage.create(1 as never), '"path" has to be a string, not 1.'],
  [
    "AuthStorage.subscribe",
    () => AuthStorage.inMemory().subscribe({} as never),
    '"listener" has to be a function, not an object.',
  ],
];

test.each(wrongCalls)("%s refuses what it cannot use: %s", async (_name, run, message) => {
  await expect((async () => await run())()).rejects.toMatchObject({ code: "invalid_input", message });
});

test("a tool that a parameter leaves out and that does not exist is told", async () => {
  const { session } = await openDesk([], { excludedTools: ["bsah", "*grep*"] });
  expect(session.notices.map(({ message }) => message)).toEqual([
    expect.stringContaining('The parameter excludedTools: There is no tool "bsah".'),
  ]);
});

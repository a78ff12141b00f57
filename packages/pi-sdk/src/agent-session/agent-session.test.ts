import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Agent, type AgentMessage } from "@tau/agent";
import type { AssistantMessage } from "@tau/ai";
import { call, type ScriptedModel, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { createEventBus, type ExtensionFactory } from "@tau/extensions";
import { convertToLlm } from "@tau/harness/session";
import { contentText, SessionManager, type Skill } from "@tau/pi/internal";
import { AuthStorage } from "../auth/auth-storage.ts";
import { loadExtensionFromFactory } from "../extensions/load.ts";
import { createExtensionRuntime } from "../extensions/runtime.ts";
import { ModelRegistry } from "../models/model-registry.ts";
import { SettingsManager } from "../settings/settings-manager.ts";
import { AgentSession } from "./agent-session.ts";
import type { AgentSessionEvent } from "./types.ts";
import type { ResourceSource } from "./resource-source.ts";

let cwd: string;
let sessionDir: string;
let model: ScriptedModel | undefined;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "pi-agent-session-"));
  sessionDir = mkdtempSync(join(tmpdir(), "pi-agent-session-log-"));
});
afterEach(() => {
  model?.dispose();
  for (const directory of [cwd, sessionDir]) rmSync(directory, { recursive: true });
});

interface Setup {
  turns: ScriptedTurn[];
  factories?: ExtensionFactory[];
  settings?: Record<string, unknown>;
  hasKey?: boolean;
}

async function createSession({ turns, factories = [], settings = {}, hasKey = true }: Setup) {
  model = scriptedModel(turns);
  const runtime = createExtensionRuntime();
  const extensions = await Promise.all(
    factories.map((factory, index) =>
      loadExtensionFromFactory(factory, cwd, createEventBus(), runtime, `ext-${index}`),
    ),
  );
  const resourceLoader: ResourceSource = {
    getExtensions: () => ({ extensions, errors: [], runtime }),
    getSkills: () => ({ skills: [] }),
    getPrompts: () => ({
      prompts: [{ name: "greet", description: "", content: "Say hello to $1 and $@", source: "path", filePath: "" }],
    }),
    getAgentsFiles: () => ({ agentsFiles: [{ path: "/AGENTS.md", content: "Be brief." }] }),
    getSystemPrompt: () => undefined,
    getAppendSystemPrompt: () => [],
    reload: async () => {},
  };
  const auth = AuthStorage.inMemory();
  if (hasKey) auth.setRuntimeApiKey(model.provider, "key");
  const agent = new Agent({ initialState: { model, systemPrompt: "", tools: [] }, convertToLlm });
  const session = new AgentSession({
    agent,
    sessionManager: SessionManager.create(cwd, sessionDir),
    settingsManager: SettingsManager.inMemory({
      retry: { baseDelayMs: 1 },
      compaction: { enabled: false },
      ...settings,
    }),
    cwd,
    modelRegistry: ModelRegistry.inMemory(auth),
    resourceLoader,
  });
  const events: AgentSessionEvent[] = [];
  session.subscribe((event) => events.push(event));
  return { session, events, model };
}

const lines = (messages: readonly AgentMessage[]) =>
  messages.map((message) => `${message.role}: ${"content" in message ? contentText(message.content) : ""}`);

test("a prompt runs, and its messages are in the file of the session", async () => {
  const { session } = await createSession({ turns: [[call("ls", {})], [text("done")]] });
  session.setActiveToolsByName(["ls", "unknown"]);
  await session.prompt("list");
  expect(lines(session.messages)).toEqual([
    "user: list",
    "assistant: ",
    "toolResult: (empty directory)",
    "assistant: done",
  ]);
  expect(session.getActiveToolNames()).toEqual(["ls"]);
  const stored = SessionManager.open(session.sessionFile!);
  expect(lines(stored.buildSessionContext().messages)).toEqual(lines(session.messages));
  expect(session.getSessionStats()).toMatchObject({
    userMessages: 1,
    assistantMessages: 2,
    toolCalls: 1,
    toolResults: 1,
  });
  expect(session.getLastAssistantText()).toBe("done");
});

test("templates are expanded, and the system prompt has tools and context files", async () => {
  const { session } = await createSession({ turns: [[text("hi")]] });
  await session.prompt('/greet Ada "and Grace"');
  expect(lines(session.messages)[0]).toBe("user: Say hello to Ada and Ada and Grace");
  expect(session.systemPrompt).toContain("- bash:");
  expect(session.systemPrompt).toContain("Be brief.");
});

test("a prompt without a key or while a run is in progress is refused", async () => {
  const { session } = await createSession({ turns: [], hasKey: false });
  await expect(session.prompt("hi")).rejects.toThrow("No API key found");
  const busy = await createSession({ turns: [[call("wait", {})], [text("one")], [text("two")]] });
  let release = () => {};
  busy.session.agent.setTools([
    {
      name: "wait",
      label: "Wait",
      description: "",
      parameters: {},
      execute: () => new Promise((resolve) => (release = () => resolve({ content: [], details: {} }))),
    },
  ]);
  const running = busy.session.prompt("go");
  await expect.poll(() => busy.session.isStreaming).toBe(true);
  await expect(busy.session.prompt("again")).rejects.toThrow("Specify streamingBehavior");
  await busy.session.prompt("then this", { streamingBehavior: "followUp" });
  expect(busy.session.getFollowUpMessages()).toEqual(["then this"]);
  await expect.poll(() => (release(), busy.session.pendingMessageCount)).toBe(0);
  await running;
  expect(lines(busy.session.messages).at(-2)).toBe("user: then this");
});

test("a failure that may pass is tried again, and the attempts are reported", async () => {
  const overloaded = { failure: { kind: "overloaded" as const, message: "Overloaded" } };
  const { session, events } = await createSession({ turns: [overloaded, [text("made it")]] });
  await session.prompt("go");
  expect(lines(session.messages)).toEqual(["user: go", "assistant: made it"]);
  expect(events.filter(({ type }) => type.startsWith("auto_retry"))).toMatchObject([
    { type: "auto_retry_start", attempt: 1, maxAttempts: 3 },
    { type: "auto_retry_end", success: true, attempt: 1 },
  ]);
});

test("a retry that fails for a reason that does not pass is reported", async () => {
  const overloaded = { failure: { kind: "overloaded" as const, message: "Overloaded" } };
  const refused = { failure: { kind: "auth" as const, message: "Key refused" } };
  const { session, events } = await createSession({ turns: [overloaded, refused, [text("ok")]] });
  await session.prompt("go");
  await session.prompt("again");
  expect(events.filter(({ type }) => type === "auto_retry_end")).toEqual([
    { type: "auto_retry_end", success: false, attempt: 1, finalError: expect.stringContaining("Key refused") },
  ]);
});

test("a skill whose file is gone is reported, and the text is sent as it is", async () => {
  const { session } = await createSession({ turns: [[text("hi")]] });
  const skill = { name: "gone", description: "Is gone.", filePath: join(cwd, "gone/SKILL.md"), baseDir: cwd } as Skill;
  session.resourceLoader.getSkills = () => ({ skills: [skill] });
  const errors: unknown[] = [];
  await session.bindExtensions({ onError: (error) => errors.push(error) });
  await session.prompt("/skill:gone now");
  expect(lines(session.messages)[0]).toBe("user: /skill:gone now");
  expect(errors).toMatchObject([{ extensionPath: skill.filePath, event: "skill_expansion" }]);
});

test.each([
  ["added to", (prompt: string) => `${prompt}\nEXTRA`, /(?<!EXTRA)\nEXTRA$/],
  ["replaced", () => "You are a pirate", /^You are a pirate$/],
])("a system prompt that an extension has %s is the same for each prompt", async (_verb, change, expected) => {
  const { session } = await createSession({
    turns: [[text("a")], [text("b")], [text("c")]],
    factories: [
      (pi) => void pi.on("before_agent_start", ({ systemPrompt }) => ({ systemPrompt: change(systemPrompt) })),
    ],
  });
  const prompts: string[] = [];
  for (const word of ["one", "two", "three"]) {
    await session.prompt(word);
    prompts.push(session.systemPrompt);
  }
  expect(prompts[0]).toMatch(expected);
  expect(prompts).toEqual([prompts[0], prompts[0], prompts[0]]);
});

test("extensions see input, calls and results, and their commands and tools work", async () => {
  const seen: string[] = [];
  const { session } = await createSession({
    turns: [[call("shout", { word: "hi" }), call("ls", {})], [text("ok")]],
    factories: [
      (pi) => {
        pi.registerTool({
          name: "shout",
          label: "Shout",
          description: "",
          parameters: { type: "object", properties: { word: { type: "string" } } },
          promptSnippet: "say it loudly",
          execute: async (_id, { word }) => ({ content: [{ type: "text", text: word.toUpperCase() }], details: {} }),
        });
        pi.registerCommand("note", {
          handler: async (args) => {
            pi.appendEntry("note", args);
          },
        });
        pi.on("input", ({ text: typed }) => ({ action: "transform", text: `${typed}!` }));
        pi.on("tool_call", ({ toolName }) => (toolName === "ls" ? { block: true, reason: "not here" } : undefined));
        pi.on("tool_result", ({ toolName, content }) => {
          seen.push(toolName);
          return { content: [...content, { type: "text", text: "(loudly)" }] };
        });
        pi.on("before_agent_start", () => ({ message: { customType: "aside", content: "be nice", display: false } }));
      },
    ],
  });
  expect(session.systemPrompt).toContain("- shout: say it loudly");
  await session.prompt("/note remember");
  expect(session.sessionManager.getEntries()).toMatchObject([{ type: "custom", customType: "note", data: "remember" }]);
  session.setActiveToolsByName(["shout", "ls"]);
  await session.prompt("go");
  expect(lines(session.messages)).toEqual([
    "user: go!",
    "custom: be nice",
    "assistant: ",
    "toolResult: HI\n(loudly)",
    "toolResult: not here",
    "assistant: ok",
  ]);
  expect(seen).toEqual(["shout"]);
});

test("a branch is left with a summary, and a session forked before a message", async () => {
  const { session } = await createSession({ turns: [[text("one")], [text("two")], [text("SUMMARY")]] });
  await session.prompt("first");
  await session.prompt("second");
  const [first, second] = session.getUserMessagesForForking();
  const moved = await session.navigateTree(second!.entryId, { summarize: true });
  expect(moved).toMatchObject({ cancelled: false, editorText: "second" });
  expect(session.messages.at(-1)).toMatchObject({ role: "branchSummary", summary: expect.stringContaining("SUMMARY") });
  const file = session.sessionFile;
  expect(await session.fork(first!.entryId)).toEqual({ selectedText: "first", cancelled: false });
  expect(session.messages).toEqual([]);
  expect(session.sessionFile).not.toBe(file);
  await expect(session.fork("missing")).rejects.toThrow("Invalid entry ID for forking");
});

test("a compaction replaces what is old by a summary", async () => {
  const settings = { compaction: { enabled: false, keepRecentTokens: 1 } };
  const { session } = await createSession({
    turns: [[text("one")], [text("two")], [text("SUMMARY")], [text("PREFIX")]],
    settings,
  });
  await session.prompt("first");
  await session.prompt("second");
  const { summary, usage } = await session.compact("keep names");
  expect(summary).toContain("SUMMARY");
  expect(session.sessionManager.getEntries().at(-1)).toMatchObject({ type: "compaction", usage });
  const answers = session.messages.flatMap((message) => (message.role === "assistant" ? [message.usage.output] : []));
  const output = answers.reduce((sum, tokens) => sum + tokens, usage!.output);
  expect(session.getSessionStats().tokens.output).toBe(output);
  expect(usage!.output).toBeGreaterThan(0);
  expect(session.messages[0]).toMatchObject({ role: "compactionSummary" });
  expect(session.getContextUsage()).toMatchObject({ tokens: null, percent: null });
  await expect(session.compact()).rejects.toThrow("Already compacted");
});

test("commands of a person are recorded, after the run that is in progress", async () => {
  const { session } = await createSession({ turns: [[text("one")], [text("two")]] });
  const chunks: string[] = [];
  const result = await session.executeBash("printf '\\033[1mhi'; exit 3", (chunk) => chunks.push(chunk), {
    excludeFromContext: true,
  });
  expect([result.output, result.exitCode, result.cancelled, chunks.join("")]).toEqual(["hi", 3, false, "hi"]);
  expect(session.messages).toMatchObject([{ role: "bashExecution", excludeFromContext: true, exitCode: 3 }]);

  const running = session.executeBash("echo started; sleep 60", () => session.abortBash());
  expect(session.isBashRunning).toBe(true);
  expect(await running).toMatchObject({ cancelled: true, exitCode: undefined });
  expect(session.isBashRunning).toBe(false);

  const unsubscribe = session.subscribe((event) => {
    if (event.type !== "turn_start") return;
    session.recordBashResult("ls", { output: "", exitCode: 0, cancelled: false, truncated: false });
    unsubscribe();
  });
  await session.prompt("first");
  expect(session.hasPendingBashMessages).toBe(true);
  expect(session.messages.map(({ role }) => role)).toEqual(["bashExecution", "bashExecution", "user", "assistant"]);
  await session.prompt("second");
  expect(session.hasPendingBashMessages).toBe(false);
  expect(session.messages.slice(4).map(({ role }) => role)).toEqual(["bashExecution", "user", "assistant"]);
  expect(session.sessionManager.getEntries()).toHaveLength(7);
});

test("operations of an extension run the command, and their failure is the caller's", async () => {
  const { session } = await createSession({ turns: [], settings: { shellCommandPrefix: "set -e" } });
  const operations = {
    exec: async (command: string) => {
      throw new Error(`no host for ${command}`);
    },
  };
  await expect(session.executeBash("ls", undefined, { operations })).rejects.toThrow("no host for set -e\nls");
  expect(session.messages).toEqual([]);
});

test("a session is written as a page", async () => {
  const { session } = await createSession({ turns: [[text("the answer")]] });
  await session.prompt("the question");
  const path = await session.exportToHtml("page.html");
  expect(path).toBe(join(cwd, "page.html"));
  expect(readFileSync(path, "utf8")).toMatch(/the question[\s\S]*the answer/);
});

test("a scoped model brings its thinking level", async () => {
  const { session, model: scripted } = await createSession({ turns: [] });
  const other = { ...scripted, id: "other", reasoning: true };
  session.setScopedModels([{ model: scripted }, { model: other, thinkingLevel: "high" }]);
  expect(await session.cycleModel()).toMatchObject({ model: { id: "other" }, thinkingLevel: "high", isScoped: true });
  expect(session.supportsXhighThinking()).toBe(false);
});

test("scoped models without a key are left out, and an unknown model counts as the first", async () => {
  const { session, model: scripted } = await createSession({ turns: [] });
  const [first, second] = [
    { ...scripted, id: "first" },
    { ...scripted, id: "second" },
  ];
  const locked = { ...scripted, id: "locked", provider: "nobody" };
  session.setScopedModels([{ model: first }, { model: locked }, { model: second }]);
  expect((await session.cycleModel())?.model.id).toBe("second");
  expect((await session.cycleModel())?.model.id).toBe("first");
  session.setScopedModels([{ model: first }, { model: locked }]);
  expect(await session.cycleModel()).toBeUndefined();
});

test("a model that cannot think leaves the preferred level, and extensions learn of each choice", async () => {
  const chosen: unknown[] = [];
  const { session, model: scripted } = await createSession({
    turns: [],
    settings: { defaultThinkingLevel: "high" },
    factories: [(pi) => void pi.on("model_select", ({ model: next, source }) => void chosen.push([next.id, source]))],
  });
  const thinker = { ...scripted, id: "thinker", reasoning: true };
  const plain = { ...scripted, id: "plain", reasoning: false };
  const levels: string[] = [];
  for (const next of [thinker, plain, thinker]) {
    await session.setModel(next);
    levels.push(`${session.thinkingLevel} ${String(session.settingsManager.getDefaultThinkingLevel?.())}`);
  }
  expect(levels).toEqual(["high high", "off high", "high high"]);
  session.setScopedModels([{ model: thinker }, { model: plain }]);
  await session.cycleModel();
  await session.setModel(plain);
  expect(chosen).toEqual([
    ["thinker", "set"],
    ["plain", "set"],
    ["thinker", "set"],
    ["plain", "cycle"],
  ]);
});

test("a provider that an extension changes is used by the model in use", async () => {
  const { session, model: scripted } = await createSession({
    turns: [],
    factories: [
      (pi) => {
        const change = (baseUrl: string) => pi.registerProvider("anthropic", { baseUrl });
        change("http://localhost/at-load");
        pi.registerCommand("proxy", { handler: async () => change("http://localhost/by-command") });
      },
    ],
  });
  expect(session.modelRegistry.find("anthropic", "claude-sonnet-4-5")?.baseUrl).toBe("http://localhost/at-load");
  session.agent.setModel({ ...scripted, provider: "anthropic", id: "claude-sonnet-4-5" });
  await session.prompt("/proxy");
  expect(session.model?.baseUrl).toBe("http://localhost/by-command");
});

test("an extension can end the program, and a command cannot wait in a queue", async () => {
  let ended = 0;
  const bye: ExtensionFactory = (pi) =>
    pi.registerCommand("bye", { handler: async (_args, context) => context.shutdown() });
  const { session } = await createSession({ turns: [], factories: [bye] });
  await session.bindExtensions({ shutdownHandler: () => void ended++ });
  await session.prompt("/bye");
  expect(ended).toBe(1);
  await expect(session.steer("/bye now")).rejects.toThrow(
    'Extension command "/bye" cannot be queued. Use prompt() or execute the command when not streaming.',
  );
});

test("a compaction needs a key, and the statistics tell how full the context is", async () => {
  const { session } = await createSession({ turns: [], hasKey: false });
  await expect(session.compact()).rejects.toThrow("No API key found for");
  expect(session.getSessionStats().contextUsage).toEqual(session.getContextUsage());
  expect(session.getContextUsage()).toMatchObject({ tokens: 0, percent: 0 });
});

const summarizeByExtension: ExtensionFactory = (pi) => {
  pi.on("session_before_compact", ({ preparation: { firstKeptEntryId, tokensBefore } }) => ({
    compaction: { summary: "SUMMARY", firstKeptEntryId, tokensBefore },
  }));
};
/** In a later millisecond than the compaction before it. */
const overflow: ScriptedTurn = async () => {
  const start = Date.now();
  while (Date.now() === start) await new Promise((resolve) => void setImmediate(resolve));
  return { failure: { kind: "context_overflow", message: "prompt is too long" } };
};
const getCompactions = (events: readonly AgentSessionEvent[]) =>
  events.flatMap((event) => {
    if (event.type === "auto_compaction_start") return [event.reason];
    return event.type === "auto_compaction_end"
      ? [event.errorMessage ?? (event.willRetry ? "sent again" : "kept")]
      : [];
  });

test("a request that is too long is sent again once, in a compacted context", async () => {
  const { session, events, model } = await createSession({
    turns: [[text("one")], overflow, [text("two")], overflow, overflow],
    factories: [summarizeByExtension],
    settings: { compaction: { enabled: true, keepRecentTokens: 1 } },
  });
  await session.prompt("first");
  await session.prompt("second");
  expect(lines(session.messages).at(-1)).toBe("assistant: two");
  expect(lines(model.asked[2]!.context.messages)[0]).toContain("SUMMARY");
  expect(getCompactions(events)).toEqual(["overflow", "sent again"]);
  await session.prompt("third");
  expect(getCompactions(events).slice(2)).toEqual([
    "overflow",
    "sent again",
    expect.stringContaining("Context overflow recovery failed after one compact-and-retry attempt."),
  ]);
  expect(model.left).toBe(0);
});

test("a context that an aborted answer filled is compacted before the next prompt", async () => {
  const { session, events } = await createSession({
    turns: [[text("one")], [text("two")]],
    factories: [summarizeByExtension],
    settings: { compaction: { enabled: true, keepRecentTokens: 1 } },
  });
  await session.prompt("first");
  const last = session.messages.at(-1) as AssistantMessage;
  Object.assign(last, { stopReason: "aborted", usage: { ...last.usage, totalTokens: 199_000 } });
  await session.prompt("second");
  expect(getCompactions(events)).toEqual(["threshold", "kept"]);
  expect(session.messages[0]).toMatchObject({ role: "compactionSummary" });
});

test("a model with the level max alone counts as one with xhigh", async () => {
  const { session, model } = await createSession({ turns: [] });
  expect(session.supportsXhighThinking()).toBe(false);
  session.agent.setModel({ ...model, reasoning: true, thinkingLevelMap: { max: "max" } });
  expect(session.getAvailableThinkingLevels()).not.toContain("xhigh");
  expect(session.supportsXhighThinking()).toBe(true);
});

test("a custom message in the tree is written anew, and an extension decides on labels and instructions", async () => {
  const events: Record<string, unknown>[] = [];
  const decide: ExtensionFactory = (pi) => {
    pi.on("session_before_tree", ({ preparation }) => {
      events.push(preparation as unknown as Record<string, unknown>);
      return { label: "chosen", customInstructions: "keep the names", replaceInstructions: true } as object;
    });
    pi.on("session_tree", (event) => void events.push(event as unknown as Record<string, unknown>));
  };
  const { session, model } = await createSession({
    turns: [[text("one")], [text("two")], [text("SUMMARY")]],
    factories: [decide],
  });
  await session.prompt("first");
  await session.sendCustomMessage({ customType: "note", content: "a note", display: true });
  await session.prompt("second");
  const note = session.sessionManager.getEntries().find(({ type }) => type === "custom_message")!;
  const options = { summarize: true, label: "mine" };
  expect(await session.navigateTree(note.id, options)).toMatchObject({ editorText: "a note", cancelled: false });
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "branchSummary"]);
  expect(events).toEqual([
    expect.objectContaining({ userWantsSummary: true, label: "mine" }),
    expect.objectContaining({ fromExtension: false }),
  ]);
  expect(session.sessionManager.getEntries().at(-1)).toMatchObject({ type: "label", label: "chosen" });
  const asked = lines(model.asked[2]!.context.messages).join();
  expect(asked).toContain("keep the names");
  expect(asked).not.toContain("## Goal");
});

test("compactions, the end of a run and the queue are told under the names of today", async () => {
  const { session, events } = await createSession({
    turns: [[text("one")], [text("two")]],
    factories: [summarizeByExtension],
    settings: { compaction: { enabled: true, keepRecentTokens: 1 } },
  });
  const running = session.prompt("first");
  await session.followUp("second");
  await running;
  await session.compact();
  await expect(session.compact()).rejects.toThrow("Already compacted");
  const told = events.flatMap((event) => {
    switch (event.type) {
      case "queue_update":
        return [`waiting: ${event.followUp.join()}`];
      case "agent_settled":
        return [`settled ${event.aborted}`];
      case "compaction_start":
        return [event.reason];
      case "compaction_end":
        return [event.errorMessage ?? event.result?.summary];
      default:
        return [];
    }
  });
  const compactions = ["manual", "SUMMARY", "manual", "Compaction failed: Already compacted"];
  expect(told).toEqual(["waiting: second", "waiting: ", "settled false", ...compactions]);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { call, type ScriptedModel, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import {
  type ExtensionAPI,
  type ExtensionContext,
  type ExtensionFactory,
  type ExtensionUi,
  noUi,
} from "@tau/extensions";
import { AuthStorage } from "../auth/auth-storage.ts";
import type { ExtensionError } from "../extensions/runner.ts";
import { ModelRegistry } from "../models/model-registry.ts";
import { DefaultResourceLoader } from "../resources/resource-loader.ts";
import { SessionManager } from "@tau/pi/internal";
import { SettingsManager } from "../settings/settings-manager.ts";
import { createAgentSession } from "./create-agent-session.ts";

let directory: string;
let cwd: string;
let agentDir: string;
let model: ScriptedModel | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-session-extensions-"));
  [cwd, agentDir] = [join(directory, "project"), join(directory, "agent")];
  for (const path of [cwd, agentDir]) mkdirSync(path);
});
afterEach(() => {
  model?.dispose();
  rmSync(directory, { recursive: true });
});

const put = (path: string, content: string) => {
  const file = join(directory, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  return file;
};

async function createSession(factory: ExtensionFactory, turns: ScriptedTurn[] = []) {
  model = scriptedModel(turns);
  const authStorage = AuthStorage.inMemory();
  authStorage.setRuntimeApiKey(model.provider, "key");
  const settingsManager = SettingsManager.create(cwd, agentDir);
  const resourceLoader = new DefaultResourceLoader({ cwd, agentDir, settingsManager, extensionFactories: [factory] });
  await resourceLoader.reload();
  const { session } = await createAgentSession({
    cwd,
    agentDir,
    model,
    authStorage,
    modelRegistry: ModelRegistry.inMemory(authStorage),
    settingsManager,
    sessionManager: SessionManager.inMemory(cwd),
    resourceLoader,
  });
  return session;
}

test("turns are numbered from 0 in each run, and a run has a signal", async () => {
  const seen: unknown[] = [];
  const signals: unknown[] = [];
  const session = await createSession(
    (pi) => {
      pi.on("turn_start", (event, ctx) => {
        signals.push(ctx.signal);
        seen.push([event.turnIndex, typeof event.timestamp]);
      });
      pi.on("turn_end", ({ turnIndex, toolResults }) => void seen.push([turnIndex, toolResults.length]));
      pi.registerCommand("signal", { handler: async (_args, ctx) => void signals.push(ctx.signal) });
    },
    [[call("ls", {})], [text("done")], [text("again")]],
  );
  session.setActiveToolsByName(["ls"]);
  await session.prompt("one");
  await session.prompt("two");
  const first = [0, "number"];
  expect(seen).toEqual([first, [0, 1], [1, "number"], [1, 0], first, [0, 0]]);
  await session.prompt("/signal");
  expect(signals.map((signal) => signal instanceof AbortSignal)).toEqual([true, true, true, false]);
});

test("paths that extensions discover are loaded, and anew at each reload", async () => {
  put("project/more/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nTidy.");
  const prompt = put("project/more/hello.md", "Hello");
  const reasons: unknown[] = [];
  const session = await createSession((pi) => {
    pi.on("resources_discover", (event) => {
      reasons.push([event.cwd, event.reason]);
      return { skillPaths: ["more/skills"], promptPaths: reasons.length === 1 ? [prompt] : [] };
    });
  });
  await session.bindExtensions({});
  expect(session.systemPrompt).toContain("Tidies up.");
  expect(session.promptTemplates.map(({ name }) => name)).toEqual(["hello"]);
  await session.reload();
  expect(session.systemPrompt.split("Tidies up.")).toHaveLength(2);
  expect(session.promptTemplates).toEqual([]);
  expect(reasons).toEqual([
    [cwd, "startup"],
    [cwd, "reload"],
  ]);
});

test("a reload keeps what the program bound and the values of flags, and reads the settings", async () => {
  const seen: unknown[] = [];
  const errors: ExtensionError[] = [];
  const session = await createSession((pi) => {
    pi.registerFlag("plan", { type: "boolean", default: false });
    pi.on("session_start", ({ reason }, ctx) => {
      seen.push([reason, ctx.hasUI, ctx.mode, pi.getFlag("plan"), pi.getSettings().theme]);
      throw new Error("reported");
    });
    pi.registerCommand("new", { handler: async (_args, ctx) => void seen.push(await ctx.newSession()) });
  });
  await session.reload();
  const newSession = async () => ({ cancelled: true });
  await session.bindExtensions({
    uiContext: { ...noUi } as ExtensionUi,
    mode: "rpc",
    commandContextActions: { newSession } as never,
    onError: (error) => errors.push(error),
  });
  session.extensionRunner.setFlagValue("plan", true);
  put("agent/settings.json", `{"theme": "light"}`);
  await session.reload();
  await session.prompt("/new");
  expect(seen).toEqual([
    ["startup", true, "rpc", false, undefined],
    ["reload", true, "rpc", true, "light"],
    { cancelled: true },
  ]);
  expect(errors.map(({ event, error }) => [event, error])).toEqual([
    ["session_start", "reported"],
    ["session_start", "reported"],
  ]);
});

test("extensions can list the commands, prompts and skills", async () => {
  const prompt = put("agent/prompts/hello.md", "Say hello");
  const skill = put("agent/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nTidy.");
  let api: ExtensionAPI | undefined;
  await createSession((pi) => {
    api = pi;
    pi.registerCommand("go", { description: "Goes.", handler: async () => {} });
  });
  expect(api?.getCommands()).toMatchObject([
    { name: "go", description: "Goes.", source: "extension", path: "<inline:1>" },
    { name: "hello", source: "prompt", location: "user", path: prompt, sourceInfo: { path: prompt, scope: "user" } },
    { name: "skill:tidy", description: "Tidies up.", source: "skill", path: skill },
  ]);
});

test("a compaction that an extension starts and that fails is reported", async () => {
  const messages: string[] = [];
  const errors: ExtensionError[] = [];
  const session = await createSession((pi) => {
    pi.registerCommand("compact", {
      handler: async (_args, ctx) => {
        ctx.compact();
        ctx.compact({ onError: ({ message }) => void messages.push(message) });
        ctx.compact({
          onError: () => {
            throw new Error("mine");
          },
        });
      },
    });
  });
  await session.bindExtensions({ onError: (error) => errors.push(error) });
  await session.prompt("/compact");
  await expect.poll(() => errors.length).toBe(1);
  expect(messages).toEqual(["Nothing to compact (session too small)"]);
  expect(errors).toMatchObject([{ event: "compact", error: "mine" }]);
});

test("the settings reach the tools, also after a reload", async () => {
  put("agent/settings.json", `{"shellPath": "/nowhere/bash"}`);
  const session = await createSession(() => {}, [[call("bash", { command: "echo hi" })], [text("done")]]);
  await expect(session.executeBash("ls")).rejects.toThrow("/nowhere/bash does not exist");
  put("agent/settings.json", "{}");
  await session.reload();
  await session.prompt("go");
  expect(session.messages[2]).toMatchObject({ role: "toolResult", content: [{ text: "hi\n" }], isError: false });
});

test("models that a person chose from are known to extensions", async () => {
  let count: number | undefined;
  const session = await createSession((pi) => {
    pi.registerCommand("count", { handler: async (_args, ctx) => void (count = ctx.scopedModels.length) });
  });
  session.setScopedModels([{ model: session.model! }]);
  await session.prompt("/count");
  expect(count).toBe(1);
});

test("a session is idle when its run and its retries have ended", async () => {
  put("agent/settings.json", `{"retry": {"baseDelayMs": 1}}`);
  const overloaded = { failure: { kind: "overloaded" as const, message: "Overloaded" } };
  const session = await createSession(() => {}, [overloaded, [text("ok")]]);
  const states: boolean[] = [];
  let answer: Promise<string | undefined> | undefined;
  session.subscribe(({ type }) => {
    if (type === "agent_start") answer ??= session.waitForIdle().then(() => session.getLastAssistantText());
    if (type === "auto_retry_start") states.push(session.isIdle);
  });
  await session.prompt("go");
  expect([...states, session.isIdle, await answer]).toEqual([false, true, "ok"]);
});

test("a branch is written as a session of its own", async () => {
  const session = await createSession(() => {}, [[text("one")], [text("two")]]);
  await session.prompt("first");
  await session.prompt("second");
  await session.navigateTree(session.getUserMessagesForForking()[1]!.entryId);
  const path = session.exportToJsonl(join(directory, "new/branch.jsonl"));
  const { messages } = SessionManager.open(path).buildSessionContext();
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test("what an extension kept of a session that was reloaded throws", async () => {
  const apis: ExtensionAPI[] = [];
  const contexts: ExtensionContext[] = [];
  const session = await createSession((pi) => {
    apis.push(pi);
    pi.on("session_start", (_event, ctx) => void contexts.push(ctx));
  });
  await session.bindExtensions({});
  await session.reload();
  expect(() => contexts[0]?.cwd).toThrow("stale");
  expect(() => apis[0]?.getActiveTools()).toThrow("stale");
  expect([contexts[1]?.cwd, apis[1]?.getActiveTools().length]).toEqual([cwd, 4]);
});

test("definitions of tools are those of extensions and of the program", async () => {
  const execute = async () => ({ content: [], details: {} });
  const session = await createSession((pi) =>
    pi.registerTool({ name: "own", label: "Own", description: "", parameters: {}, execute }),
  );
  expect(["own", "read", "none"].map((name) => session.getToolDefinition(name)?.name)).toEqual([
    "own",
    "read",
    undefined,
  ]);
});

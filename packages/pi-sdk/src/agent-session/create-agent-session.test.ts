import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ThinkingLevel } from "@tau/agent";
import { type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import type { ExtensionFactory } from "@tau/extensions";
import { AuthStorage } from "../auth/auth-storage.ts";
import { ModelRegistry } from "../models/model-registry.ts";
import { DefaultResourceLoader } from "../resources/resource-loader.ts";
import { SessionManager } from "@tau/pi/internal";
import { SettingsManager } from "../settings/settings-manager.ts";
import { createAgentSession } from "./create-agent-session.ts";

let directory: string;
let agentDir: string;
let model: ScriptedModel;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-create-session-"));
  agentDir = join(directory, "agent");
  mkdirSync(agentDir);
  model = scriptedModel([[text("one")], [text("two")], [text("three")]], { model: { reasoning: true } });
});
afterEach(() => {
  model.dispose();
  rmSync(directory, { recursive: true });
});

interface Setup {
  settings?: Record<string, unknown>;
  factories?: ExtensionFactory[];
  sessionManager?: SessionManager;
}

async function create({ settings = {}, factories = [], sessionManager }: Setup = {}) {
  const settingsManager = SettingsManager.inMemory(settings);
  const authStorage = AuthStorage.inMemory();
  authStorage.setRuntimeApiKey(model.provider, "key");
  const modelRegistry = ModelRegistry.inMemory(authStorage);
  const { id, api, baseUrl } = model;
  modelRegistry.registerProvider(model.provider, {
    baseUrl: "http://localhost",
    apiKey: "key",
    models: [{ id, api, baseUrl, reasoning: true }],
  });
  const resourceLoader = new DefaultResourceLoader({
    cwd: directory,
    agentDir,
    settingsManager,
    extensionFactories: factories,
  });
  await resourceLoader.reload();
  const { session } = await createAgentSession({
    cwd: directory,
    agentDir,
    model,
    settingsManager,
    authStorage,
    modelRegistry,
    resourceLoader,
    ...(sessionManager && { sessionManager }),
  });
  return session;
}
const getTypes = (manager: SessionManager) => manager.getEntries().map(({ type }) => type);

test("a new session is below the agent directory and has its model and thinking level for the next time", async () => {
  const session = await create({ settings: { defaultThinkingLevel: "low" } });
  expect(session.sessionFile).toContain(join(agentDir, "sessions"));
  expect(getTypes(session.sessionManager)).toEqual(["model_change", "thinking_level_change"]);
  await session.prompt("hello");
  const again = await create({ sessionManager: SessionManager.open(session.sessionFile!) });
  expect(again.thinkingLevel).toBe("low");
  expect(getTypes(again.sessionManager)).toEqual(["model_change", "thinking_level_change", "message", "message"]);
});

test("requests follow the settings and the handlers of extensions", async () => {
  const shout: ExtensionFactory = (pi) => {
    pi.on("context", ({ messages }) => ({
      messages: messages.map((message) =>
        message.role === "user" && typeof message.content !== "string"
          ? { ...message, content: [{ type: "text" as const, text: "HELLO" }, ...message.content.slice(1)] }
          : message,
      ),
    }));
  };
  const budgets = { low: 99 };
  const settings = { steeringMode: "all", thinkingBudgets: budgets, images: { blockImages: true } };
  const session = await create({ settings, factories: [shout], sessionManager: SessionManager.inMemory() });
  expect([session.steeringMode, session.followUpMode]).toEqual(["all", "one-at-a-time"]);
  const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
  await session.prompt("hello", { images: [image, image] });
  const { context, options } = model.asked[0]!;
  expect(options.thinkingBudgets).toEqual(budgets);
  expect(context.messages.find(({ role }) => role === "user")?.content).toEqual([
    { type: "text", text: "HELLO" },
    { type: "text", text: "Image reading is disabled." },
  ]);
  expect(session.messages[0]).toMatchObject({ content: [{ type: "text", text: "hello" }, image, image] });
});

test("another session has its own id, thinking level and messages that wait", async () => {
  const switches: unknown[] = [];
  const watch: ExtensionFactory = (pi) => {
    pi.on(
      "session_switch",
      (event) => void switches.push((event as { previousSessionFile?: string }).previousSessionFile),
    );
  };
  const settings = { defaultThinkingLevel: "high" };
  const session = await create({ settings, factories: [watch] });
  await session.prompt("first");
  session.setThinkingLevel("low");
  const first = session.sessionFile!;
  await session.sendCustomMessage({ customType: "note", content: "aside", display: true }, { deliverAs: "nextTurn" });
  session.settingsManager.setDefaultThinkingLevel!("high");
  await session.newSession();
  expect(session.agent.sessionId).toBe(session.sessionId);
  expect(getTypes(session.sessionManager)).toEqual(["thinking_level_change"]);
  await session.prompt("second");
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const second = session.sessionFile;
  session.setThinkingLevel("minimal");
  session.settingsManager.setDefaultThinkingLevel!("high");
  await session.switchSession(first);
  expect(session.thinkingLevel).toBe("low");
  expect(session.settingsManager.getDefaultThinkingLevel!()).toBe("high");
  expect(switches).toEqual([first, second]);
  const [entry] = session.getUserMessagesForForking();
  await session.fork(entry!.entryId);
  expect(session.agent.sessionId).toBe(session.sessionId);
});

test("a session without a thinking level gets that of the settings", async () => {
  const other = SessionManager.create(directory, directory);
  other.appendMessage({ role: "user", content: "hello", timestamp: 1 });
  other.appendMessage({ ...(await getAnswer()), timestamp: 2 });
  const session = await create({ settings: { defaultThinkingLevel: "high" } });
  session.setThinkingLevel("low");
  session.settingsManager.setDefaultThinkingLevel!("high");
  await session.switchSession(other.getSessionFile()!);
  expect(session.thinkingLevel).toBe("high" satisfies ThinkingLevel);
  expect(getTypes(session.sessionManager)).toEqual(["message", "message", "thinking_level_change"]);
});

async function getAnswer() {
  const session = await create({ sessionManager: SessionManager.inMemory() });
  await session.prompt("hello");
  const last = session.messages.at(-1);
  if (last?.role !== "assistant") throw new Error("There is no answer.");
  return last;
}

test("a thinking level that a model does not have becomes the next higher one", async () => {
  const session = await create({ sessionManager: SessionManager.inMemory() });
  session.agent.setModel({ ...model, thinkingLevelMap: { minimal: null } });
  session.setThinkingLevel("minimal");
  expect(session.thinkingLevel).toBe("low");
});

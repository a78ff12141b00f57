import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Context, getModels, type Model } from "@tau/ai";
import { getCurrentSystemPrompt, streamSimple } from "@tau/pi/internal";
import { createFauxCore, fauxAssistantMessage } from "@tau/pi/pi-ai";
import { AuthStorage } from "../auth/auth-storage.ts";
import { ModelRegistry } from "./model-registry.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-models-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (providers: unknown, auth = AuthStorage.inMemory()) => {
  const path = join(directory, "models.json");
  writeFileSync(path, typeof providers === "string" ? providers : JSON.stringify({ providers }));
  return new ModelRegistry(auth, path);
};
const of = (registry: ModelRegistry, name: string) => registry.getAll().filter(({ provider }) => provider === name);

test("a file adds models, with defaults for what it leaves out", async () => {
  const registry = open({
    local: {
      baseUrl: "http://localhost:1",
      apiKey: "k",
      api: "openai-completions",
      models: [{ id: "a" }, { id: "b" }],
    },
  });
  expect(registry.find("local", "a")).toMatchObject({
    name: "a",
    contextWindow: 128_000,
    input: ["text"],
    reasoning: false,
  });
  expect(await registry.getApiKeyForProvider("local")).toBe("k");
  expect(registry.getAvailable().filter(({ provider }) => provider === "local")).toHaveLength(2);
});

test("a provider that is built in keeps its models, changed as the file says", () => {
  const [first, second] = getModels("anthropic");
  const registry = open({
    anthropic: {
      baseUrl: "http://proxy",
      headers: { "x-a": "1" },
      modelOverrides: { [first!.id]: { name: "Mine", cost: { input: 9 } }, unknown: { name: "x" } },
      models: [{ id: second!.id, name: "Replaced" }],
    },
  });
  expect(of(registry, "anthropic")).toHaveLength(getModels("anthropic").length);
  expect(registry.find("anthropic", first!.id)).toMatchObject({
    name: "Mine",
    baseUrl: "http://proxy",
    headers: { "x-a": "1" },
    cost: { input: 9, output: first!.cost.output },
  });
  expect(registry.find("anthropic", second!.id)).toMatchObject({ name: "Replaced", api: "anthropic-messages" });
});

test("a file with a mistake does not count, and says why", () => {
  expect(open("{").getError()).toContain("Failed to parse models.json");
  const registry = open({ local: { models: [{ id: "a" }] } });
  expect(registry.getError()).toContain('Provider local: "baseUrl" is required');
  expect(of(registry, "anthropic")).toHaveLength(getModels("anthropic").length);
  expect(new ModelRegistry(AuthStorage.inMemory(), join(directory, "none.json")).getError()).toBeUndefined();
});

test("what an extension registers stays after a refresh and goes when it is unregistered", () => {
  const registry = open({});
  const config = { baseUrl: "http://x", apiKey: "k", api: "openai-completions", models: [{ id: "m" }] };
  registry.registerProvider("acme", config);
  registry.registerProvider("anthropic", { baseUrl: "http://proxy" });
  registry.refresh();
  expect(registry.find("acme", "m")).toBeDefined();
  expect(new Set(of(registry, "anthropic").map(({ baseUrl }) => baseUrl))).toEqual(new Set(["http://proxy"]));
  registry.unregisterProvider("acme");
  registry.unregisterProvider("anthropic");
  expect(registry.find("acme", "m")).toBeUndefined();
  expect(of(registry, "anthropic")[0]!.baseUrl).toBe(getModels("anthropic")[0]!.baseUrl);
  expect(() => registry.registerProvider("acme", { ...config, apiKey: undefined! })).toThrow('"apiKey" or "oauth"');
});

test("a base URL that is registered later counts for all models, also after a refresh", () => {
  const registry = open({});
  const models = [{ id: "own", baseUrl: "http://own" }, { id: "plain" }];
  const getUrls = (name: string) => new Set(of(registry, name).map(({ baseUrl }) => baseUrl));
  registry.registerProvider("acme", { baseUrl: "http://x", apiKey: "k", api: "openai-completions", models });
  expect(getUrls("acme")).toEqual(new Set(["http://own", "http://x"]));
  registry.registerProvider("acme", { headers: { "x-a": "1" } });
  expect(getUrls("acme")).toEqual(new Set(["http://own", "http://x"]));
  registry.registerProvider("acme", { baseUrl: "http://proxy" });
  registry.registerProvider("anthropic", { baseUrl: "http://proxy", models: [] });
  const check = () => {
    expect(of(registry, "acme").map(({ id }) => id)).toEqual(["own", "plain"]);
    expect(getUrls("acme")).toEqual(new Set(["http://proxy"]));
    expect(of(registry, "anthropic")).toHaveLength(getModels("anthropic").length);
  };
  check();
  registry.refresh();
  check();
});

test("a login of an extension changes the models once it is logged in", () => {
  const credential = { type: "oauth" as const, access: "a", refresh: "r", expires: 0, host: "http://mine" };
  const auth = AuthStorage.inMemory();
  const registry = open({}, auth);
  const oauth = {
    name: "Acme",
    modifyModels: (models: Model[], { host }: Record<string, unknown>) =>
      models.map((model) => (model.provider === "acme" ? { ...model, baseUrl: String(host) } : model)),
  };
  registry.registerProvider("acme", { baseUrl: "http://x", api: "openai-completions", models: [{ id: "m" }], oauth });
  expect(registry.find("acme", "m")!.baseUrl).toBe("http://x");
  auth.set("acme", credential);
  registry.refresh();
  expect(registry.find("acme", "m")!.baseUrl).toBe("http://mine");
  registry.unregisterProvider("acme");
});

test("a provider with a stream function of its own answers, and is shown the prompt both ways", async () => {
  const registry = open({});
  const core = createFauxCore({ api: "acme-api" });
  const seen: Context[] = [];
  core.setResponses([(context) => (seen.push(context), fauxAssistantMessage("hello"))]);
  registry.registerProvider("acme", {
    baseUrl: "http://x",
    apiKey: "k",
    api: "acme-api",
    models: [{ id: "m" }],
    streamSimple: core.streamSimple,
  });
  const context = { systemPrompt: "Be kind.", messages: [{ role: "user" as const, content: "hi", timestamp: 1 }] };
  const answer = await streamSimple(registry.find("acme", "m")!, context).result();
  registry.unregisterProvider("acme");
  expect(answer.content).toEqual([{ type: "text", text: "hello" }]);
  expect(seen[0]!.systemPrompt).toBe("Be kind.");
  expect(getCurrentSystemPrompt(seen[0]!.messages)).toBe("Be kind.");
});

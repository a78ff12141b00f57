import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import type { KnownApi, Model } from "../model.ts";
import { getEnvApiKey } from "../auth/env-keys.ts";
import { createAI } from "../create-ai.ts";
import { protocols } from "../protocols/index.ts";
import { providers } from "../providers/index.ts";
import type { LocalProvider } from "../providers/local-servers.ts";
import { getApiProvider } from "../registry.ts";
import {
  describeUnlisted,
  getModel,
  getModels,
  getProviders,
  getRetiredModels,
  type KnownProvider,
  type ModelDefinition,
  registerModels,
  unregisterModels,
} from "./catalog.ts";
import type { CatalogModels } from "./models.generated.ts";

const folder = join(import.meta.dirname, "../../catalog");

const mine: ModelDefinition<"openai-completions"> = {
  id: "mine",
  name: "Mine",
  api: "openai-completions",
  baseUrl: "http://127.0.0.1:1/v1",
  reasoning: false,
  input: ["text"],
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000,
  maxTokens: 100,
};

describe("the built-in catalogue", () => {
  test("has one file for each of its 40 providers, one model per line, 1,564 models in total", () => {
    const files = readdirSync(folder).filter((file) => file !== "retired");
    const names = getProviders().map((provider) => `${provider}.json`);
    expect(files.sort()).toEqual(names.sort());
    expect(readdirSync(join(folder, "retired")).sort()).toEqual(names);
    expect(files).toHaveLength(40);
    let count = 0;
    for (const file of files) {
      const text = readFileSync(join(folder, file), "utf8");
      const models = JSON.parse(text) as Model[];
      expect([file, text.trim().split("\n").length]).toEqual([file, models.length + 2]);
      count += models.length;
    }
    expect(count).toBe(1_564);
  });

  test("has only complete models", () => {
    for (const provider of getProviders()) {
      for (const model of getModels(provider)) {
        expect(model.provider).toBe(provider);
        expect(model.contextWindow).toBeGreaterThan(0);
        expect(model.maxTokens).toBeGreaterThan(0);
        expect(model.input).toContain("text");
        for (const price of ["input", "output", "cacheRead", "cacheWrite"] as const) {
          expect(model.cost[price]).toBeGreaterThanOrEqual(0);
        }
        expect(getModel(provider, model.id)).toBe(model);
      }
    }
  });

  test("uses nine APIs, and each of them has a protocol", async () => {
    const apis = new Set(getProviders().flatMap((provider) => getModels(provider).map(({ api }) => api)));
    expect([...apis].sort()).toEqual([
      "anthropic-messages",
      "azure-openai-responses",
      "bedrock-converse-stream",
      "google-generative-ai",
      "google-vertex",
      "mistral-conversations",
      "openai-codex-responses",
      "openai-completions",
      "openai-responses",
    ]);
    const loaded = await Promise.all([...apis].map(async (api) => (await protocols[api as KnownApi]?.())?.api));
    expect(loaded).toEqual([...apis]);
    for (const api of apis) expect(getApiProvider(api)?.api).toBe(api);
  });

  test("has a key variable for every provider", () => {
    for (const provider of getProviders()) expect(providers[provider]?.keys).not.toHaveLength(0);
  });

  test("has exactly the ids of the generated types", () => {
    const generated = readFileSync(join(import.meta.dirname, "models.generated.ts"), "utf8");
    const matches = [...generated.matchAll(/^ {2}"([^"]+)": \{|^ {4}"([^"]+)":|^ {6}\| "([^"]+)"/gm)];
    let [provider, api] = ["", ""];
    const typed: string[] = [];
    for (const [, nextProvider, nextApi, id] of matches) {
      provider = nextProvider ?? provider;
      api = nextApi ?? api;
      if (id !== undefined) typed.push(`${provider} ${api} ${id}`);
    }
    const usable = [...getProviders().flatMap((name) => getModels(name)), ...getRetiredModels()];
    const actual = usable.map((model) => `${model.provider} ${model.api} ${model.id}`);
    expect(typed.sort()).toEqual(actual.sort());
  });
});

describe("a model that the catalogue had once", () => {
  test("is found with its last known properties, marked, and not listed", () => {
    const model = getModel("nvidia", "moonshotai/kimi-k3");
    expect(model).toMatchObject({ provider: "nvidia", isRetired: true, reasoning: true });
    expect(model.contextWindow).toBeGreaterThan(128_000);
    expect(getModel("openrouter", "openai/o4-mini")).toMatchObject({
      isRetired: true,
      cost: { input: 1.1, output: 4.4 },
    });
    expect(getModel("nvidia", "moonshotai/kimi-k3")).toBe(model);
    expect(Object.isFrozen(model.cost)).toBe(true);
    expect(getModels("nvidia").filter(({ isRetired }) => isRetired)).toEqual([]);
    expect(describeUnlisted(model)).toContain('no longer lists "nvidia/moonshotai/kimi-k3"');
    expect(createAI({ provider: "nvidia", model: "moonshotai/kimi-k3" }).notice).toContain("no longer lists");
  });

  test("is none of those that are listed", () => {
    const retired = getRetiredModels();
    expect(retired).toHaveLength(174);
    for (const { provider, id } of retired) {
      expect(providers).toHaveProperty([provider]);
      expect(getModels(provider).map((model) => model.id)).not.toContain(id);
    }
  });
});

describe("a former id of a provider", () => {
  test("means the provider, for built-in, retired and registered models", () => {
    const former = "azure-openai-responses" as string;
    expect(getModel(former, "gpt-5.4")).toBe(getModel("azure", "gpt-5.4"));
    expect(getModel(former, "gpt-5.2-chat-latest")).toMatchObject({ provider: "azure", isRetired: true });
    expect(getModels(former)).toEqual(getModels("azure"));
    expect(getProviders()).not.toContain(former);
    registerModels(former, [mine]);
    expect(getModel("azure" as string, "mine")).toMatchObject({ provider: "azure" });
    unregisterModels(former);
    expect(getModel("azure" as string, "mine")).toBeUndefined();
    expect(createAI({ provider: former, model: "gpt-5.4" }).model.provider).toBe("azure");
    expect(getEnvApiKey(former, (name) => (name === "AZURE_OPENAI_API_KEY" ? "k" : undefined))).toBe("k");
  });
});

describe("getModel", () => {
  afterEach(() => {
    for (const provider of ["anthropic", "mine", "ollama"]) unregisterModels(provider);
  });

  test("infers the API of a built-in model", () => {
    expectTypeOf(getModel("anthropic", "claude-sonnet-4-5")).toEqualTypeOf<Model<"anthropic-messages">>();
    expectTypeOf(getModel("opencode", "claude-sonnet-4-5")).toEqualTypeOf<Model<"anthropic-messages">>();
    expectTypeOf(getModel("anthropic" as string, "x")).toEqualTypeOf<Model | undefined>();
    expectTypeOf<KnownProvider>().toEqualTypeOf<keyof CatalogModels | LocalProvider>();
    expect(getModel("anthropic", "claude-sonnet-4-5").api).toBe("anthropic-messages");
  });

  test("returns undefined for an unknown provider or model", () => {
    expect(getModel("anthropic" as string, "gpt-5")).toBeUndefined();
    expect(getModel("unknown", "gpt-5")).toBeUndefined();
    expect(getModel("../package", "gpt-5")).toBeUndefined();
    expect(getModel("constructor", "name")).toBeUndefined();
    expect(getModels("unknown")).toEqual([]);
  });

  test("returns the same frozen model each time", () => {
    const model = getModel("anthropic", "claude-sonnet-4-5");
    expect(getModel("anthropic", "claude-sonnet-4-5")).toBe(model);
    expect(() => (model.cost.input = 0)).toThrow(TypeError);
    expect(() => (model.baseUrl = "http://elsewhere")).toThrow(TypeError);
  });

  test("prefers a registered model to a built-in one until it is unregistered", () => {
    const before = getModels("anthropic");
    registerModels("anthropic", [{ ...getModel("anthropic", "claude-sonnet-4-5"), maxTokens: 7 }, mine]);
    expect(getModel("anthropic", "claude-sonnet-4-5").maxTokens).toBe(7);
    expect(getModels("anthropic").map(({ id }) => id)).toEqual([...before.map(({ id }) => id), "mine"]);
    unregisterModels("anthropic");
    expect(getModels("anthropic")).toEqual(before);
  });

  test("returns copies of registered models with the provider's name", () => {
    const definition = structuredClone(mine);
    registerModels("mine", [definition]);
    definition.cost.input = 99;
    expect(getModel("mine", "mine")).toEqual({ ...mine, provider: "mine" });
    expect(getProviders()).toContain("mine");
    registerModels("mine", [{ ...mine, id: "second" }]);
    expect(getModels("mine").map(({ id }) => id)).toEqual(["mine", "second"]);
  });

  test("rejects a model without an id or an API, and then registers none of the call", () => {
    const broken = { ...mine, id: "" };
    expect(() => registerModels("mine", [mine, broken])).toThrow(/without id/);
    expect(() => registerModels("mine", [{ ...mine, api: undefined as never }])).toThrow(/without api/);
    expect(getModels("mine")).toEqual([]);
  });

  test("returns a model for every id of a local server, and lists only the registered ones", () => {
    const model = getModel("ollama", "any-model:7b");
    expect(model).toMatchObject({
      id: "any-model:7b",
      provider: "ollama",
      api: "openai-completions",
      firstTokenTimeoutMs: 1_800_000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    });
    expect(getModels("ollama")).toEqual([]);
    registerModels("ollama", [{ ...model, contextWindow: 131_072 }]);
    expect(getModel("ollama", "any-model:7b").contextWindow).toBe(131_072);
    expect(getProviders()).toContain("ollama");
  });
});

import { getModel, getModels, getProviders } from "@tau/ai";
import { describe, expect, test } from "vitest";
import { defaultModels, defaultProviderOrder } from "./defaults.ts";
import { ModelRegistry } from "./model-registry.ts";
import { getReference } from "./resolve.ts";

const withKeys = (...keys: string[]) => ModelRegistry.inMemory({ hasKey: (provider) => keys.includes(provider) });
const line = (choice: { defaultModel?: string; defaultProvider?: string }, ...keys: string[]) => {
  const chosen = withKeys(...keys).defaultModel(choice);
  return chosen.kind === "none" ? chosen.message : `${getReference(chosen.model)}, ${chosen.because}`;
};

test("every provider of the catalogue has a default model, which is listed", () => {
  const listed = getProviders().map((provider) => [
    provider,
    getModels(provider).some(({ id }) => id === defaultModels.get(provider)),
  ]);
  expect(listed.filter(([, isListed]) => !isListed)).toEqual([]);
  expect(getProviders().toSorted()).toEqual([...defaultProviderOrder].toSorted());
});

describe("the default model", () => {
  for (const [choice, keys, expected] of [
    [{}, ["openai", "anthropic"], "anthropic/claude-opus-5-5, provider"],
    [{}, ["groq"], "groq/openai/gpt-oss-120b, provider"],
    [{ defaultModel: "sonnet" }, ["anthropic", "openrouter"], "anthropic/claude-sonnet-5-5, settings"],
    [{ defaultModel: "openai/o3" }, ["anthropic", "openai"], "openai/o3, settings"],
    [{ defaultProvider: "openai", defaultModel: "o3" }, ["anthropic", "openai"], "openai/o3, settings"],
    [{ defaultProvider: "openai" }, ["anthropic", "openai"], "openai/gpt-6.1-sol, settings"],
    [{ defaultModel: "ollama/qwen3:8b" }, [], "ollama/qwen3:8b, settings"],
    [{ defaultModel: "anthropic/claude-opus-9" }, ["anthropic"], "anthropic/claude-opus-9, settings"],
    [{ defaultProvider: "openai", defaultModel: "gpt-oss-120b" }, ["openai", "groq"], "openai/gpt-oss-120b, settings"],
    [{ defaultProvider: "minimax" }, ["minimax", "openrouter"], "minimax/MiniMax-M3, settings"],
  ] as const) {
    test(`of ${JSON.stringify(choice)} with keys for ${keys.join(" and ") || "no provider"} is ${expected}`, () => {
      expect(line(choice, ...keys)).toBe(expected);
    });
  }

  test("is another if that of the settings cannot be used, and a notice says why", () => {
    expect(withKeys("anthropic").defaultModel({ defaultModel: "openai/o3" })).toMatchObject({
      because: "provider",
      notice: "There is no key for openai. anthropic/claude-opus-5-5 is used instead.",
    });
    const unknown = withKeys("anthropic").defaultModel({ defaultModel: "claude-opus-9" });
    expect(unknown).toMatchObject({ notice: expect.stringContaining('There is no model "claude-opus-9".') });
  });

  test("is the first model of an added provider, if there is nothing else", () => {
    const own = { ...getModel("openai", "o3"), provider: "mine", id: "m1" };
    const registry = ModelRegistry.inMemory({ models: [own], hasKey: (provider) => provider === "mine" });
    expect(registry.defaultModel()).toEqual({ kind: "resolved", model: own, because: "first" });
  });

  test("is none if nothing can be used, and the message says what to do", () => {
    expect(line({})).toMatch(
      /^No model can be used yet\. Set a key .*, log in, start a local server .*models\.json\.$/,
    );
    expect(line({ defaultModel: "opus" })).toMatch(/^There is no key for anthropic\. No model can be used yet\./);
  });
});

import { getApiProvider, streamSimple, systemClock } from "@tau/ai";
import { startWireServer, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { AuthStorage } from "@tau/config/auth";
import { ModelRegistry } from "@tau/config/models";
import type { ProviderConfig } from "../api/api.ts";
import { createProviders, registerProviders } from "./providers.ts";

const plain = { baseUrl: "https://x.test", apiKey: "k-1", api: "openai-completions", models: [{ id: "m" }] };

function open() {
  const resolved: string[] = [];
  const auth = AuthStorage.inMemory();
  const registry = ModelRegistry.inMemory({
    hasKey: (provider, written) => written !== undefined || provider === "stored",
    resolveValue: async (written) => void resolved.push(written),
  });
  return { registry, resolved, providers: createProviders({ registry, auth, clock: systemClock, report: () => {} }) };
}

const describeExtension = (name: string, host: "process" | "isolated", providers: Record<string, unknown>) => ({
  source: { name },
  host,
  providers: new Map(Object.entries(providers) as [string, ProviderConfig][]),
});

describe("a provider of an isolated extension", () => {
  test("is used if it is only data", () => {
    const { registry, providers } = open();
    expect(registerProviders([describeExtension("guest", "isolated", { mine: plain })], providers)).toEqual([]);
    expect(registry.find("mine", "m")).toMatchObject({ baseUrl: "https://x.test" });
  });

  test("is known as one, as long as it is registered", () => {
    const { providers } = open();
    const extensions = [
      describeExtension("guest", "isolated", { mine: plain }),
      describeExtension("friend", "process", { house: plain }),
    ];
    registerProviders(extensions, providers);
    expect([providers.isIsolated("mine"), providers.isIsolated("house")]).toEqual([true, false]);
    providers.unregister("mine");
    expect(providers.isIsolated("mine")).toBe(false);
  });

  test("can be registered again by its extension alone, and is taken away with it", () => {
    const { registry, providers } = open();
    providers.registerIsolated("guest", "mine", plain);
    providers.registerIsolated("guest", "other", plain);
    providers.registerIsolated("guest", "mine", { ...plain, models: [{ id: "next" }] });
    expect(registry.find("mine", "next")).toBeDefined();
    expect(() => providers.registerIsolated("stranger", "mine", plain)).toThrow(
      /needs trust.*extensions trust stranger/,
    );
    providers.unregisterIsolated("stranger", "mine");
    providers.unregisterIsolated("stranger");
    expect(registry.isKnown("mine")).toBe(true);
    providers.unregisterIsolated("guest", "mine");
    expect([registry.isKnown("mine"), registry.isKnown("other")]).toEqual([false, true]);
    providers.unregisterIsolated("guest");
    expect(registry.isKnown("other")).toBe(false);
  });

  test("is known as one by those who are told that there is another provider", () => {
    const { registry, providers } = open();
    const seen: boolean[] = [];
    registry.subscribe(() => void (registry.isKnown("mine") && seen.push(providers.isIsolated("mine"))));
    providers.registerIsolated("guest", "mine", plain);
    providers.registerIsolated("guest", "mine", { ...plain, baseUrl: "https://elsewhere.test" });
    expect(seen).toEqual([true, true]);
    expect(() => providers.registerIsolated("guest", "bad", { models: [{ id: 1 }] })).toThrow(/id/);
    expect(providers.isIsolated("bad")).toBe(false);
  });

  test("leaves its place to one of an extension in this process", () => {
    const { registry, providers } = open();
    providers.registerIsolated("guest", "mine", plain);
    providers.register("mine", { ...plain, models: [{ id: "ours" }] });
    providers.unregisterIsolated("guest");
    expect(registry.find("mine", "ours")).toBeDefined();
    expect(() => providers.registerIsolated("guest", "mine", plain)).toThrow(/needs trust/);
  });

  test.each<[string, object]>([
    ["a key from a command", { apiKey: "!id" }],
    ["a key from a variable", { apiKey: "$ANTHROPIC_API_KEY" }],
    ["a key that names a variable", { apiKey: "ANTHROPIC_API_KEY" }],
    ["a header from a command", { headers: { x: "!id" } }],
    ["a header of a model from a command", { models: [{ id: "m", headers: { x: "!id" } }] }],
    ["a header of a model from a variable", { models: [{ id: "m", headers: { x: "a-${ANTHROPIC_API_KEY}" } }] }],
    ["a header of an override", { modelOverrides: { m: { headers: { x: "!id" } } } }],
    ["a variable in its address", { baseUrl: "https://x.test/{ANTHROPIC_API_KEY}" }],
    ["a variable in the address of a model", { models: [{ id: "m", baseUrl: "https://x.test/{HOME}" }] }],
    ["an API that finds credentials by itself", { api: "google-vertex", apiKey: undefined }],
    ["such an API of a model", { models: [{ id: "m", api: "bedrock-converse-stream" }] }],
    ["an API of another extension", { api: "extension:corp" }],
  ])("is refused with %s", async (_what, change) => {
    const { registry, resolved, providers } = open();
    const extensions = [describeExtension("guest", "isolated", { mine: { ...plain, ...change } })];
    const problems = registerProviders(extensions, providers);
    const model = registry.find("mine", "m");
    if (model) await registry.requestHeaders(model);
    expect(resolved).toEqual([]);
    expect(model).toBeUndefined();
    expect(problems).toMatchObject([
      { extension: "guest", message: expect.stringMatching(/needs trust.* tau extensions trust guest/) },
    ]);
  });

  test.each(["anthropic", "ollama", "stored", "corp"])("does not take the name %s", (name) => {
    const { registry, providers } = open();
    const problems = registerProviders(
      [
        describeExtension("guest", "isolated", { [name]: { ...plain, baseUrl: "https://evil.test" } }),
        describeExtension("own", "process", { corp: plain }),
      ],
      providers,
    );
    expect(problems).toMatchObject([{ extension: "guest", message: expect.stringContaining("needs trust") }]);
    expect(registry.getAll().filter(({ baseUrl }) => baseUrl.includes("evil"))).toEqual([]);
  });
});

describe("the stream function of a provider", () => {
  const openWithStream = (says: string) => {
    const { registry, providers } = open();
    const answer = () => {
      throw new Error(says);
    };
    providers.register("mine", { ...plain, api: undefined, streamSimple: answer } as unknown as ProviderConfig);
    return { registry, providers };
  };
  const ask = async ({ registry }: ReturnType<typeof openWithStream>) =>
    (await streamSimple(registry.find("mine", "m")!, { messages: [] }).result()).errorMessage;

  test("stays when another session that has it too is closed, in whatever order", async () => {
    const [first, second, third] = [openWithStream("one"), openWithStream("two"), openWithStream("three")];
    first.providers.close();
    expect(await ask(second)).toContain("three");
    third.providers.close();
    expect(await ask(second)).toContain("two");
    second.providers.close();
    expect(getApiProvider("extension:mine")).toBeUndefined();
  });

  test("replaces an API of ours for the models of its provider only", async () => {
    const replies = ["first", "second"].map((content) => ({
      kind: "answer" as const,
      answer: { content: [text(content)] },
    }));
    const server = await startWireServer("openai-completions", replies);
    onTestFinished(() => server.close());
    const { registry, providers } = open();
    const served = { ...plain, baseUrl: server.url };
    const answer = () => {
      throw new Error("own");
    };
    const ask = async (name: string) => {
      const options = { apiKey: "k-1" };
      const { content, errorMessage } = await streamSimple(
        registry.find(name, "m")!,
        { messages: [] },
        options,
      ).result();
      return errorMessage ?? content;
    };
    providers.register("mine", { ...served, streamSimple: answer });
    providers.register("other", served);
    expect(await ask("mine")).toBe("own");
    expect(await ask("other")).toMatchObject([{ text: "first" }]);
    providers.register("mine", served);
    expect(await ask("mine")).toMatchObject([{ text: "second" }]);
  });

  test("needs no address", () => {
    const { registry, providers } = open();
    const bridge = { ...plain, baseUrl: "bridge", models: [{ id: "m" }, { id: "n", baseUrl: "other-bridge" }] };
    expect(() => providers.register("mine", bridge)).toThrow(/has to be an address/);
    providers.register("mine", { ...bridge, streamSimple: () => {} });
    expect(registry.getAll().flatMap(({ provider, baseUrl }) => (provider === "mine" ? [baseUrl] : []))).toEqual([
      "bridge",
      "other-bridge",
    ]);
    providers.close();
  });

  test("is the one that was registered last, and goes with it", async () => {
    const { registry, providers } = openWithStream("before");
    providers.register("mine", { ...plain, api: "extension:mine" } as ProviderConfig);
    expect(getApiProvider("extension:mine")).toBeUndefined();
    providers.close();
    expect(registry.find("mine", "m")).toBeUndefined();
  });
});

import { type AssistantMessage, createAssistantMessageEventStream, type Model, streamSimple } from "@tau/ai";
import { createAssistantMessage } from "@tau/ai/internal";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { AuthStorage } from "@tau/config/auth";
import { ModelRegistry } from "@tau/config/models";
import { toProviderConfig } from "./native-provider.ts";
import type { NativeProvider } from "./provider-config.ts";
import { createProviders } from "./providers.ts";

const model = {
  id: "m",
  name: "M",
  api: "openai-completions",
  provider: "native",
  baseUrl: "https://native.test/v1",
  reasoning: false,
  input: ["text"],
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000,
  maxTokens: 100,
} as Model;

/** Answers with what it was asked with. */
function createNative(changes: Partial<NativeProvider> = {}): NativeProvider {
  return {
    id: "native",
    name: "Native",
    baseUrl: "https://native.test/v1",
    auth: { apiKey: { resolve: async () => ({ auth: { apiKey: "found-key" } }) } },
    getModels: () => [model, { ...model, id: "picture", type: "image" } as Model],
    streamSimple(asked, _context, options) {
      const stream = createAssistantMessageEventStream();
      const text = [asked.api, asked.baseUrl, options?.apiKey, JSON.stringify(options?.headers)].join(" ");
      const message: AssistantMessage = { ...createAssistantMessage(asked, 0), content: [{ type: "text", text }] };
      stream.push({ type: "start", partial: message });
      stream.push({ type: "done", reason: "stop", message: { ...message, stopReason: "stop" } });
      return stream;
    },
    ...changes,
  };
}

async function open(native: NativeProvider) {
  const registry = ModelRegistry.inMemory();
  const auth = AuthStorage.inMemory({}, { modelsKey: (provider) => registry.modelsKey(provider) });
  const providers = createProviders({ registry, auth, clock: createFakeClock(), report: () => {} });
  onTestFinished(() => providers.close());
  providers.register(native.id, toProviderConfig(native));
  await providers.settle();
  const ask = async () => {
    const key = await auth.getApiKey(native.id);
    const options = key.kind === "found" ? { apiKey: key.key } : {};
    return await streamSimple(registry.find(native.id, "m")!, { messages: [] }, options).result();
  };
  return { registry, auth, ask };
}

const getText = ({ content, errorMessage }: AssistantMessage) => errorMessage ?? (content[0] as { text: string }).text;

test("a complete provider brings its models for conversations, and is usable with the key that it finds", async () => {
  const { registry, ask } = await open(createNative());
  expect(registry.getAvailable().filter(({ provider }) => provider === "native")).toMatchObject([
    { id: "m", name: "M", contextWindow: 1_000, cost: { input: 1 } },
  ]);
  expect(getText(await ask())).toBe("openai-completions https://native.test/v1 found-key {}");
});

test("its answers count as those of the model that was asked", async () => {
  const { registry, ask } = await open(createNative());
  const answer = await ask();
  expect([answer.provider, answer.model, answer.api]).toEqual(["native", "m", registry.find("native", "m")!.api]);
});

test("an address and headers that belong to a key are sent with it", async () => {
  const resolve = async () => ({ auth: { headers: { "x-team": "a", "x-none": null }, baseUrl: "https://eu.test" } });
  const { ask } = await open(createNative({ auth: { apiKey: { resolve } } }));
  expect(getText(await ask())).toBe('openai-completions https://eu.test  {"x-team":"a"}');
});

test("without a key nothing is sent, and the answer says what is missing", async () => {
  const { registry, ask } = await open(createNative({ auth: { apiKey: { resolve: async () => undefined } } }));
  expect(registry.getAvailable().some(({ provider }) => provider === "native")).toBe(false);
  expect(getText(await ask())).toBe("There is no key for Native. Log in, or set one.");
});

test("its login asks, tells and gives the key, the address and the headers", async () => {
  const seen: unknown[] = [];
  const native = createNative({
    auth: {
      oauth: {
        name: "Native (SSO)",
        async login({ prompt, notify }) {
          notify({ type: "auth_url", url: "https://native.test/login" });
          notify({ type: "progress", message: "Waiting" });
          const region = await prompt({ type: "select", message: "Region", options: [{ id: "eu", label: "Europe" }] });
          const code = await prompt({ type: "manual_code", message: "Code" });
          return { access: `${region}-${code}`, refresh: "r", expires: 9e15 };
        },
        refresh: async (credential) => credential,
        toAuth: async ({ access }) => ({
          apiKey: `key-${String(access)}`,
          baseUrl: "https://eu.test",
          headers: { a: "b" },
        }),
      },
    },
  });
  const { auth, ask } = await open(native);
  const outcome = await auth.login("native", {
    notify: (event) => seen.push(event),
    ask: async ({ options }) => (options ? options[0]!.id : "42"),
  });
  expect(outcome).toEqual({ kind: "done" });
  expect(seen).toEqual([
    { type: "auth_url", url: "https://native.test/login" },
    { type: "message", text: "Waiting" },
  ]);
  expect(getText(await ask())).toBe('openai-completions https://eu.test key-eu-42 {"a":"b"}');
});

test("models that it finds later are those that it has then", async () => {
  let models: Model[] = [];
  const native = createNative({
    getModels: () => models,
    async refreshModels({ publish }) {
      await publish({ update: () => void (models = [model]) });
    },
  });
  const { registry } = await open(native);
  expect(registry.find("native", "m")).toMatchObject({ name: "M" });
});

test("a login may give headers instead of a key", async () => {
  const toAuth = async ({ access }: Record<string, unknown>) => ({ headers: { "x-session": String(access) } });
  const oauth = { name: "Native (SSO)", login: async () => ({}), refresh: async () => ({}), toAuth };
  const { auth, ask } = await open(createNative({ auth: { oauth } }));
  await auth.set("native", { type: "oauth", access: "a1", refresh: "r", expires: 9e15 });
  expect(getText(await ask())).toBe('openai-completions https://native.test/v1  {"x-session":"a1"}');
});

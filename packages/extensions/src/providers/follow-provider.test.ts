import type { Model } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { AuthStorage } from "@tau/config/auth";
import { ModelRegistry } from "@tau/config/models";
import type { ExtensionProblem } from "../api/extension.ts";
import type { ProviderConfig } from "./provider-config.ts";
import { createProviders } from "./providers.ts";

const plain = { baseUrl: "https://x.test", apiKey: "k-1", api: "openai-completions" };

function open(allowNetwork = true, variables: Record<string, string> = {}) {
  const problems: ExtensionProblem[] = [];
  const clock = createFakeClock();
  const registry = ModelRegistry.inMemory();
  const auth = AuthStorage.inMemory(
    {},
    { env: (name) => variables[name], modelsKey: (provider) => registry.modelsKey(provider) },
  );
  const report = (problem: ExtensionProblem) => void problems.push(problem);
  const providers = createProviders({ registry, auth, clock, allowNetwork, report });
  const listIds = () => registry.getAll().flatMap(({ provider, id }) => (provider === "mine" ? [id] : []));
  return { registry, auth, clock, providers, problems, listIds };
}

const createOAuth = (changes: Partial<NonNullable<ProviderConfig["oauth"]>> = {}) => ({
  name: "Mine (SSO)",
  login: async () => ({ access: "a1", refresh: "r1", expires: 9e15 }),
  refreshToken: async () => ({}),
  getApiKey: () => "key",
  ...changes,
});

test("models that a provider looks for are there when it has settled, and again when the user has logged in", async () => {
  const { auth, providers, listIds } = open();
  const contexts: unknown[] = [];
  providers.register("mine", {
    ...plain,
    oauth: createOAuth(),
    refreshModels: async ({ credential, allowNetwork, baseUrl }) => {
      contexts.push([credential?.type, allowNetwork, baseUrl]);
      return credential?.type === "oauth" ? [{ id: "small" }, { id: "large" }] : [{ id: "small" }];
    },
  });
  expect(listIds()).toEqual([]);
  await providers.settle();
  expect(listIds()).toEqual(["small"]);
  expect(await auth.login("mine", { notify: () => {} })).toEqual({ kind: "done" });
  await expect.poll(listIds).toEqual(["small", "large"]);
  expect(contexts).toEqual([
    ["api_key", true, "https://x.test"],
    ["oauth", true, "https://x.test"],
  ]);
});

test("a provider looks for its models with a token that is valid, and with the key that variables stand for", async () => {
  const { auth, providers, clock, problems } = open();
  const seen: unknown[] = [];
  const refreshToken = async ({ access }: Record<string, unknown>) => {
    if (access === "refused") throw new Error("refused");
    return { access: "a2", expires: clock.now() + 3_600_000 };
  };
  await auth.set("mine", { type: "oauth", access: "a1", refresh: "r1", expires: clock.now() - 1 });
  providers.register("mine", {
    ...plain,
    oauth: createOAuth({ refreshToken }),
    refreshModels: async ({ credential }) => {
      seen.push(credential?.type === "oauth" ? credential.access : credential?.key);
      return [];
    },
  });
  await providers.settle();
  await auth.set("mine", { type: "api_key", key: "a$$b" });
  await expect.poll(() => seen).toEqual(["a2", "a$b"]);
  await auth.set("mine", { type: "oauth", access: "refused", refresh: "r1", expires: clock.now() - 1 });
  await expect
    .poll(() => problems)
    .toMatchObject([{ message: expect.stringMatching(/could not be renewed: refused/) }]);
  expect(seen).toHaveLength(2);
});

test("a provider looks for its models with the key that a request would have", async () => {
  const { auth, providers, problems } = open(true, { MINE_KEY: "from-env" });
  const seen: unknown[] = [];
  const refreshModels: ProviderConfig["refreshModels"] = async ({ credential }) => {
    seen.push(credential);
    return [];
  };
  providers.register("mine", { ...plain, apiKey: "$MINE_KEY", refreshModels });
  await providers.settle();
  expect(await auth.getApiKey("mine")).toMatchObject({ origin: "from the extension that registers mine" });
  auth.setRuntimeApiKey("mine", "from-command-line");
  await expect.poll(() => seen).toHaveLength(2);
  await auth.removeRuntimeApiKey("mine");
  await expect.poll(() => seen).toHaveLength(3);
  providers.register("mine", { ...plain, apiKey: "$NOT_SET", refreshModels });
  await providers.settle();
  expect(seen).toEqual([
    { type: "api_key", key: "from-env" },
    { type: "api_key", key: "from-command-line" },
    { type: "api_key", key: "from-env" },
    undefined,
  ]);
  expect(problems).toEqual([]);
});

test("a provider looks for its models with the key that it finds by itself", async () => {
  const { providers } = open();
  const seen: unknown[] = [];
  providers.register("mine", {
    baseUrl: plain.baseUrl,
    api: plain.api,
    findKey: async () => "found",
    refreshModels: async ({ credential }) => {
      seen.push(credential);
      return [];
    },
  });
  await providers.settle();
  expect(seen).toEqual([{ type: "api_key", key: "found" }]);
});

test("a provider that has models is not waited for", async () => {
  const { providers, listIds } = open();
  providers.register("mine", { ...plain, models: [{ id: "known" }], refreshModels: () => new Promise(() => {}) });
  await providers.settle();
  expect(listIds()).toEqual(["known"]);
});

test("a provider that never lists its models keeps nobody waiting for longer than five seconds", async () => {
  const { providers, clock } = open();
  providers.register("mine", { ...plain, refreshModels: () => new Promise(() => {}) });
  const settled = providers.settle();
  clock.advance(5_000);
  await settled;
});

test("what fails is reported once, and the models that were there stay", async () => {
  const { providers, problems, listIds } = open();
  providers.register("mine", {
    ...plain,
    models: [{ id: "known" }],
    refreshModels: () => Promise.reject(new Error("no connection")),
  });
  await expect
    .poll(() => problems)
    .toEqual([{ extension: "mine", message: "Its models could not be listed: no connection" }]);
  expect(listIds()).toEqual(["known"]);
});

test("a provider that is taken away is told, and what it finds later does not count", async () => {
  const { providers, listIds } = open();
  let finish = (_models: { id: string }[]): void => {};
  let signal: AbortSignal | undefined;
  providers.register("mine", {
    ...plain,
    models: [{ id: "known" }],
    refreshModels: (context) => {
      signal = context.signal;
      return new Promise((resolve) => (finish = resolve));
    },
  });
  await expect.poll(() => signal).toBeDefined();
  providers.unregister("mine");
  expect(signal?.aborted).toBe(true);
  finish([{ id: "late" }]);
  await new Promise(setImmediate);
  expect(listIds()).toEqual([]);
});

test("offline, a provider is told not to ask servers", async () => {
  const { providers } = open(false);
  let allowed: boolean | undefined;
  providers.register("mine", {
    ...plain,
    refreshModels: async ({ allowNetwork }) => {
      allowed = allowNetwork;
      return [];
    },
  });
  await providers.settle();
  expect(allowed).toBe(false);
});

test("a login may change the models of its provider, and no others", async () => {
  const { registry, auth, providers } = open();
  const modifyModels = (models: Model[]) => models.map((model) => ({ ...model, baseUrl: "https://eu.x.test" }));
  providers.register("mine", { ...plain, models: [{ id: "m" }], oauth: createOAuth({ modifyModels }) });
  expect(registry.find("mine", "m")?.baseUrl).toBe("https://x.test");
  const others = () =>
    registry.getAll().filter(({ baseUrl, provider }) => provider !== "mine" && baseUrl.includes("eu.x"));
  await auth.login("mine", { notify: () => {} });
  await expect.poll(() => registry.find("mine", "m")?.baseUrl).toBe("https://eu.x.test");
  expect(others()).toEqual([]);
});

test("a login that makes something else of the models leaves them as they are", async () => {
  const { auth, providers, problems, listIds } = open();
  const oauth = createOAuth({ modifyModels: () => undefined as never });
  providers.register("mine", { ...plain, models: [{ id: "m" }], oauth });
  await auth.login("mine", { notify: () => {} });
  await expect.poll(() => problems.at(-1)?.message).toMatch(/modifyModels gave no list of models/);
  expect(listIds()).toEqual(["m"]);
});

test("models that a stored login changes are changed when the provider has settled", async () => {
  const { registry, auth, providers } = open();
  const modifyModels = (models: Model[]) => models.map((model) => ({ ...model, baseUrl: "https://eu.x.test" }));
  await auth.set("mine", { type: "oauth", access: "a1", refresh: "r1", expires: 9e15 });
  providers.register("mine", { ...plain, models: [{ id: "m" }], oauth: createOAuth({ modifyModels }) });
  await providers.settle();
  expect(registry.find("mine", "m")?.baseUrl).toBe("https://eu.x.test");
});

test.each<[string, (signal: AbortSignal) => Promise<never>]>([
  ["waits", () => new Promise(() => {})],
  ["fails with its signal", (signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject))],
])("a login that %s ends when its provider is taken away, not when it is registered again", async (_what, wait) => {
  const { auth, providers } = open();
  let signal: AbortSignal | undefined;
  const login = ({ signal: given }: { signal: AbortSignal }) => {
    signal = given;
    return wait(given);
  };
  const config = { ...plain, models: [{ id: "m" }], oauth: createOAuth({ login }) };
  providers.register("mine", config);
  const outcome = auth.login("mine", { notify: () => {} });
  await expect.poll(() => signal).toBeDefined();
  providers.register("mine", config);
  expect(signal?.aborted).toBe(false);
  providers.close();
  expect(signal?.aborted).toBe(true);
  expect(await outcome).toMatchObject({
    kind: "failed",
    failure: {
      message: "The login to Mine (SSO) failed: its extension was loaded again or removed. Log in again: /login mine",
    },
  });
  expect(await auth.get("mine")).toBeUndefined();
});

test("its login is there as long as the provider is", () => {
  const { auth, providers } = open();
  const getName = () => auth.getLogins().find(({ id }) => id === "mine")?.name;
  providers.register("mine", { ...plain, models: [{ id: "m" }], oauth: createOAuth() });
  expect(getName()).toBe("Mine (SSO)");
  providers.close();
  expect(getName()).toBeUndefined();
});

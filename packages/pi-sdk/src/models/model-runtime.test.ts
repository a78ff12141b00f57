import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type AuthCredential, AuthStorage } from "../auth/auth-storage.ts";
import type { CredentialStore } from "../auth/credential-store.ts";
import { ModelRuntime } from "./model-runtime.ts";
import { resolveCliModel, resolveModelScopeWithDiagnostics } from "./resolve-cli-model.ts";

const create = (credentials: AuthStorage | CredentialStore = AuthStorage.inMemory()) =>
  ModelRuntime.create({ credentials, modelsPath: null });

const acme = {
  baseUrl: "http://localhost",
  api: "openai-completions",
  apiKey: "written",
  models: [{ id: "small-1" }, { id: "large-1", reasoning: true }],
};

describe("models", () => {
  test("are those of the file and of extensions, and available with a key", async () => {
    const directory = mkdtempSync(join(tmpdir(), "pi-model-runtime-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const modelsPath = join(directory, "models.json");
    writeFileSync(modelsPath, JSON.stringify({ providers: { acme } }));
    const runtime = await ModelRuntime.create({ authPath: join(directory, "auth.json"), modelsPath });
    expect(runtime.getModel("acme", "small-1")).toMatchObject({ provider: "acme", id: "small-1" });
    expect(runtime.getProvider("acme")).toMatchObject({ id: "acme", name: "acme", baseUrl: "http://localhost" });
    expect(runtime.getProvider("nobody")).toBeUndefined();
    expect((await runtime.getAvailable("acme")).map(({ id }) => id)).toEqual(["small-1", "large-1"]);
    runtime.registerProvider("other", { ...acme, models: [{ id: "only" }] });
    expect(runtime.getAvailableSnapshot().some(({ id }) => id === "only")).toBe(true);
    runtime.unregisterProvider("other");
    expect(runtime.getModels("other")).toEqual([]);
    writeFileSync(modelsPath, "{");
    await runtime.refresh();
    expect(runtime.getError()).toContain("models.json");
    expect(runtime.getModels("acme")).toEqual([]);
  });
});

describe("credentials", () => {
  test("a key of this process wins, and is stored nowhere", async () => {
    const storage = AuthStorage.inMemory({ acme: { type: "api_key", key: "stored" } });
    const runtime = await create(storage);
    runtime.registerProvider("acme", acme);
    await runtime.setRuntimeApiKey("acme", "mine");
    expect(await runtime.getAuth("acme")).toEqual({ auth: { apiKey: "mine" }, source: "runtime" });
    const model = runtime.getModel("acme", "small-1")!;
    expect(await runtime.getAuth(model, { apiKey: "given" })).toMatchObject({
      auth: { apiKey: "given", baseUrl: "http://localhost" },
    });
    await runtime.removeRuntimeApiKey("acme");
    expect(await runtime.getAuth("acme")).toEqual({ auth: { apiKey: "stored" }, source: "stored" });
    expect(await runtime.checkAuth("acme")).toEqual({ type: "api_key", source: "stored" });
    expect(await runtime.checkAuth("nobody")).toBeUndefined();
    expect(await runtime.listCredentials()).toEqual([{ providerId: "acme", type: "api_key" }]);
  });

  test("a store of the program is read, and gets each change", async () => {
    const kept = new Map<string, AuthCredential>([["acme", { type: "api_key", key: "first" }]]);
    const store: CredentialStore = {
      read: async (id) => kept.get(id),
      list: async () => [...kept].map(([providerId, { type }]) => ({ providerId, type })),
      async modify(id, change) {
        const next = await change(kept.get(id));
        if (next) kept.set(id, next);
        return kept.get(id);
      },
      delete: async (id) => void kept.delete(id),
    };
    const runtime = await create(store);
    expect(await runtime.getAuth("acme")).toMatchObject({ auth: { apiKey: "first" } });
    const interaction = { prompt: async () => "second", notify: () => {} };
    expect(await runtime.login("acme", "api_key", interaction)).toEqual({ type: "api_key", key: "second" });
    expect(kept.get("acme")).toEqual({ type: "api_key", key: "second" });
    await runtime.logout("acme");
    expect(kept.size).toBe(0);
    expect(runtime.hasConfiguredAuth("acme")).toBe(false);
  });

  test("a login of an extension gets the callbacks, and its token is used", async () => {
    const runtime = await create();
    const events: unknown[] = [];
    runtime.registerProvider("acme", {
      ...acme,
      oauth: {
        name: "Acme",
        async login(callbacks: unknown) {
          const { onAuth, onPrompt } = callbacks as {
            onAuth(info: { url: string }): void;
            onPrompt(prompt: { message: string }): Promise<string>;
          };
          onAuth({ url: "http://localhost/login" });
          return { access: await onPrompt({ message: "Code?" }), refresh: "r", expires: Date.now() + 60_000 };
        },
      },
    } as Parameters<ModelRuntime["registerProvider"]>[1]);
    onTestFinished(() => runtime.unregisterProvider("acme"));
    const notify = (event: unknown) => void events.push(event);
    await runtime.login("acme", "oauth", { prompt: async () => "token", notify });
    expect(events).toEqual([{ type: "auth_url", url: "http://localhost/login" }]);
    expect(runtime.isUsingOAuth("acme")).toBe(true);
    expect(await runtime.getAuth("acme")).toMatchObject({ auth: { apiKey: "token" } });
  });
});

describe("models of a command line", () => {
  const open = async () => {
    const modelRuntime = await create();
    modelRuntime.registerProvider("acme", acme);
    return modelRuntime;
  };

  test.each([
    [{ cliModel: "acme/large-1:high" }, "acme/large-1 high"],
    [{ cliProvider: "acme", cliModel: "large" }, "acme/large-1 undefined"],
    [{ cliProvider: "acme", cliModel: "acme/small-1", cliThinking: "low" as const }, "acme/small-1 low"],
    [{ cliProvider: "nobody", cliModel: "x" }, 'There is no provider "nobody".'],
  ])("%j is %s", async (options, expected) => {
    const { model, thinkingLevel, error } = resolveCliModel({ ...options, modelRuntime: await open() });
    expect(error ?? `${model!.provider}/${model!.id} ${thinkingLevel}`).toBe(expected);
  });

  test("no name gives neither a model nor an error", async () => {
    expect(resolveCliModel({ modelRuntime: await open() })).toEqual({
      model: undefined,
      warning: undefined,
      error: undefined,
    });
  });

  test("patterns choose among the models with a key", async () => {
    const result = await resolveModelScopeWithDiagnostics(["acme/*", "nothing-like-it"], await open());
    expect(result.scopedModels.map(({ model }) => model.id)).toEqual(["small-1", "large-1"]);
    expect(result.diagnostics).toMatchObject([{ type: "warning", code: "no-match", pattern: "nothing-like-it" }]);
  });
});

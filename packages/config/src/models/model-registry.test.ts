import { execFile } from "node:child_process";
import { mkdtemp, mkdir, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { completeSimple, getModel, getModels, getProviders, registerModels, unregisterModels } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import { nodeFileSystem } from "@tau/tools/platform";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CreateModelRegistryOptions, ModelRegistry } from "./model-registry.ts";
import { formatFileProblem } from "../files/file-problem.ts";

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-models-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}

/** A registry over a directory with this `models.json`. */
async function open(file: object | string, options: CreateModelRegistryOptions = {}) {
  const directory = await temporaryDirectory();
  const path = join(directory, "models.json");
  await writeFile(path, typeof file === "string" ? file : JSON.stringify(file));
  const registry = await openAt(directory, { watch: false, ...options });
  return { registry, directory, path };
}

async function openAt(directory: string, options: CreateModelRegistryOptions = {}) {
  const registry = await ModelRegistry.create(directory, options);
  onTestFinished(() => registry.close());
  return registry;
}

const local = (id: string, more: object = {}) => ({
  providers: { mine: { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", models: [{ id, ...more }] } },
});
const ids = (registry: ModelRegistry) =>
  registry.getAll().flatMap(({ provider, id }) => (provider === "mine" ? [id] : []));

test("the written keys are always those of the file and of registered providers", async () => {
  const withKey = (apiKey: string) => ({
    baseUrl: "http://127.0.0.1:9/v1",
    api: "openai-completions",
    apiKey,
    models: [],
  });
  const { registry, path } = await open({ providers: { mine: withKey("first-key") } });
  expect(registry.writtenValues()).toEqual(["first-key"]);
  registry.registerProvider("lab", withKey("key-of-the-lab"));
  expect(registry.writtenValues()).toEqual(["first-key", "key-of-the-lab"]);
  await writeFile(path, JSON.stringify({ providers: { mine: withKey("second-key") } }));
  await registry.refresh();
  expect(registry.writtenValues()).toEqual(["second-key", "key-of-the-lab"]);
  registry.unregisterProvider("lab");
  expect(registry.writtenValues()).toEqual(["second-key"]);
});

test("a registered provider that has no models yet is no error of the file", async () => {
  const { registry } = await open({ providers: {} });
  registry.registerProvider("lab", { baseUrl: "http://127.0.0.1:10", api: "openai-completions", models: [] });
  expect(registry.problems).toEqual([]);
});

test("what is wrong with a registered provider is not said to be in the file", async () => {
  const { registry } = await open({ providers: {} });
  registry.registerProvider("lab", { api: "openai-completions", models: [{ id: "m" }] });
  registry.registerProvider("nowhere", {});
  expect(registry.problems.map(({ file }) => file)).toEqual([
    "the provider lab of an extension",
    "the provider nowhere of an extension",
  ]);
});

test("a registered provider without models changes the one of the file, as long as it is registered", async () => {
  const { registry } = await open(local("m"));
  registry.registerProvider("mine", { baseUrl: "http://127.0.0.1:10/proxy", headers: { "x-team": "lab" } });
  expect(registry.problems).toEqual([]);
  expect(ids(registry)).toEqual(["m"]);
  expect(registry.find("mine", "m")).toMatchObject({ baseUrl: "http://127.0.0.1:10/proxy" });
  registry.unregisterProvider("mine");
  expect(registry.find("mine", "m")).toMatchObject({ baseUrl: "http://127.0.0.1:9/v1" });
});

describe("a provider that the file adds", () => {
  test("has the models of the file, with pi's defaults for missing fields", async () => {
    const { registry } = await open(local("m"));
    expect(registry.problems).toEqual([]);
    expect(registry.find("mine", "m")).toEqual({
      id: "m",
      name: "m",
      provider: "mine",
      api: "openai-completions",
      baseUrl: "http://127.0.0.1:9/v1",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 16_384,
    });
    expect(registry.getAll()).toContain(registry.find("mine", "m"));
    expect(registry.resolve("mine/m")).toMatchObject({ kind: "resolved", model: { provider: "mine" } });
    expect(registry.find("mine", "n")).toBeUndefined();
  });

  test("can set every property of a model, and a model's own fields override its provider's", async () => {
    const { registry } = await open({
      providers: {
        mine: {
          baseUrl: "http://a/v1",
          api: "openai-completions",
          headers: { "X-A": "1", "x-b": "2" },
          compat: { supportsStore: false, supportsDeveloperRole: false },
          models: [
            {
              id: "m",
              name: "Mine",
              api: "anthropic-messages",
              baseUrl: "http://b",
              reasoning: true,
              thinkingLevelMap: { high: "max", minimal: null },
              input: ["text", "image"],
              cost: { input: 1, output: 2, tiers: [{ inputTokensAbove: 10, input: 3, output: 4 }] },
              contextWindow: 4_096,
              headers: { "x-B": "3" },
              compat: { supportsStore: true },
            },
          ],
        },
      },
    });
    expect(registry.problems).toEqual([]);
    expect(registry.find("mine", "m")).toMatchObject({
      name: "Mine",
      api: "anthropic-messages",
      baseUrl: "http://b",
      reasoning: true,
      thinkingLevelMap: { high: "max", minimal: null },
      input: ["text", "image"],
      cost: { input: 1, output: 2, cacheRead: 0, tiers: [{ inputTokensAbove: 10, input: 3, output: 4, cacheRead: 0 }] },
      contextWindow: 4_096,
      maxTokens: 4_096,
      headers: { "x-a": "1", "x-b": "3" },
      compat: { supportsStore: true, supportsDeveloperRole: false },
    });
  });

  test("whose models cannot work is reported, and the other models are available", async () => {
    const { registry, path } = await open(`{ "providers": {
      "a": { "baseUrl": "http://h/v1", "models": [{ "id": "m" }] },
      "b": { "api": "openai-completions", "models": [
        { "id": "m" },
        { "id": "n", "baseUrl": "http://h/v1" }
      ] },
      "c": { "api": "openai-completion", "baseUrl": "http://h/v1", "models": [{ "id": "m" }] },
      "antropic": { "baseUrl": "http://h/v1" },
      "anthropic": { "modelOverrides": { "claude-opus-55": {} } }
    } }`);
    expect(registry.problems.map(formatFileProblem)).toEqual([
      `${path}:2:51: The model "m" is ignored: a model of a provider of your own needs "api".`,
      `${path}:4:9: The model "m" is ignored: a model of a provider of your own needs "baseUrl".`,
      `${path}:7:79: The model "m" needs the API "openai-completion", which is unknown. Did you mean "openai-completions"?`,
      `${path}:8:7: There is no provider "antropic", and no models are described for it. Did you mean "anthropic"?`,
      expect.stringContaining(`${path}:9:42: anthropic has no model "claude-opus-55" to override. Did you mean`),
    ]);
    expect(registry.find("b", "n")).toBeDefined();
    expect(registry.find("b", "m")).toBeUndefined();
  });
});

describe("a built-in provider", () => {
  test("keeps its models, with the address and the headers of the file", async () => {
    const { registry } = await open({
      providers: { anthropic: { baseUrl: "https://proxy.example", headers: { "x-team": "t" } } },
    });
    const models = registry.getAll().filter(({ provider }) => provider === "anthropic");
    expect(models.map(({ id }) => id)).toEqual(getModels("anthropic").map(({ id }) => id));
    for (const model of models)
      expect(model).toEqual({
        ...getModel("anthropic", model.id),
        baseUrl: "https://proxy.example",
        headers: { "x-team": "t" },
      });
  });

  test("has overrides merged into single models, objects field by field", async () => {
    const before = getModel("anthropic", "claude-opus-5");
    const { registry } = await open({
      providers: {
        anthropic: {
          modelOverrides: {
            "claude-opus-5": { name: "Big", cost: { input: 99 }, compat: { supportsTemperature: false } },
          },
        },
      },
    });
    expect(registry.find("anthropic", "claude-opus-5")).toEqual({
      ...before,
      name: "Big",
      cost: { ...before.cost, input: 99 },
      compat: { ...before.compat, supportsTemperature: false },
    });
    expect(registry.find("anthropic", "claude-sonnet-5")).toBe(getModel("anthropic", "claude-sonnet-5"));
  });

  test("has sampling fields merged level by level", async () => {
    const fields = (top_k: number) => ({
      samplingParams: { top_k, top_p: 0.9 },
      samplingParamsByThinkingLevel: { high: { top_k }, off: { min_p: 0.1 } },
    });
    const { registry } = await open({
      providers: {
        lab: {
          baseUrl: "http://127.0.0.1:9/v1",
          api: "openai-completions",
          apiKey: "x",
          compat: { vllmPriority: -5, thinkingTokenBudgetField: "thinking_budget", supportsFinishReason: false },
          models: [{ id: "m", ...fields(20), promptCache: { short: 300 } }],
        },
        anthropic: { modelOverrides: { "claude-opus-5": fields(5) } },
      },
    });
    expect(registry.problems).toEqual([]);
    expect(registry.find("lab", "m")).toMatchObject({ ...fields(20), promptCache: { short: 300 } });
    expect(registry.find("lab", "m")!.compat).toMatchObject({ vllmPriority: -5, supportsFinishReason: false });
    expect(registry.find("anthropic", "claude-opus-5")).toMatchObject(fields(5));
  });

  test("accepts a model that is newer than the catalogue, with the API of the nearest, and one that replaces another", async () => {
    const { registry } = await open({
      providers: { anthropic: { models: [{ id: "claude-opus-9" }, { id: "claude-opus-5", maxTokens: 7 }] } },
    });
    const { api, baseUrl } = getModel("anthropic", "claude-opus-5");
    expect(registry.find("anthropic", "claude-opus-9")).toMatchObject({ api, baseUrl, provider: "anthropic" });
    expect(registry.find("anthropic", "claude-opus-5")).toMatchObject({ maxTokens: 7, contextWindow: 128_000 });
    expect(
      registry.getAll().filter(({ id, provider }) => provider === "anthropic" && id === "claude-opus-5"),
    ).toHaveLength(1);
  });
});

test("the same call returns the same object, which is frozen", async () => {
  const { registry } = await open({ providers: { ...local("m").providers, xai: { baseUrl: "http://h" } } });
  for (const [provider, id] of [
    ["mine", "m"],
    ["xai", "grok-4.7"],
    ["openai", "o3"],
  ] as const) {
    const model = registry.find(provider, id)!;
    expect(registry.find(provider, id)).toBe(model);
    expect(registry.getAll()).toContain(model);
    expect(Object.isFrozen(model.cost)).toBe(true);
  }
});

test("registries are independent of each other, and do not change the catalogue", async () => {
  const providers = getProviders();
  const one = await open({ providers: { ...local("m").providers, xai: { baseUrl: "http://one" } } });
  const two = await open({ providers: { xai: { baseUrl: "http://two" } } });
  expect(one.registry.find("xai", "grok-4.7")!.baseUrl).toBe("http://one");
  expect(two.registry.find("xai", "grok-4.7")!.baseUrl).toBe("http://two");
  expect(two.registry.find("mine", "m")).toBeUndefined();
  expect(getModel("xai", "grok-4.7").baseUrl).not.toContain("http://");
  expect(getProviders()).toEqual(providers);
});

test("models that are registered in the catalogue later are available until they are unregistered", async () => {
  const { registry } = await open({ providers: { later: { models: [{ id: "n" }] } } });
  expect(registry.problems.map(({ message }) => message)).toEqual([expect.stringContaining('needs "api"')]);
  registerModels("later", [{ ...getModel("openai", "o3"), provider: "later", id: "m" }]);
  onTestFinished(() => unregisterModels("later"));
  expect(
    registry
      .getAll()
      .filter(({ provider }) => provider === "later")
      .map(({ id }) => id),
  ).toEqual(["m", "n"]);
  expect(registry.problems).toEqual([]);
  unregisterModels("later");
  expect(registry.find("later", "m")).toBeUndefined();
});

describe("available", () => {
  test("are the models of providers with a key, in the file or according to the caller", async () => {
    const { registry } = await open({
      providers: { ...local("m").providers, other: { ...local("m").providers.mine, apiKey: "$OTHER_KEY" } },
    });
    const listProviders = (hasKey?: (provider: string, written: string | undefined) => boolean) => [
      ...new Set(registry.getAvailable(hasKey).map(({ provider }) => provider)),
    ];
    expect(listProviders((_provider, written) => written !== undefined)).toEqual(["other"]);
    expect(listProviders((provider) => provider === "xai" || provider === "mine")).toEqual(["xai", "mine"]);
    expect(listProviders()).toContain("other");
    expect(listProviders()).not.toContain("mine");
    expect(registry.writtenKey("other")).toBe("$OTHER_KEY");
    expect(registry.writtenKey("mine")).toBeUndefined();
  });
});

describe("headers", () => {
  const file = {
    providers: {
      mine: {
        ...local("m").providers.mine,
        authHeader: true,
        headers: { "x-plain": "p", "x-env": "$TEAM", "x-both": "$ONE" },
        models: [
          { id: "m", headers: { "x-both": "literal" } },
          { id: "n", headers: { "x-cmd": "!command" } },
        ],
      },
    },
  };

  test("that are not literal are not on the model, and are resolved for a request", async () => {
    const { registry } = await open(file, { resolveValue: async (written) => `<${written}>` });
    const [m, n] = [registry.find("mine", "m")!, registry.find("mine", "n")!];
    expect(m.headers).toEqual({ "x-plain": "p", "x-both": "literal" });
    expect(await registry.requestHeaders(m)).toEqual({ kind: "ready", headers: { "x-env": "<$TEAM>" } });
    expect(await registry.requestHeaders(n, "fake-key")).toEqual({
      kind: "ready",
      headers: { "x-env": "<$TEAM>", "x-both": "<$ONE>", "x-cmd": "<!command>", authorization: "Bearer fake-key" },
    });
    expect(await registry.requestHeaders(getModel("openai", "o3"), "k")).toEqual({ kind: "ready", headers: {} });
  });

  test("that cannot be resolved are reported by name, without their written value", async () => {
    const { registry } = await open(file);
    expect(await registry.requestHeaders(registry.find("mine", "m")!)).toEqual({
      kind: "unresolved",
      message:
        'The header "x-env" of mine in models.json has no value: the variable is not set, or the command failed.',
    });
  });

  test("and the address reach the server", async () => {
    const seen: (string | string[] | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.url, request.headers["x-plain"], request.headers["x-env"], request.headers.authorization);
      response.writeHead(400).end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/v1`;
    const { registry } = await open(
      { providers: { mine: { ...file.providers.mine, baseUrl } } },
      { resolveValue: async () => "team" },
    );
    const model = registry.find("mine", "m")!;
    const filled = await registry.requestHeaders(model, "fake-key");
    const messages = [{ role: "user" as const, content: "hi", timestamp: 1 }];
    const headers = filled.kind === "ready" ? filled.headers : {};
    await completeSimple(model, { messages }, { apiKey: "fake-key", headers, maxRetries: 0 });
    expect(seen).toEqual(["/base/v1/chat/completions", "p", "team", "Bearer fake-key"]);
  });
});

describe("a bad file", () => {
  test("that is missing is no problem", async () => {
    const registry = await openAt(join(await temporaryDirectory(), "not", "there"), { watch: false });
    expect(registry.problems).toEqual([]);
    expect(registry.find("openai", "o3")).toBe(getModel("openai", "o3"));
  });

  test("at the start is a problem, and the catalogue is available", async () => {
    const { registry, path } = await open("{ nonsense");
    expect(registry.problems.map(formatFileProblem)).toEqual([
      `${path}:1:3: This is not JSON. Put names and strings in double quotes.`,
    ]);
    expect(registry.resolve("openai/o3").kind).toBe("resolved");
  });

  test("that is damaged later keeps its last valid content until it is corrected", async () => {
    const { registry, path } = await open(local("m"));
    let told = 0;
    registry.subscribe(() => void told++);
    await writeFile(path, '{\n  "providers": {');
    await registry.refresh();
    expect(ids(registry)).toEqual(["m"]);
    expect(registry.problems.map(formatFileProblem)).toEqual([
      `${path}:2:17: A closing brace is missing. Its last valid content still counts.`,
    ]);
    await registry.refresh();
    expect(told).toBe(1);
    await writeFile(path, JSON.stringify(local("m")));
    await registry.refresh();
    expect([told, registry.problems]).toEqual([2, []]);
  });

  test("that is a directory, or too large, or cannot be read is a problem", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "models.json"));
    expect((await openAt(directory, { watch: false })).problems[0]!.message).toBe(
      "The file cannot be read: it is not a regular file.",
    );
    const { registry } = await open(" ".repeat(5 * 1024 * 1024));
    expect(registry.problems[0]!.message).toMatch(/it has 5242880 bytes, and the limit is 4194304/);
    const denied = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    const fileSystem = { ...nodeFileSystem, open: () => Promise.reject(denied) };
    const other = await open(local("m"), { fileSystem });
    expect(other.registry.problems[0]!.message).toBe("The file cannot be read: you do not have permission (EACCES).");
  });

  for (const [what, disturb] of [
    ["empty", (path: string) => writeFile(path, "")],
    ["half", (path: string) => writeFile(path, '{ "providers": {')],
    ["gone", (path: string) => unlink(path)],
  ] as const) {
    test(`that is ${what} for a moment, while it is being saved, is not reported`, async () => {
      const clock = createFakeClock();
      const { registry, path } = await open(local("old"), { clock });
      const seen: unknown[] = [];
      registry.subscribe(() => seen.push([ids(registry), registry.problems]));
      await disturb(path);
      const refreshed = registry.refresh();
      await expect.poll(() => clock.waiting).toBe(1);
      await writeFile(path, JSON.stringify(local("new")));
      await clock.advance(150);
      await refreshed;
      expect(seen).toEqual([[["new"], []]]);
    });
  }

  test("that is removed has no models and no problems", async () => {
    const { registry, path } = await open(local("m"));
    await unlink(path);
    await registry.refresh();
    expect([ids(registry), registry.problems]).toEqual([[], []]);
  });
});

describe("a file that another process saves", () => {
  const run = promisify(execFile);
  const save = (path: string, script: string) =>
    run(process.execPath, ["-e", `const fs = require("node:fs"); const path = process.argv[1]; ${script}`, path]);
  const json = (id: string) => JSON.stringify(JSON.stringify(local(id)));

  for (const [how, script] of [
    ["by renaming over it", `fs.writeFileSync(path + "~", ${json("new")}); fs.renameSync(path + "~", path)`],
    [
      "by emptying and writing it",
      `fs.writeFileSync(path, ""); setTimeout(() => fs.writeFileSync(path, ${json("new")}), 60)`,
    ],
    [
      "in two parts",
      `const all = ${json("new")}; fs.writeFileSync(path, all.slice(0, 30)); setTimeout(() => fs.appendFileSync(path, all.slice(30)), 60)`,
    ],
    ["by removing and writing it", `fs.unlinkSync(path); setTimeout(() => fs.writeFileSync(path, ${json("new")}), 60)`],
    [
      "twice in 10 ms",
      `fs.writeFileSync(path, ${json("between")}); setTimeout(() => fs.writeFileSync(path, ${json("new")}), 10)`,
    ],
  ] as const) {
    test(`${how} is noticed, and no model is lost meanwhile`, async () => {
      const { registry, path } = await open(local("old"), { watch: true });
      const seen: string[] = [];
      registry.subscribe(() => seen.push(...ids(registry)));
      await save(path, script);
      await expect.poll(() => ids(registry)).toEqual(["new"]);
      expect(registry.problems).toEqual([]);
      expect(["old", "between", "new"]).toEqual(expect.arrayContaining(seen));
    });
  }

  test("is noticed if there was none, and through a link to it", async () => {
    const directory = await temporaryDirectory();
    const [agentDir, elsewhere] = [join(directory, "agent"), join(directory, "dotfiles.json")];
    const registry = await openAt(agentDir);
    await mkdir(agentDir);
    await writeFile(elsewhere, JSON.stringify(local("a")));
    await symlink(elsewhere, join(agentDir, "models.json"));
    await expect.poll(() => ids(registry)).toEqual(["a"]);
    await save(elsewhere, `fs.writeFileSync(path, ${json("b")})`);
    await expect.poll(() => ids(registry)).toEqual(["b"]);
  });

  test("is not watched any more when the registry is closed, while another still watches it", async () => {
    const { registry, path } = await open(local("old"), { watch: true });
    const other = await openAt(join(path, ".."), {});
    registry.close();
    await save(path, `fs.writeFileSync(path, ${json("new")})`);
    await expect.poll(() => ids(other)).toEqual(["new"]);
    expect(ids(registry)).toEqual(["old"]);
  });

  test("leaves no timer behind when the registry is closed", async () => {
    const clock = createFakeClock();
    const { registry, path } = await open(local("old"), { watch: true, clock });
    await save(path, `fs.writeFileSync(path, ${json("new")})`);
    registry.close();
    expect(clock.waiting).toBe(0);
    await writeFile(path, "{}");
    await clock.advance(10_000);
    expect([clock.waiting, ids(registry)]).toEqual([0, ["old"]]);
  });
});

test("a file that is saved without a change changes nothing", async () => {
  const { registry, path } = await open(local("m"));
  const model = registry.find("mine", "m");
  let told = 0;
  registry.subscribe(() => void told++);
  await writeFile(path, JSON.stringify(local("m")));
  await registry.refresh();
  expect([told, registry.find("mine", "m") === model]).toEqual([0, true]);
});

test("a listener that fails is reported, and the others are called", async () => {
  const { registry, path } = await open(local("m"));
  let told = 0;
  const stop = registry.subscribe(() => {
    throw new Error("no");
  });
  registry.subscribe(() => void told++);
  await writeFile(path, JSON.stringify(local("n")));
  await registry.refresh();
  expect(told).toBe(1);
  expect(registry.problems.map(({ message }) => message)).toEqual(["A listener for model changes failed: no"]);
  stop();
});

test("a registry without a directory is refused, and one in memory needs none", async () => {
  await expect(ModelRegistry.create("")).rejects.toMatchObject({ name: "HarnessError", code: "invalid_input" });
  const own = { ...getModel("openai", "o3"), name: "Mine" };
  const registry = ModelRegistry.inMemory({ models: [own] });
  expect(registry.find("openai", "o3")).toBe(own);
  expect(registry.problems).toEqual([]);
});

describe("a former id of a provider", () => {
  const former = "azure-openai-responses";

  test("means the provider, wherever a model is named", async () => {
    const { registry } = await open({ providers: {} }, { hasKey: (provider) => provider === "azure" });
    const model = getModel("azure", "gpt-5.4");
    expect(registry.find(former, "gpt-5.4")).toBe(model);
    expect(registry.resolve(`${former}/gpt-5.4:high`)).toMatchObject({
      kind: "resolved",
      model,
      thinkingLevel: "high",
    });
    expect(registry.resolve("gpt-5.4", former)).toMatchObject({ kind: "resolved", model });
    expect(registry.defaultModel({ defaultProvider: former })).toMatchObject({ model: { provider: "azure" } });
    expect(registry.scope([`${former}/gpt-5.4`]).models).toMatchObject([{ model }]);
    expect(registry.scope([`${former}/*`]).models.length).toBeGreaterThan(10);
    expect(registry.isKnown(former)).toBe(true);
  });

  test("in models.json describes the provider, unless that is described too", async () => {
    const mine = { baseUrl: "https://mine.openai.azure.com", apiKey: "$MY_KEY" };
    const { registry } = await open({ providers: { [former]: mine } });
    expect(registry.problems).toEqual([]);
    expect(registry.find("azure", "gpt-5.4")).toMatchObject({ baseUrl: mine.baseUrl });
    for (const name of ["azure", former]) expect(registry.writtenKey(name)).toBe("$MY_KEY");
    const both = await open({ providers: { [former]: mine, azure: { baseUrl: "https://other.openai.azure.com" } } });
    expect(both.registry.find("azure", "gpt-5.4")).toMatchObject({ baseUrl: "https://other.openai.azure.com" });
    expect(both.registry.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining("older name of azure"),
    ]);
  });
});

describe("a model that is no longer listed", () => {
  const withKey = (...keys: string[]) => ModelRegistry.inMemory({ hasKey: (provider) => keys.includes(provider) });

  test("is used with its last known properties, also if only its id is named", () => {
    const registry = withKey("openrouter");
    const model = getModel("openrouter", "openai/o4-mini");
    expect(model.isRetired).toBe(true);
    expect(registry.resolve("openrouter/openai/o4-mini")).toMatchObject({ kind: "resolved", model });
    expect(registry.resolve("openai/o4-mini")).toMatchObject({
      kind: "resolved",
      model: { id: expect.stringContaining("o4-mini") },
    });
    expect(withKey("xiaomi").resolve("mimo-v2.5-pro")).toMatchObject({ model: getModel("xiaomi", "mimo-v2.5-pro") });
    expect(registry.getAll()).not.toContain(model);
  });

  test("is not preferred to a listed model with the same id, nor without a key", () => {
    expect(withKey("openai", "openai-codex").resolve("gpt-5.5")).toMatchObject({ model: { provider: "openai" } });
    expect(withKey("anthropic").resolve("mimo-v2.5-pro")).not.toMatchObject({ model: { isRetired: true } });
  });
});

test("a refresh sees a catalogue that another process has stored", async () => {
  const { registry, directory } = await open({ providers: {} });
  expect(registry.find("xai", "grok-4.7")).toBe(getModel("xai", "grok-4.7"));
  let changes = 0;
  registry.subscribe(() => void changes++);
  const { provider: _provider, ...model } = getModel("xai", "grok-4.7");
  await writeFile(join(directory, "catalogue.json"), JSON.stringify({ xai: [{ ...model, contextWindow: 7_000_000 }] }));
  await registry.refresh();
  expect(registry.find("xai", "grok-4.7")).toMatchObject({ contextWindow: 7_000_000 });
  expect(registry.getAll()).toContain(registry.find("xai", "grok-4.7"));
  await registry.refresh();
  expect(changes).toBe(1);
});

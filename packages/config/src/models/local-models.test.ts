import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { LocalModels } from "./local-models.ts";
import { type CreateModelRegistryOptions, ModelRegistry } from "./model-registry.ts";

async function serve(handle: RequestListener): Promise<{ baseUrl: string; close: () => void }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close };
}

/** Lists models as Ollama does on its OpenAI side, or with vLLM's window. */
const lists =
  (...models: (string | { id: string; max_model_len: number })[]): RequestListener =>
  (request, response) => {
    if (request.url !== "/v1/models") return void response.writeHead(404).end();
    const data = models.map((model) => ({
      object: "model",
      owned_by: "x",
      ...(typeof model === "string" ? { id: model } : model),
    }));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
  };

async function open(providers: object, options: CreateModelRegistryOptions = {}) {
  const directory = await mkdtemp(join(tmpdir(), "tau-local-"));
  await writeFile(join(directory, "models.json"), JSON.stringify({ providers }));
  const registry = await ModelRegistry.create(directory, { watch: false, ...options });
  onTestFinished(async () => {
    registry.close();
    await rm(directory, { recursive: true, force: true });
  });
  return registry;
}

const listed = (registry: ModelRegistry, provider: string) =>
  registry.getAll().flatMap((model) => (model.provider === provider ? [model.id] : []));

test("models of local servers are found in the background, with the changes of the file", async () => {
  const ollama = await serve(lists("qwen3:8b", "llama3.2:latest"));
  const vllm = await serve(lists({ id: "org/model", max_model_len: 65_536 }));
  const registry = await open(
    {
      ollama: { baseUrl: ollama.baseUrl, headers: { "x-a": "b" }, modelOverrides: { "qwen3:8b": { reasoning: true } } },
      vllm: { baseUrl: vllm.baseUrl, models: [{ id: "described" }] },
    },
    { localServers: ["ollama", "vllm"] },
  );
  expect(listed(registry, "ollama")).toEqual([]);
  let told = 0;
  registry.subscribe(() => void told++);
  await expect.poll(() => told).toBe(1);
  expect(listed(registry, "ollama")).toEqual(["qwen3:8b", "llama3.2:latest"]);
  expect(listed(registry, "vllm")).toEqual(["org/model", "described"]);
  expect(registry.find("ollama", "qwen3:8b")).toMatchObject({
    reasoning: true,
    headers: { "x-a": "b" },
    baseUrl: ollama.baseUrl,
  });
  expect(registry.find("vllm", "org/model")).toMatchObject({ contextWindow: 65_536 });
  expect(registry.find("vllm", "described")).toMatchObject({
    contextWindow: 32_768,
    compat: { maxTokensField: "max_tokens" },
  });
  expect(registry.getAvailable(() => false).map(({ provider }) => provider)).toContain("ollama");
  expect(registry.resolve("llama3.2")).toMatchObject({
    kind: "resolved",
    model: { provider: "ollama", id: "llama3.2:latest" },
  });
  expect(registry.problems).toEqual([]);
});

test("a model of a local server can be used before the server was asked, at the address of the file", async () => {
  const registry = await open({ ollama: { baseUrl: "http://127.0.0.1:9/v1" } });
  expect(registry.find("ollama", "any:thing")).toMatchObject({ baseUrl: "http://127.0.0.1:9/v1", provider: "ollama" });
  expect(registry.resolve("ollama/any:thing:high")).toMatchObject({ kind: "resolved", model: { id: "any:thing" } });
  expect(registry.resolve("any:thing").kind).toBe("not_found");
  await registry.discover({ servers: ["ollama"] });
  expect(registry.localFailure("ollama")?.message).toMatch(
    /^Ollama at http:\/\/127\.0\.0\.1:9\/v1 did not list its models/,
  );
});

test("a key in the file is sent, and resolved first if it is not literal", async () => {
  const keys: (string | undefined)[] = [];
  const { baseUrl } = await serve((request, response) => {
    keys.push(request.headers.authorization);
    lists()(request, response);
  });
  await (await open({ lmstudio: { baseUrl, apiKey: "fake-key" } })).discover({ servers: ["lmstudio"] });
  const resolveValue = async (written: string) => (written === "$KEY" ? "fake-filled" : undefined);
  await (await open({ lmstudio: { baseUrl, apiKey: "$KEY" } }, { resolveValue })).discover({ servers: ["lmstudio"] });
  expect(keys).toEqual(["Bearer fake-key", "Bearer fake-filled"]);
});

test("an answer counts for a while, calls at the same time share one request, and force asks again", async () => {
  let asked = 0;
  const { baseUrl } = await serve((request, response) => {
    asked++;
    lists("m")(request, response);
  });
  const clock = createFakeClock();
  const local = new LocalModels({ clock, timeoutMs: 1_000, maxAgeMs: 60_000 });
  const server = { provider: "ollama" as const, baseUrl };
  expect(await Promise.all([local.ask([server]), local.ask([server])])).toEqual([true, true]);
  const [model] = local.list("ollama");
  expect([await local.ask([server]), asked]).toEqual([false, 1]);
  expect([await local.ask([server], true), asked]).toEqual([false, 2]);
  await clock.advance(60_000);
  expect([await local.ask([server]), asked]).toEqual([false, 3]);
  expect(local.list("ollama")[0]).toBe(model);
});

test("a server that was stopped has no models, and one that is busy keeps its models", async () => {
  let isBusy = false;
  const { baseUrl, close } = await serve((request, response) => {
    if (isBusy) response.writeHead(503).end("loading");
    else lists("m")(request, response);
  });
  const local = new LocalModels({ clock: createFakeClock(), timeoutMs: 1_000, maxAgeMs: 0 });
  const ask = () => local.ask([{ provider: "llamacpp", baseUrl }], true);
  expect([await ask(), local.providers()]).toEqual([true, ["llamacpp"]]);
  isBusy = true;
  expect([await ask(), local.list("llamacpp").length, local.failure("llamacpp")?.kind]).toEqual([
    false,
    1,
    "overloaded",
  ]);
  close();
  expect([await ask(), local.list("llamacpp").length, local.failure("llamacpp")?.kind]).toEqual([true, 0, "network"]);
  expect(await ask()).toBe(false);
});

test("a server that does not answer is waited for until its time is over, and not at all after closing", async () => {
  let asked!: () => void;
  const arrived = new Promise<void>((resolve) => (asked = resolve));
  const { baseUrl } = await serve(() => asked());
  const clock = createFakeClock();
  const local = new LocalModels({ clock, timeoutMs: 1_500, maxAgeMs: 0 });
  const asking = local.ask([{ provider: "vllm", baseUrl }]);
  await arrived;
  await clock.advance(1_500);
  expect([await asking, local.failure("vllm")?.kind]).toEqual([false, "idle_timeout"]);
  const again = local.ask([{ provider: "vllm", baseUrl }], true);
  local.close();
  expect([await again, clock.waiting]).toEqual([false, 0]);
});

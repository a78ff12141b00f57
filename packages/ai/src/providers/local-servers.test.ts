import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeClock } from "../testing/fake-clock.ts";
import { assumedLimits, listLocalModels, localBaseUrl, localModel, type LocalProvider } from "./local-servers.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server on loopback; answers its base URL. */
async function serve(handle: Handler): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const json = (body: unknown): Handler => {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
};

const windows = async (provider: LocalProvider, baseUrl: string) => {
  const { models } = await listLocalModels(provider, { baseUrl });
  return models.map(({ id, contextWindow }) => [id, contextWindow]);
};

describe("listLocalModels", () => {
  test("asks for /models without a key and answers models that can be used", async () => {
    const seen: (string | undefined)[] = [];
    const baseUrl = await serve((request, response) => {
      seen.push(request.method, request.url, request.headers.authorization);
      json({
        object: "list",
        data: [
          { id: "qwen3:8b", object: "model", created: 1, owned_by: "library" },
          { id: "llama3.2:latest", object: "model", created: 1, owned_by: "library" },
        ],
      })(request, response);
    });
    const { models, failure } = await listLocalModels("ollama", { baseUrl });
    expect(failure).toBeUndefined();
    expect(seen).toEqual(["GET", "/v1/models", undefined]);
    expect(models).toEqual([
      localModel("ollama", "qwen3:8b", { baseUrl }),
      localModel("ollama", "llama3.2:latest", { baseUrl }),
    ]);
  });

  test("sends a key that was given, since such servers can be told to want one", async () => {
    let sent: string | undefined;
    const baseUrl = await serve((request, response) => {
      sent = request.headers.authorization;
      json({ data: [] })(request, response);
    });
    expect(await listLocalModels("vllm", { baseUrl, apiKey: "k" })).toEqual({ models: [] });
    expect(sent).toBe("Bearer k");
  });

  test("believes a server that says how long a prompt it takes, and is careful with one that does not", async () => {
    const vllm = await serve(
      json({
        data: [
          { id: "a", max_model_len: 131_072 },
          { id: "b", max_model_len: 4_096 },
        ],
      }),
    );
    expect(await windows("vllm", vllm)).toEqual([
      ["a", 131_072],
      ["b", 4_096],
    ]);
    const trained = (tokens: unknown) => ({ id: `${tokens}`, meta: { n_ctx_train: tokens } });
    const llamacpp = await serve(json({ data: [trained(2_048), trained(1_000_000), trained(-1), { id: "x" }] }));
    expect(await windows("llamacpp", llamacpp)).toEqual([
      ["2048", 2_048],
      ["1000000", assumedLimits.contextWindow],
      ["-1", assumedLimits.contextWindow],
      ["x", assumedLimits.contextWindow],
    ]);
    const small = localModel("vllm", "b", { contextWindow: 4_096 });
    expect(small.maxTokens).toBe(4_096);
  });

  test("leaves out what has no id, and what comes twice", async () => {
    const baseUrl = await serve(json({ data: [null, 1, {}, { id: 5 }, { id: "a" }, { id: "a" }, "x"] }));
    expect(await windows("lmstudio", baseUrl)).toEqual([["a", assumedLimits.contextWindow]]);
    const odd = await serve(json([1, 2]));
    expect(await listLocalModels("lmstudio", { baseUrl: odd })).toEqual({ models: [] });
  });

  test("answers an empty list and the reason when nobody is there", async () => {
    const baseUrl = await serve(json({}));
    await closing.pop()!();
    const { models, failure } = await listLocalModels("lmstudio", { baseUrl });
    expect(models).toEqual([]);
    expect(failure?.kind).toBe("network");
    expect(failure?.message).toMatch(
      /^LM Studio at http:\/\/127\.0\.0\.1:\d+\/v1 did not list its models: .*ECONNREFUSED/,
    );
  });

  for (const [what, handle, kind] of [
    [
      "is still loading",
      ((_request, response) => response.writeHead(503).end("Loading model")) as Handler,
      "overloaded",
    ],
    ["wants a key", ((_request, response) => response.writeHead(401).end()) as Handler, "auth"],
    ["is no such server", ((_request, response) => response.end("<html></html>")) as Handler, "unknown"],
    ["hangs up", ((request) => request.socket.destroy()) as Handler, "network"],
  ] as const) {
    test(`answers an empty list and the reason when the server ${what}`, async () => {
      const { models, failure } = await listLocalModels("llamacpp", { baseUrl: await serve(handle) });
      expect(models).toEqual([]);
      expect(failure?.kind).toBe(kind);
    });
  }

  test("does not wait for a server that says nothing", async () => {
    const clock = createFakeClock();
    let asked!: () => void;
    const arrived = new Promise<void>((resolve) => (asked = resolve));
    const baseUrl = await serve(() => asked());
    const listing = listLocalModels("ollama", { baseUrl, clock });
    await arrived;
    await clock.advance(5_000);
    expect((await listing).failure).toMatchObject({ kind: "idle_timeout", message: /within 5000 ms/ });
    expect(clock.waiting).toBe(0);
  });

  test("stops when it is told to", async () => {
    const abort = new AbortController();
    const baseUrl = await serve(() => abort.abort());
    expect((await listLocalModels("ollama", { baseUrl, signal: abort.signal })).failure?.kind).toBe("aborted");
    expect((await listLocalModels("ollama", { baseUrl, signal: abort.signal })).failure?.kind).toBe("aborted");
  });

  test("refuses a provider that is not a local server", async () => {
    await expect(listLocalModels("openai" as LocalProvider)).rejects.toMatchObject({ code: "unknown_provider" });
  });
});

describe("localBaseUrl", () => {
  const at = (host: string) => localBaseUrl("ollama", (name) => (name === "OLLAMA_HOST" ? host : undefined));

  for (const [host, url] of [
    ["box", "http://box:11434/v1"],
    ["box:80", "http://box/v1"],
    ["box:9000", "http://box:9000/v1"],
    [":9000", "http://127.0.0.1:9000/v1"],
    ["0.0.0.0", "http://127.0.0.1:11434/v1"],
    ["0.0.0.0:9000", "http://127.0.0.1:9000/v1"],
    ["[::]:9000", "http://[::1]:9000/v1"],
    ["http://box", "http://box/v1"],
    ["https://box.example/", "https://box.example/v1"],
    ["https://box.example/ollama/v1/", "https://box.example/ollama/v1"],
    ["not a host", "http://127.0.0.1:11434/v1"],
  ] as const) {
    test(`reads OLLAMA_HOST=${host} as ${url}`, () => expect(at(host)).toBe(url));
  }

  test("is the usual port where nothing is set", () => {
    const unset = () => undefined;
    expect((["ollama", "lmstudio", "llamacpp", "vllm"] as const).map((name) => localBaseUrl(name, unset))).toEqual([
      "http://127.0.0.1:11434/v1",
      "http://127.0.0.1:1234/v1",
      "http://127.0.0.1:8080/v1",
      "http://127.0.0.1:8000/v1",
    ]);
  });
});

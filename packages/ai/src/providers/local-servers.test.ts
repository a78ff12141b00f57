import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeClock } from "../testing/fake-clock.ts";
import { assumedLimits } from "./assumed-model.ts";
import { listLocalModels, resolveLocalBaseUrl, createLocalModel, type LocalProvider } from "./local-servers.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Starts a server on loopback and returns its base URL. */
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

const listWindows = async (provider: LocalProvider, baseUrl: string) => {
  const { models } = await listLocalModels(provider, { baseUrl });
  return models.map(({ id, contextWindow }) => [id, contextWindow]);
};

describe("listLocalModels", () => {
  test("requests /models without a key and returns usable models", async () => {
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
      createLocalModel("ollama", "qwen3:8b", { baseUrl }),
      createLocalModel("ollama", "llama3.2:latest", { baseUrl }),
    ]);
  });

  test("sends the key that was passed, because local servers can be configured to require one", async () => {
    let sent: string | undefined;
    const baseUrl = await serve((request, response) => {
      sent = request.headers.authorization;
      json({ data: [] })(request, response);
    });
    expect(await listLocalModels("vllm", { baseUrl, apiKey: "k" })).toEqual({ models: [] });
    expect(sent).toBe("Bearer k");
  });

  test("uses the context window that the server reports, and assumes a small one otherwise", async () => {
    const vllm = await serve(
      json({
        data: [
          { id: "a", max_model_len: 131_072 },
          { id: "b", max_model_len: 4_096 },
        ],
      }),
    );
    expect(await listWindows("vllm", vllm)).toEqual([
      ["a", 131_072],
      ["b", 4_096],
    ]);
    const trained = (tokens: unknown) => ({ id: `${tokens}`, meta: { n_ctx_train: tokens } });
    const llamacpp = await serve(json({ data: [trained(2_048), trained(1_000_000), trained(-1), { id: "x" }] }));
    expect(await listWindows("llamacpp", llamacpp)).toEqual([
      ["2048", 2_048],
      ["1000000", assumedLimits.contextWindow],
      ["-1", assumedLimits.contextWindow],
      ["x", assumedLimits.contextWindow],
    ]);
    const small = createLocalModel("vllm", "b", { contextWindow: 4_096 });
    expect(small.maxTokens).toBe(4_096);
  });

  test("leaves out entries without an id and duplicates", async () => {
    const baseUrl = await serve(json({ data: [null, 1, {}, { id: 5 }, { id: "a" }, { id: "a" }, "x"] }));
    expect(await listWindows("lmstudio", baseUrl)).toEqual([["a", assumedLimits.contextWindow]]);
    const invalid = await serve(json([1, 2]));
    expect(await listLocalModels("lmstudio", { baseUrl: invalid })).toEqual({ models: [] });
  });

  test("returns an empty list and the failure if no server is running", async () => {
    const baseUrl = await serve(json({}));
    await closing.pop()!();
    const { models, failure } = await listLocalModels("lmstudio", { baseUrl });
    expect(models).toEqual([]);
    expect(failure?.kind).toBe("network");
    expect(failure?.message).toMatch(
      /^LM Studio at http:\/\/127\.0\.0\.1:\d+\/v1 did not list its models: .*ECONNREFUSED/,
    );
  });

  for (const [condition, handle, kind] of [
    [
      "is still loading",
      ((_request, response) => response.writeHead(503).end("Loading model")) as Handler,
      "overloaded",
    ],
    ["requires a key", ((_request, response) => response.writeHead(401).end()) as Handler, "auth"],
    ["answers with HTML", ((_request, response) => response.end("<html></html>")) as Handler, "unknown"],
    ["closes the connection", ((request) => request.socket.destroy()) as Handler, "network"],
  ] as const) {
    test(`returns an empty list and the failure if the server ${condition}`, async () => {
      const { models, failure } = await listLocalModels("llamacpp", { baseUrl: await serve(handle) });
      expect(models).toEqual([]);
      expect(failure?.kind).toBe(kind);
    });
  }

  test("times out if the server does not answer", async () => {
    const clock = createFakeClock();
    let onRequest!: () => void;
    const requested = new Promise<void>((resolve) => (onRequest = resolve));
    const baseUrl = await serve(() => onRequest());
    const listing = listLocalModels("ollama", { baseUrl, clock });
    await requested;
    await clock.advance(5_000);
    expect((await listing).failure).toMatchObject({ kind: "idle_timeout", message: /within 5000 ms/ });
    expect(clock.waiting).toBe(0);
  });

  test("stops when the signal aborts", async () => {
    const abort = new AbortController();
    const baseUrl = await serve(() => abort.abort());
    expect((await listLocalModels("ollama", { baseUrl, signal: abort.signal })).failure?.kind).toBe("aborted");
    expect((await listLocalModels("ollama", { baseUrl, signal: abort.signal })).failure?.kind).toBe("aborted");
  });

  test("rejects a provider that is not a local server", async () => {
    await expect(listLocalModels("openai" as LocalProvider)).rejects.toMatchObject({ code: "unknown_provider" });
  });
});

describe("resolveLocalBaseUrl", () => {
  const resolveHost = (host: string) =>
    resolveLocalBaseUrl("ollama", (name) => (name === "OLLAMA_HOST" ? host : undefined));

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
    test(`reads OLLAMA_HOST=${host} as ${url}`, () => expect(resolveHost(host)).toBe(url));
  }

  test("reads LLAMA_BASE_URL for llama.cpp", () => {
    const env = (name: string) => (name === "LLAMA_BASE_URL" ? "http://10.0.0.2:9000" : undefined);
    expect(resolveLocalBaseUrl("llamacpp", env)).toBe("http://10.0.0.2:9000/v1");
  });

  test("is the default port if no variable is set", () => {
    const unset = () => undefined;
    expect(
      (["ollama", "lmstudio", "llamacpp", "vllm"] as const).map((name) => resolveLocalBaseUrl(name, unset)),
    ).toEqual([
      "http://127.0.0.1:11434/v1",
      "http://127.0.0.1:1234/v1",
      "http://127.0.0.1:8080/v1",
      "http://127.0.0.1:8000/v1",
    ]);
  });
});

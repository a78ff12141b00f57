import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { getModels, registerModels, unregisterModels } from "../src/catalog/catalog.ts";
import type { Context } from "../src/context.ts";
import { createAI, type CreateAIOptions } from "../src/create-ai.ts";
import { createProvider } from "../src/custom-provider.ts";
import { anthropicMessagesDialect } from "../src/testing/dialects/anthropic-messages.ts";
import { openaiCompletionsDialect } from "../src/testing/dialects/openai-completions.ts";
import { text } from "../src/testing/script.ts";
import { startWireServer, type WireReply, type WireServer } from "../src/testing/wire-server.ts";
import { cloudflareAIProvider } from "./cloudflare.ts";
import { user } from "./protocols/kit.ts";

const hello: Context = { messages: [user("Hello")] };
const answer: WireReply = { kind: "answer", answer: { content: [text("Hi.")] } };

let server: WireServer | undefined;

afterEach(async () => {
  unregisterModels("mine");
  await server?.close();
  server = undefined;
});

describe("createAI", () => {
  test("binds a built-in model to its key, for all four ways of asking", async () => {
    server = await startWireServer(anthropicMessagesDialect, [answer, answer, answer, answer]);
    const ai = createAI({
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      apiKey: "bound",
      config: { baseUrl: server.url, temperature: 0.5 },
    });
    expect(ai.model).toMatchObject({ id: "claude-sonnet-4-5", provider: "anthropic", baseUrl: server.url });
    const answers = [
      await ai.stream(hello).result(),
      await ai.complete(hello),
      await ai.streamSimple(hello).result(),
      await ai.completeSimple(hello),
    ];
    expect(answers.flatMap(({ content }) => content)).toMatchObject(Array.from(answers, () => ({ text: "Hi." })));
    expect(server.requests.map(({ headers }) => headers["x-api-key"])).toEqual(Array(4).fill("bound"));
    expect(server.requests.map(({ body }) => (body as { temperature?: number }).temperature)).toEqual(
      Array(4).fill(0.5),
    );
  });

  test("takes a base URL for any provider, before that of the config", () => {
    const config = { baseUrl: "http://configured" };
    const [baseUrl, model] = ["http://own", "claude-sonnet-4-5"];
    expect(createAI({ provider: "anthropic", model, baseUrl, config }).model.baseUrl).toBe(baseUrl);
    expect(createAI({ provider: "anthropic", model, baseUrl: undefined, config }).model.baseUrl).toBe(config.baseUrl);
    const provider = createProvider(cloudflareAIProvider);
    expect(createAI({ provider: "cloudflare-ai", baseUrl }).model.baseUrl).toBe(baseUrl);
    provider.unregister();
  });

  test("uses no key of the machine if `ambientCredentials` is false", async () => {
    server = await startWireServer(anthropicMessagesDialect, [answer, answer]);
    vi.stubEnv("ANTHROPIC_API_KEY", "of-the-machine");
    onTestFinished(() => void vi.unstubAllEnvs());
    const ai = createAI({ provider: "anthropic", model: "claude-sonnet-4-5", baseUrl: server.url });
    const ambientCredentials = false;
    const refused = await ai.completeSimple(hello, { ambientCredentials });
    expect(refused).toMatchObject({ stopReason: "error", failure: { kind: "auth" } });
    await ai.completeSimple(hello, { ambientCredentials, env: { ANTHROPIC_API_KEY: "of-the-request" } });
    await ai.completeSimple(hello);
    const keys = server.requests.map(({ headers }) => headers["x-api-key"]);
    expect(keys).toEqual(["of-the-request", "of-the-machine"]);
  });

  test("goes through no proxy of the machine then, but through one of the request", async () => {
    const connected: string[] = [];
    const proxy = createServer().on("connect", (request, socket) => {
      connected.push(`${request.url} ${request.headers["proxy-authorization"]}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as AddressInfo;
    for (const name of ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
      vi.stubEnv(name, `http://of-the-machine@127.0.0.1:${port}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const baseUrl = "https://model.invalid";
    const ai = createAI({ provider: "anthropic", model: "claude-sonnet-4-5", baseUrl, config: { maxRetries: 0 } });
    const send = (options: object) => ai.completeSimple(hello, { apiKey: "key", ...options });
    const ambientCredentials = false;
    expect((await send({ ambientCredentials })).failure?.kind).toBe("network");
    expect(connected).toEqual([]);
    await send({ ambientCredentials, env: { https_proxy: `http://of-the-request@127.0.0.1:${port}` } });
    await send({});
    expect(connected).toEqual(
      ["of-the-request:", "of-the-machine:"].map((user) => `model.invalid:443 Basic ${btoa(user)}`),
    );
  });

  test.each([
    ["amazon-bedrock", "AWS_ACCESS_KEY_ID"],
    ["google-vertex", "GOOGLE_APPLICATION_CREDENTIALS"],
  ])("asks neither files nor services for credentials of %s then", async (provider, variable) => {
    vi.stubEnv(variable, "/nowhere");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "of-the-machine");
    onTestFinished(() => void vi.unstubAllEnvs());
    const model = getModels(provider)[0]!.id;
    const ai = createAI({ provider, model, baseUrl: "http://127.0.0.1:9", config: { maxRetries: 0 } });
    const env = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "l" };
    const { failure } = await ai.completeSimple(hello, { ambientCredentials: false, env });
    expect(failure?.kind).toBe("auth");
  });

  test("lets a request's own options win over what is bound", async () => {
    server = await startWireServer(anthropicMessagesDialect, [answer]);
    const config = { baseUrl: server.url, apiKey: "configured" };
    const ai = createAI({ provider: "anthropic", model: "claude-sonnet-4-5", apiKey: undefined, config });
    await ai.completeSimple(hello, { apiKey: "own" });
    expect(server.requests[0]?.headers["x-api-key"]).toBe("own");
  });

  test("reports weather in the stream, not by throwing", async () => {
    server = await startWireServer(anthropicMessagesDialect, [{ kind: "status", status: 401 }]);
    const ai = createAI({
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      apiKey: "k",
      config: { baseUrl: server.url },
    });
    expect((await ai.complete(hello)).failure?.kind).toBe("auth");
  });

  test("takes any model of a local server, at its usual place or another", () => {
    expect(createAI({ provider: "llamacpp", model: "whatever" }).model.baseUrl).toBe("http://127.0.0.1:8080/v1");
    const config = { baseUrl: "http://box:1/v1" };
    expect(createAI({ provider: "vllm", model: "whatever", config }).model.baseUrl).toBe("http://box:1/v1");
  });

  test("asks a local server without a key, in the words that such servers know", async () => {
    server = await startWireServer(openaiCompletionsDialect, [answer]);
    const ai = createAI({ provider: "ollama", model: "qwen3:8b", config: { baseUrl: `${server.url}/v1` } });
    const message = await ai.completeSimple({ systemPrompt: "Be brief.", ...hello }, { maxTokens: 50 });
    expect(message.content).toEqual([{ type: "text", text: "Hi." }]);
    const [request] = server.requests;
    expect(request?.path).toBe("/v1/chat/completions");
    expect(request?.headers["authorization"]).toBeUndefined();
    expect(request?.body).toMatchObject({ model: "qwen3:8b", max_tokens: 50, messages: [{ role: "system" }, {}] });
    expect(request?.body).not.toHaveProperty("store");
  });

  test("takes registered models", () => {
    const { provider: _one, ...model } = createAI({ provider: "ollama", model: "m" }).model;
    registerModels("mine", [model]);
    expect(createAI({ provider: "mine", model: "m" }).model.provider).toBe("mine");
  });

  test("uses a model that the catalogue does not have with assumed limits, and says which", () => {
    const { model, notice } = createAI({ provider: "anthropic", model: "claude-sonnet-4-20250514", apiKey: "k" });
    expect(model).toMatchObject({ id: "claude-sonnet-4-20250514", api: "anthropic-messages", provider: "anthropic" });
    expect(model.contextWindow).toBe(128_000);
    expect(notice).toContain(
      'The catalogue has no model "anthropic/claude-sonnet-4-20250514"; a context window of 128,000',
    );
    expect(createAI({ provider: "openai", model: "gpt-99" }).model.api).toBe("openai-responses");
    expect(createAI({ provider: "openai", model: "gpt-5" })).not.toHaveProperty("notice");
  });

  test("takes a custom provider's default model when none is named", () => {
    const provider = createProvider(cloudflareAIProvider);
    expect(createAI({ provider: "cloudflare-ai" }).model).toBe(provider.defaultModel);
    provider.unregister();
  });

  for (const [options, code, words] of [
    [
      { provider: "antropic", model: "x" },
      "unknown_provider",
      'There is no provider "antropic". Did you mean "anthropic"?',
    ],
    [{ provider: "olama", model: "x" }, "unknown_provider", 'There is no provider "olama". Did you mean "ollama"?'],
    [
      { provider: "qqqqqqqqqqqq", model: "x" },
      "unknown_provider",
      'There is no provider "qqqqqqqqqqqq". getProviders() lists the known ones.',
    ],
    [{ provider: "constructor", model: "x" }, "unknown_provider", /^There is no provider "constructor"\./],
    [undefined as unknown as CreateAIOptions, "unknown_provider", "createAI needs options with a `provider`."],
    [{ model: "x" } as unknown as CreateAIOptions, "unknown_provider", /^There is no provider undefined\./],
    [{ provider: "anthropic" }, "unknown_model", "anthropic has no default model. Pass `model`."],
    [
      { provider: "anthropic", model: "claude-opus-4-5", baseURL: "http://localhost" } as CreateAIOptions,
      "invalid_option",
      'createAI has no option "baseURL". Did you mean "baseUrl"?',
    ],
    [
      { provider: "anthropic", model: "claude-opus-4-5", temperature: 1 } as CreateAIOptions,
      "invalid_option",
      /^createAI has no option "temperature"\. It has provider, .* belong into `config`\.$/,
    ],
  ] as const) {
    test(`throws ${code} for ${JSON.stringify(options)}`, () => {
      expect(() => createAI(options)).toThrow(expect.objectContaining({ code }));
      expect(() => createAI(options)).toThrow(words);
    });
  }
});

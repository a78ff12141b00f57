import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getModel, getModels, getProviders } from "../src/catalog/catalog.ts";
import { type Clock, systemClock } from "../src/clock.ts";
import type { Context } from "../src/context.ts";
import { createAI } from "../src/create-ai.ts";
import type { Provider } from "../src/custom-definition.ts";
import { createProvider, registerProvider, type RegisteredProvider } from "../src/custom-provider.ts";
import type { AssistantMessageEvent } from "../src/event.ts";
import type { Model } from "../src/model.ts";
import type { SimpleStreamOptions } from "../src/options.ts";
import { type ApiProvider, getApiProvider } from "../src/registry.ts";
import { completeSimple } from "../src/stream.ts";
import { sse } from "../src/testing/dialects/dialect.ts";
import { assertGrammar, providerContract } from "../src/testing/provider-contract.ts";
import { call, text } from "../src/testing/script.ts";
import { startWireServer, type WireReply, type WireServer } from "../src/testing/wire-server.ts";
import {
  cloudflareAIProvider,
  cloudflareAnswer,
  type CloudflareConfig,
  cloudflareDialect,
  cloudflareFailure,
} from "./cloudflare.ts";
import { assistant, pixel, result, user, weatherTool } from "./protocols/kit.ts";

const hello: Context = { systemPrompt: "Be brief.", messages: [user("Hello")] };

/** Waits for nothing between attempts; limits of minutes stay. */
const impatientClock: Clock = {
  ...systemClock,
  setTimer: (afterMs, fire) => systemClock.setTimer(afterMs < 10_000 ? 0 : afterMs, fire),
};

let server: WireServer | undefined;
let registered: RegisteredProvider | undefined;

beforeEach(() => {
  registered = createProvider(cloudflareAIProvider);
});

afterEach(async () => {
  registered?.unregister();
  await server?.close();
  server = undefined;
});

async function createCloudflare(replies: WireReply[], config: Partial<CloudflareConfig> = {}) {
  server = await startWireServer(cloudflareDialect, replies);
  return createAI({
    provider: "cloudflare-ai",
    model: "@cf/meta/llama-3-8b-instruct",
    config: { accountId: "acc", apiKey: "key", baseUrl: server.url, ...config },
  });
}

const document = (body: string): WireReply => ({
  kind: "raw",
  chunks: [body.slice(0, 10), body.slice(10)],
  ending: "end",
  contentType: "application/json",
});

async function listen(stream: AsyncIterable<AssistantMessageEvent>): Promise<AssistantMessageEvent[]> {
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  assertGrammar(events);
  return events;
}

describe("Cloudflare Workers AI as a custom provider", () => {
  test("answers with one document", async () => {
    const ai = await createCloudflare([document(cloudflareAnswer("Hello, wörld!"))]);
    const stream = ai.stream(hello);
    const events = await listen(stream);
    const message = await stream.result();
    expect(server!.requests).toMatchObject([
      {
        method: "POST",
        path: "/accounts/acc/ai/run/@cf/meta/llama-3-8b-instruct",
        headers: { authorization: "Bearer key", "content-type": "application/json" },
        body: {
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "Hello" },
          ],
          stream: false,
          max_tokens: 4096,
        },
      },
    ]);
    expect(events.map(({ type }) => type)).toEqual(["start", "text_start", "text_delta", "text_end", "done"]);
    expect(message).toMatchObject({
      content: [{ type: "text", text: "Hello, wörld!" }],
      provider: "cloudflare-ai",
      model: "@cf/meta/llama-3-8b-instruct",
      stopReason: "stop",
      rawStopReason: "stop",
      usage: { input: 9, output: 4, totalTokens: 13 },
    });
    expect(message.responseModel).toBeUndefined();
  });

  test("answers in pieces", async () => {
    const said = "One two three, vier fünf.";
    const ai = await createCloudflare(
      [{ kind: "answer", answer: { content: [text(said)], usage: { input: 3, output: 8 } } }],
      { stream: true },
    );
    const stream = ai.streamSimple(hello);
    const events = await listen(stream);
    expect(events.filter(({ type }) => type === "text_delta").length).toBeGreaterThan(2);
    expect(await stream.result()).toMatchObject({
      content: [{ type: "text", text: said }],
      stopReason: "stop",
      usage: { input: 3, output: 8, totalTokens: 11 },
    });
    expect(server!.requests[0]?.body).toMatchObject({ stream: true });
  });

  test("fails with its own words for a status, and the kind that the response has", async () => {
    const reply = (status: number): WireReply => ({ kind: "status", status, body: cloudflareFailure(1, "no") });
    const ai = await createCloudflare([401, 403, 429, 500, 503, 400].map(reply));
    const seen: unknown[] = [];
    for (let at = 0; at < 6; at++) {
      const message = await ai.complete(hello, { maxRetries: 0 });
      seen.push([message.failure?.kind, message.failure?.status, message.errorMessage]);
    }
    expect(seen).toEqual([
      ["auth", 401, "Invalid Cloudflare API key"],
      ["auth", 403, "Account ID or permissions error"],
      ["rate_limited", 429, "Rate limited: try a smaller model or wait"],
      ["overloaded", 500, "Cloudflare AI service error"],
      ["overloaded", 503, "Cloudflare AI temporarily unavailable"],
      ["invalid_request", 400, "HTTP 400: no"],
    ]);
  });

  test("reports what parseResponse throws", async () => {
    const ai = await createCloudflare([document(cloudflareFailure(5007, "No such model"))]);
    const stream = ai.stream(hello);
    expect((await listen(stream)).map(({ type }) => type)).toEqual(["error"]);
    expect(await stream.result()).toMatchObject({
      stopReason: "error",
      failure: { kind: "unknown" },
      errorMessage: "The answer of Cloudflare Workers AI could not be read: Cloudflare AI error: No such model",
    });
  });

  test("keeps what came before parseStreamChunk threw", async () => {
    const chunks = [sse({ response: "Half" }), sse("{broken"), sse({ response: "never" })];
    const ai = await createCloudflare([{ kind: "raw", chunks, ending: "end" }]);
    const stream = ai.stream(hello);
    await listen(stream);
    const message = await stream.result();
    expect(message.content).toEqual([{ type: "text", text: "Half" }]);
    expect(message.errorMessage).toMatch(/^The answer of Cloudflare Workers AI could not be read: .*JSON/);
  });

  test("is an error when the connection is cut, wherever that is", async () => {
    const answer = { content: [text("One two three four five six")] };
    const frames = cloudflareDialect.answer({ id: "a", model: "m", ...answer }).length;
    const cuts = Array.from({ length: frames }, (_unused, at): WireReply => ({ kind: "cut", answer, frames: at }));
    const ai = await createCloudflare(cuts);
    for (let cut = 0; cut < frames; cut++) {
      const stream = ai.stream(hello, { maxRetries: 0 });
      await listen(stream);
      // Only the mark of the end may be missing: the piece before it has said why the model stopped.
      expect((await stream.result()).failure?.kind).toBe(cut === frames - 1 ? undefined : "network");
    }
  });

  test("is an error when a stream ends and nothing has said that it was the last piece", async () => {
    const chunks = [sse({ response: "To be" })];
    const ai = await createCloudflare([{ kind: "raw", chunks, ending: "end" }]);
    expect(await ai.complete(hello)).toMatchObject({ stopReason: "error", failure: { kind: "network" } });
  });

  test("says by its error events what a program should do", async () => {
    const busy = sse({ error: { type: "overloaded_error" }, errors: [{ message: "busy" }] });
    const answer: WireReply = { kind: "answer", answer: { content: [text("Hi.")] } };
    const ai = await createCloudflare([{ kind: "raw", chunks: [busy], ending: "end" }, answer]);
    const message = await ai.complete(hello, { random: () => 0, clock: impatientClock });
    expect(message.content).toEqual([{ type: "text", text: "Hi." }]);
    expect(message.diagnostics).toMatchObject([{ type: "retried", details: { kind: "overloaded" } }]);
  });

  test("asks for a key where there is none, before anything is sent", async () => {
    server = await startWireServer(cloudflareDialect, []);
    const { defaultModel } = registered!;
    const options = { config: { accountId: "a", baseUrl: server.url }, env: { CLOUDFLARE_API_KEY: "" } };
    const message = await completeSimple(defaultModel, hello, options as SimpleStreamOptions);
    expect(message.failure).toEqual({
      kind: "auth",
      message:
        "There is no API key for Cloudflare Workers AI. Set CLOUDFLARE_API_KEY, or use the option apiKey of createAI or of the request.",
    });
    expect(server.requests).toEqual([]);
  });

  test("takes the request's key before the configuration's, and the environment's last", async () => {
    const answer = document(cloudflareAnswer("x"));
    const env = { CLOUDFLARE_API_KEY: "from-env" };
    const ai = await createCloudflare([answer, answer, answer]);
    await ai.complete(hello, { apiKey: "from-request", env });
    await ai.complete(hello, { env });
    const config = { accountId: "acc", baseUrl: server!.url };
    await completeSimple(ai.model, hello, { env, config } as SimpleStreamOptions);
    expect(server!.requests.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer from-request",
      "Bearer key",
      "Bearer from-env",
    ]);
  });
});

describe("a custom provider keeps the contract of all providers:", () => {
  const { errorMap: _words, ...plain } = cloudflareAIProvider;
  const streaming = {
    provider: { api: "custom:cloudflare-ai", stream: ask, streamSimple: ask } satisfies ApiProvider,
    dialect: cloudflareDialect,
    model: (serverUrl: string): Model => ({ ...getModel("cloudflare-ai", plain.defaultModel!)!, baseUrl: serverUrl }),
    cannot: { thinking: true, redactedThinking: true, cacheWrites: true, toolCallIds: true },
  };
  /** A custom provider takes its address from its configuration. */
  function ask(model: Model, context: Context, options: SimpleStreamOptions = {}) {
    const config = { accountId: "acc", baseUrl: model.baseUrl, stream: true };
    const withConfig = { ...options, config };
    return getApiProvider("custom:cloudflare-ai")!.streamSimple(model, context, withConfig);
  }

  beforeEach(() => {
    registered = createProvider(plain);
  });

  // It speaks text: there are no calls to arrive, and no cache to count.
  const aboutText = providerContract(streaming).filter(
    ({ name }) => !/tool calls have|cached tokens|only tools with/.test(name),
  );
  for (const { name, run } of aboutText) test(name, run);
});

describe("what a custom provider gets", () => {
  const minimal: Provider<{ baseUrl: string }> = {
    name: "minimal",
    models: [{ id: "m", name: "M" }],
    buildRequest: ({ baseUrl }, model, messages) => ({ url: baseUrl, body: { model, messages } }),
    parseResponse: () => ({ content: "ok" }),
  };
  const answered: WireReply = { kind: "raw", chunks: ["{}"], ending: "end" };

  async function askMinimal(definition: Provider<{ baseUrl: string }>, context: Context, reply = answered) {
    server = await startWireServer(cloudflareDialect, [reply]);
    const provider = createProvider(definition);
    try {
      const ai = createAI({ provider: "minimal", apiKey: "k", config: { baseUrl: server.url } });
      return await ai.complete(context, { maxRetries: 0 });
    } finally {
      provider.unregister();
    }
  }

  const messagesSent = () => (server!.requests[0]!.body as { messages: unknown }).messages;

  test("is text in turns: calls, results and images are told, and thinking is not", async () => {
    const other = getModel("anthropic", "claude-sonnet-4-5");
    const image = { type: "image" as const, data: pixel, mimeType: "image/png" };
    const context: Context = {
      messages: [
        user("What is the weather?"),
        user([{ type: "text", text: "In Rome." }, image]),
        assistant(other, [text("Let me see."), call("weather", { place: "Rome" }, "c1"), call("clock", {}, "c2")]),
        result("c1", "weather", [text("Sunny")]),
        result("c2", "clock", [text("It broke")], true),
        user("Well?"),
      ],
    };
    await askMinimal(minimal, context);
    expect(messagesSent()).toEqual([
      {
        role: "user",
        content: "What is the weather?\n\nIn Rome.\n[An image was left out: this model does not see images.]",
      },
      { role: "assistant", content: 'Let me see.\n[Called weather with {"place":"Rome"}]\n[Called clock with {}]' },
      { role: "user", content: "[Result of weather]\nSunny\n\n[Error of clock]\nIt broke\n\nWell?" },
    ]);
  });

  test("is no tools, and the answer says so", async () => {
    const message = await askMinimal(minimal, { ...hello, tools: [weatherTool] });
    expect(message.diagnostics).toMatchObject([{ type: "tools_left_out", details: { tools: ["weather"] } }]);
    expect(message.content).toEqual([{ type: "text", text: "ok" }]);
  });

  test("is no key where it names no place for one", async () => {
    await askMinimal(minimal, hello);
    expect(server!.requests[0]?.headers["authorization"]).toBeUndefined();
  });

  test("is its key in the header it names, when it has not put it there itself", async () => {
    await askMinimal({ ...minimal, auth: { type: "api-key", header: "X-Key" } }, hello);
    expect(server!.requests[0]?.headers["x-key"]).toBe("k");
  });

  test("may send a request without a body", async () => {
    const buildRequest = ({ baseUrl }: { baseUrl: string }) => ({ url: baseUrl }) as never;
    expect((await askMinimal({ ...minimal, buildRequest }, hello)).content).toEqual([text("ok")]);
    expect(server!.requests[0]).toMatchObject({ body: undefined, headers: { "content-length": "0" } });
  });

  for (const [what, broken, words] of [
    [
      "a buildRequest that throws",
      {
        buildRequest: () => {
          throw new Error("no account");
        },
      },
      /no account/,
    ],
    ["a buildRequest without an address", { buildRequest: () => ({ url: "nowhere", body: {} }) }, /./],
    ["a parseResponse without content", { parseResponse: () => ({}) as never }, /parseResponse returned no content/],
    ["a parseResponse that gives nothing", { parseResponse: () => null as never }, /parseResponse returned no content/],
  ] as const) {
    test(`ends in an error after ${what}`, async () => {
      const message = await askMinimal({ ...minimal, ...broken }, hello);
      expect(message.stopReason).toBe("error");
      expect(message.errorMessage).toMatch(words);
    });
  }

  test("ends in an error when a stream comes and there is no parseStreamChunk", async () => {
    const message = await askMinimal(minimal, hello, { kind: "raw", chunks: [sse({ a: 1 })], ending: "end" });
    expect(message.errorMessage).toMatch(/no parseStreamChunk/);
  });

  test("ends at a piece that says it is the last, and by the reason of an earlier one", async () => {
    const parseStreamChunk = (chunk: string) => JSON.parse(chunk.slice(6)) as never;
    const chunks = [
      sse({ delta: "To", done: false, finishReason: "max_tokens", model: "m-2" }),
      sse({ delta: " be", done: true }),
      sse({ delta: " or not", done: false }),
    ];
    const message = await askMinimal({ ...minimal, parseStreamChunk }, hello, { kind: "raw", chunks, ending: "hang" });
    expect(message).toMatchObject({
      content: [{ type: "text", text: "To be" }],
      stopReason: "length",
      rawStopReason: "max_tokens",
      responseModel: "m-2",
    });
  });
});

describe("registerProvider", () => {
  test("puts models in place under any name, and takes them away again", () => {
    const provider = registerProvider("workers", cloudflareAIProvider);
    expect(getModels("workers")).toEqual(provider.models);
    expect(provider.defaultModel).toMatchObject({
      id: "@cf/meta/llama-3-8b-instruct",
      provider: "workers",
      contextWindow: 32_768,
      maxTokens: 8_192,
    });
    expect(provider.models[1]?.contextWindow).toBe(8_192);
    expect(getProviders()).toContain("workers");
    provider.unregister();
    expect(getModels("workers")).toEqual([]);
    expect(getApiProvider("custom:workers")).toBeUndefined();
  });

  test("replaces a provider of the same name, which then cannot take its successor away", () => {
    const first = registerProvider("workers", cloudflareAIProvider);
    const second = registerProvider("workers", {
      ...cloudflareAIProvider,
      models: [{ id: "new", name: "New" }],
      defaultModel: "new",
    });
    first.unregister();
    expect(getModels("workers").map(({ id }) => id)).toEqual(["new"]);
    second.unregister();
    expect(getProviders()).not.toContain("workers");
  });

  for (const [what, change] of [
    ["no models", { models: [] }],
    ["two models of one id", { models: [...cloudflareAIProvider.models, ...cloudflareAIProvider.models] }],
    ["a default model it does not have", { defaultModel: "other" }],
    ["no buildRequest", { buildRequest: undefined as never }],
    ["no parseResponse", { parseResponse: undefined as never }],
  ] as const) {
    test(`refuses a definition with ${what}`, () => {
      const bad = { ...cloudflareAIProvider, name: "bad", ...change } as Provider<CloudflareConfig>;
      expect(() => createProvider(bad)).toThrow(expect.objectContaining({ code: "invalid_provider" }));
      expect(getModels("bad")).toEqual([]);
    });
  }
});

/** The two halves of the proxy against each other, over a real socket. */
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  AssistantMessageEventStream,
  type Context,
  emptyUsage,
  type Model,
  type TextContent,
  type ToolCall,
} from "@tau/ai";
import {
  assertGrammar,
  call,
  scriptedModel,
  type ScriptedModel,
  type ScriptedTurn,
  text,
  thinking,
} from "@tau/ai/testing";
import { afterEach, describe, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { streamProxy } from "../src/proxy.ts";
import type { ProxyHandlerOptions } from "../src/proxy-exchange.ts";
import { createProxyHandler } from "../src/proxy-handler.ts";

const servers: Server[] = [];
const models: ScriptedModel[] = [];
afterEach(async () => {
  for (const model of models.splice(0)) model.dispose();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A model as the client describes it. The server must not use its base URL. */
const clientModel: Model = {
  id: "m",
  name: "m",
  provider: "p",
  api: "openai-responses",
  baseUrl: "http://evil.test",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000,
  maxTokens: 100,
};

const serve = async (
  turns: ScriptedTurn[],
  options: Partial<ProxyHandlerOptions> & { tokensPerSecond?: number } = {},
) => {
  const { tokensPerSecond, ...rest } = options;
  const model = scriptedModel(turns, tokensPerSecond ? { tokensPerSecond } : {});
  models.push(model);
  const handler = createProxyHandler({
    authenticate: "good-token",
    resolveModel: ({ provider, id }) => (provider === "p" && id === "m" ? model : undefined),
    ...rest,
  });
  const server = createServer((incoming, outgoing) => void handler(incoming, outgoing));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { model, server, proxyUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

const context: Context = { systemPrompt: "s", messages: [{ role: "user", content: "hi", timestamp: 0 }] };

const ask = async (
  proxyUrl: string,
  options: { authToken?: string; signal?: AbortSignal; maxTokens?: number } = {},
  model = clientModel,
) => {
  const stream = streamProxy(model, context, { authToken: "good-token", proxyUrl, ...options });
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  assertGrammar(events);
  return { events, message: await stream.result() };
};

test("the client rebuilds exactly the answer of the server's model", async () => {
  const content = [
    thinking("Hm.", "signature"),
    { type: "thinking" as const, thinking: "", thinkingSignature: "opaque", redacted: true },
    text("Zürich 🌍"),
    call("read", { path: "a", deep: { list: [1, null, "x"] } }, "c1"),
    call("now", {}, "c2"),
  ];
  const { proxyUrl, model } = await serve([{ content, usage: { input: 7, output: 9, cacheRead: 2 }, id: "r1" }]);
  const { message } = await ask(proxyUrl, { maxTokens: 77 });
  expect(message.content).toEqual(content);
  expect(message).toMatchObject({ stopReason: "toolUse", responseId: "r1", provider: "p", model: "m" });
  expect(message.usage).toMatchObject({ input: 7, output: 9, cacheRead: 2 });
  expect(model.asked[0]).toMatchObject({ context, options: { maxTokens: 77 } });
});

test("only deltas are sent to the client", async () => {
  const { proxyUrl } = await serve([[text("word ".repeat(2_000))]]);
  let bytes = 0;
  const body = JSON.stringify({ model: clientModel, context });
  await new Promise<void>((resolve, reject) => {
    const headers = { authorization: "Bearer good-token", "content-type": "application/json" };
    request(`${proxyUrl}/api/stream`, { method: "POST", headers }, (response) => {
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.on("end", resolve);
    })
      .on("error", reject)
      .end(body);
  });
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(250_000);
});

test("a failure of the model is the client's failure, with its kind", async () => {
  const failure = { kind: "rate_limited" as const, message: "slow down", retryAfterMs: 3_000 };
  const { proxyUrl } = await serve([{ failure, content: [text("I was")] }]);
  const { message } = await ask(proxyUrl);
  expect(message).toMatchObject({ stopReason: "error", errorMessage: "slow down", failure, content: [text("I was")] });
});

test("a client that aborts ends the request to the model", async () => {
  const { proxyUrl, model } = await serve([[text("one two three four five six seven eight nine")]], {
    tokensPerSecond: 50,
  });
  const abort = new AbortController();
  const stream = streamProxy(clientModel, context, { authToken: "good-token", proxyUrl, signal: abort.signal });
  for await (const event of stream) if (event.type === "text_delta") abort.abort();
  expect((await stream.result()).stopReason).toBe("aborted");
  const { signal } = model.asked[0]!.options;
  if (!signal!.aborted) await new Promise((resolve) => signal!.addEventListener("abort", resolve));
  expect(signal!.aborted).toBe(true);
});

test("a model that the server aborts is an aborted answer", async () => {
  const { proxyUrl } = await serve([{ failure: { kind: "aborted", message: "The request was aborted." } }]);
  expect((await ask(proxyUrl)).message).toMatchObject({ stopReason: "aborted", failure: { kind: "aborted" } });
});

test("a connection that is cut ends in a network error", async () => {
  const { proxyUrl, server } = await serve([[text("one two three four five six seven eight nine")]], {
    tokensPerSecond: 50,
  });
  const stream = streamProxy(clientModel, context, { authToken: "good-token", proxyUrl });
  for await (const event of stream) if (event.type === "text_delta") server.closeAllConnections();
  expect(await stream.result()).toMatchObject({ stopReason: "error", failure: { kind: "network" } });
});

describe("authentication", () => {
  test.each([["bad-token"], ["good-token2"], ["good-toke"]])("refuses the token %j", async (authToken) => {
    const { proxyUrl, model } = await serve([[text("x")]]);
    const { message } = await ask(proxyUrl, { authToken });
    expect(message.failure).toMatchObject({ kind: "auth", status: 401 });
    expect(model.asked).toHaveLength(0);
  });

  test("may be a function, and one that throws refuses every client", async () => {
    const { proxyUrl } = await serve([[text("x")]], { authenticate: async (token) => token === "other" });
    expect((await ask(proxyUrl, { authToken: "other" })).message.stopReason).toBe("stop");
    const broken = await serve([[text("x")]], {
      authenticate: () => {
        throw new Error("database is down");
      },
    });
    expect((await ask(broken.proxyUrl)).message.stopReason).toBe("error");
    expect(broken.model.asked).toHaveLength(0);
  });

  test("refuses to be set up with an empty token", () => {
    expect(() => createProxyHandler({ authenticate: "" })).toThrow(/empty token/);
  });
});

test("a body that is too large is refused, with and without a content-length", async () => {
  const { proxyUrl, model } = await serve([[text("x")]], { maxBodyBytes: 500 });
  const large: Model = { ...clientModel, name: "x".repeat(1_000) };
  expect((await ask(proxyUrl, {}, large)).message.failure?.status).toBe(413);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: "Bearer good-token", "transfer-encoding": "chunked" };
    const outgoing = request(`${proxyUrl}/api/stream`, { method: "POST", headers }, (response) =>
      resolve(response.statusCode),
    );
    outgoing.on("error", reject);
    outgoing.write("x".repeat(2_000));
  });
  expect(status).toBe(413);
  expect(model.asked).toHaveLength(0);
});

test.each([
  ["GET", "", 405],
  ["POST", "not json", 400],
  ["POST", "{}", 400],
  ["POST", '{"model":{"provider":"p","id":"m"},"context":{}}', 400],
  ["POST", "null", 400],
  ["POST", '{"model":{"provider":"p","id":"unknown"},"context":{"messages":[]}}', 404],
])("%s with %j is answered with %i", async (method, body, expected) => {
  const { proxyUrl } = await serve([[text("x")]]);
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer good-token" };
    request(`${proxyUrl}/api/stream`, { method, headers }, (response) => resolve(response.statusCode))
      .on("error", reject)
      .end(body);
  });
  expect(status).toBe(expected);
});

test("an agent works through a proxy as it works without", async () => {
  const { proxyUrl } = await serve([[call("now", {}, "c")], [text("It is noon.")]]);
  const agent = new Agent({
    initialState: {
      model: clientModel,
      tools: [
        {
          name: "now",
          label: "Now",
          description: "The time",
          parameters: { type: "object", properties: {} },
          execute: async () => ({ content: [text("noon")], details: {} }),
        },
      ],
    },
    streamFn: (model, request, options) =>
      streamProxy(model, request, { ...options, authToken: "good-token", proxyUrl }),
  });
  await agent.prompt("What time is it?");
  expect(agent.state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  expect(agent.state.errorMessage).toBeUndefined();
});

const answerWith = (content: AssistantMessage["content"], stopReason: "stop" | "toolUse"): AssistantMessage => ({
  role: "assistant",
  content,
  api: "openai-responses",
  provider: "p",
  model: "m",
  usage: emptyUsage(),
  stopReason,
  timestamp: 1,
});

test("content without deltas reaches the client", async () => {
  const content = [thinking("hm"), text("hello"), call("work", { a: [1] }, "c")];
  const streamFn = () => {
    const stream = new AssistantMessageEventStream();
    stream.end(answerWith(content, "toolUse"));
    return stream;
  };
  const { proxyUrl } = await serve([], { streamFn });
  const message = await streamProxy(clientModel, context, { authToken: "good-token", proxyUrl }).result();
  expect(message).toMatchObject({ content, stopReason: "toolUse" });
});

test("content that is missing in the deltas of a block reaches the client", async () => {
  const streamFn = () => {
    const stream = new AssistantMessageEventStream();
    const partial = answerWith([text("hel"), call("work", { a: 1 }, "c")], "toolUse");
    const [textBlock, toolCall] = partial.content as [TextContent, ToolCall];
    stream.push({ type: "text_start", contentIndex: 0, partial });
    stream.push({ type: "text_delta", contentIndex: 0, delta: "hel", partial });
    textBlock.text = "hello";
    stream.push({ type: "text_end", contentIndex: 0, content: "hello", partial });
    stream.push({ type: "toolcall_start", contentIndex: 1, partial });
    stream.push({ type: "toolcall_end", contentIndex: 1, toolCall, partial });
    stream.end(partial);
    return stream;
  };
  const { proxyUrl } = await serve([], { streamFn });
  const message = await streamProxy(clientModel, context, { authToken: "good-token", proxyUrl }).result();
  expect(message.content).toEqual([text("hello"), call("work", { a: 1 }, "c")]);
});

/** Another server, which sends the same body for every request. */
const serveBody = async (body: string) => {
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on("end", () => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.end(body);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const line = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`;

test("a done event without usage ends the answer", async () => {
  const proxyUrl = await serveBody(line({ type: "start" }) + line({ type: "done", reason: "stop" }));
  const message = await streamProxy(clientModel, context, { authToken: "t", proxyUrl }).result();
  expect(message).toMatchObject({ stopReason: "stop", usage: { totalTokens: 0 } });
});

test.each([[{ type: "text_delta", contentIndex: 0 }], [{ type: "toolcall_start", contentIndex: 0 }], [5], [null]])(
  "%j instead of an event ends in an error",
  async (event) => {
    const proxyUrl = await serveBody(line({ type: "start" }) + line(event) + line({ type: "done", reason: "stop" }));
    const message = await streamProxy(clientModel, context, { authToken: "t", proxyUrl }).result();
    expect(message.stopReason).toBe("error");
    expect(message.errorMessage).toMatch(/not an event/);
  },
);

test("an abort during the first event of a complete answer ends only the answer", async () => {
  const abort = new AbortController();
  const proxyUrl = await serveBody(
    [
      { type: "start" },
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "hello" },
      { type: "text_end", contentIndex: 0 },
      { type: "done", reason: "stop", usage: emptyUsage() },
    ]
      .map(line)
      .join(""),
  );
  const stream = streamProxy(clientModel, context, { authToken: "t", proxyUrl, signal: abort.signal });
  for await (const event of stream) if (event.type === "start") abort.abort();
  expect((await stream.result()).stopReason).toBe("aborted");
  // An uncaught error of the socket would come a turn later, and fail this test.
  await new Promise((resolve) => setImmediate(resolve));
});

test("onError gets the error of the server, and the client only learns that the proxy failed", async () => {
  const errors: unknown[] = [];
  const streamFn = () => {
    throw new Error("the password is hunter2");
  };
  const { proxyUrl } = await serve([], { streamFn, onError: (error) => errors.push(error) });
  const options = { authToken: "good-token", proxyUrl, maxRetries: 0 };
  const message = await streamProxy(clientModel, context, options).result();
  expect(message.errorMessage).toMatch(/The proxy failed/);
  expect(message.errorMessage).not.toMatch(/hunter2/);
  expect(String(errors[0])).toMatch(/hunter2/);
});

test("a body that a parser has already read is refused with an explanation", async () => {
  const handler = createProxyHandler({ authenticate: "good-token" });
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on("end", () => setImmediate(() => void handler(incoming, outgoing)));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxyUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const message = await streamProxy(clientModel, context, { authToken: "good-token", proxyUrl }).result();
  expect(message.errorMessage).toMatch(/before body parsers/);
});

describe("as a function of a Request", () => {
  const open = (turns: ScriptedTurn[], options: Partial<ProxyHandlerOptions> = {}, tokensPerSecond?: number) => {
    const model = scriptedModel(turns, tokensPerSecond ? { tokensPerSecond } : {});
    models.push(model);
    const handler = createProxyHandler({ authenticate: "good-token", resolveModel: () => model, ...options });
    const send = (init: RequestInit & { origin?: string; token?: string } = {}) => {
      const { origin, token = "good-token", ...rest } = init;
      const headers = { authorization: `Bearer ${token}`, ...(origin !== undefined && { origin }) };
      const body = JSON.stringify({ model: clientModel, context });
      return handler(new Request("http://proxy.test/api/stream", { method: "POST", headers, body, ...rest }));
    };
    return { model, send };
  };

  test("the events are those that Node's server sends", async () => {
    const turn = [thinking("Hm.", "signature"), text("Zürich 🌍"), call("read", { path: "a" }, "c1")];
    const { send } = open([turn]);
    const response = await send();
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    const { proxyUrl } = await serve([turn]);
    const node = await fetch(`${proxyUrl}/api/stream`, {
      method: "POST",
      headers: { authorization: "Bearer good-token" },
      body: JSON.stringify({ model: clientModel, context }),
    });
    const withoutTimes = (body: string) => body.replaceAll(/"timestamp":\d+/g, "");
    expect(withoutTimes(await response.text())).toBe(withoutTimes(await node.text()));
  });

  test("a client that stops reading ends the request to the model", async () => {
    const { model, send } = open([[text("one two three four five six seven eight nine")]], {}, 50);
    const response = await send();
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel("enough");
    expect(model.asked[0]!.options.signal!.aborted).toBe(true);
  });

  test.each([
    ["a wrong token", { token: "bad" }, 401],
    ["another method", { method: "PUT" }, 405],
    ["no JSON", { body: "{" }, 400],
    ["a body that is too large", { body: "x".repeat(2_000) }, 413],
  ])("%s is refused", async (_name, init, status) => {
    const { model, send } = open([], { maxBodyBytes: 1_000 });
    const response = await send(init);
    expect([response.status, await response.json()]).toEqual([status, { error: expect.any(String) }]);
    expect(model.asked).toEqual([]);
  });

  test("a defect is reported to the server alone", async () => {
    const errors: unknown[] = [];
    const { send } = open([], {
      onError: (error) => errors.push(error),
      resolveModel: () => {
        throw new Error("secret");
      },
    });
    const response = await send();
    expect([response.status, await response.json()]).toEqual([500, { error: "The proxy failed." }]);
    expect(errors).toEqual([new Error("secret")]);
  });

  test("pages of the origins that are named can read answers, and others are told that they cannot", async () => {
    const allowedOrigins = ["https://app.example"];
    const { send } = open([[text("Hi")]], { allowedOrigins });
    const preflight = await send({ origin: "https://app.example", method: "OPTIONS", body: null, token: "" });
    expect([preflight.status, Object.fromEntries(preflight.headers)]).toEqual([
      204,
      {
        "access-control-allow-headers": "authorization, content-type",
        "access-control-allow-methods": "POST",
        "access-control-allow-origin": "https://app.example",
        "access-control-max-age": "600",
        vary: "origin",
      },
    ]);
    const refused = await send({ origin: "https://app.example", token: "bad" });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, "https://app.example"]);
    const other = await send({ origin: "https://evil.example" });
    expect([other.status, other.headers.get("access-control-allow-origin"), await other.json()]).toEqual([
      403,
      null,
      { error: expect.stringContaining('Pages of "https://evil.example" may not use this proxy.') },
    ]);
    const allowed = await send({ origin: "https://app.example" });
    expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example"]);
    await allowed.text();
  });
});

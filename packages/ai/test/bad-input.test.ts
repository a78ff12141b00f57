/**
 * Tests bytes that a server should never send, over a real socket: a clear error or a right answer, and nothing in
 * between.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { AssistantMessageEvent } from "../src/event.ts";
import type { Model } from "../src/model.ts";
import type { SimpleStreamOptions } from "../src/options.ts";
import { streamSimple } from "../src/stream.ts";
import { anthropicMessagesDialect as dialect } from "../src/testing/dialects/anthropic-messages.ts";
import { sse } from "../src/testing/dialects/dialect.ts";
import { createFakeClock } from "../src/testing/fake-clock.ts";
import { assertGrammar } from "../src/testing/provider-contract.ts";
import { call, text } from "../src/testing/script.ts";
import { startWireServer, type WireReply } from "../src/testing/wire-server.ts";

const model = (baseUrl: string): Model => ({
  id: "m",
  name: "m",
  api: "anthropic-messages",
  provider: "anthropic",
  baseUrl,
  reasoning: false,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  contextWindow: 100_000,
  maxTokens: 1_000,
});

const ask = async (replies: WireReply[], options: SimpleStreamOptions = {}) => {
  const server = await startWireServer(dialect, replies);
  try {
    const stream = streamSimple(
      model(server.url),
      { messages: [{ role: "user", content: "x", timestamp: 0 }] },
      { apiKey: "k", maxRetries: 0, ...options },
    );
    const events: AssistantMessageEvent[] = [];
    for await (const event of stream) events.push(event);
    assertGrammar(events);
    return { message: await stream.result(), events, requests: server.requests };
  } finally {
    await server.close();
  }
};

const raw = (...chunks: (string | Uint8Array)[]): WireReply => ({ kind: "raw", chunks, ending: "end" });
const event = (data: { type: string; [key: string]: unknown }) => sse(data, data.type);
const begin = event({
  type: "message_start",
  message: { id: "a", model: "m", usage: { input_tokens: 3, output_tokens: 1 } },
});
const end = [
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
  event({ type: "message_stop" }),
];
const open = (index: number, block: object) => event({ type: "content_block_start", index, content_block: block });
const delta = (index: number, fields: { type: string; [key: string]: unknown }) =>
  event({ type: "content_block_delta", index, delta: fields });
const close = (index: number) => event({ type: "content_block_stop", index });
const said = (content: string) => delta(0, { type: "text_delta", text: content });

test("unknown events, unknown blocks and data that is no object mean nothing", async () => {
  const { message } = await ask([
    raw(
      begin,
      event({ type: "brand_new_event", payload: [1] }),
      open(0, { type: "hologram" }),
      delta(0, { type: "hologram_delta", photons: 3 }),
      sse("[1,2]"),
      sse("null"),
      sse('"text"'),
      open(1, { type: "text", text: "" }),
      delta(1, { type: "text_delta", text: "fine" }),
      ...end,
    ),
  ]);
  expect(message.content).toEqual([text("fine")]);
  expect(message.stopReason).toBe("stop");
});

test("indexes that repeat or come out of order keep every word and every block apart", async () => {
  const { message } = await ask([
    raw(
      begin,
      open(5, { type: "text", text: "" }),
      delta(5, { type: "text_delta", text: "five " }),
      open(2, { type: "text", text: "" }),
      delta(5, { type: "text_delta", text: "more" }),
      delta(2, { type: "text_delta", text: "two" }),
      open(5, { type: "text", text: "" }),
      delta(5, { type: "text_delta", text: "again" }),
      close(5),
      close(5),
      close(9),
      delta(7, { type: "text_delta", text: "never opened" }),
      ...end,
    ),
  ]);
  expect(message.content).toEqual([text("five more"), text("two"), text("again"), text("never opened")]);
});

test.each([
  ["not a number", Number.NaN],
  ["negative", -5],
  ["beyond all numbers", 1e308],
  ["text", "12"],
  ["null", null],
])("usage that is %s never becomes a cost that is not a number", async (_name, value) => {
  const usage = { input_tokens: value, output_tokens: value, cache_read_input_tokens: value };
  const { message } = await ask([
    raw(
      begin,
      event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }),
      event({ type: "message_stop" }),
    ),
  ]);
  for (const count of [
    message.usage.input,
    message.usage.output,
    message.usage.totalTokens,
    message.usage.cost.total,
  ]) {
    expect(Number.isFinite(count)).toBe(true);
    expect(count).toBeGreaterThanOrEqual(0);
  }
});

test("calls without an id, or with the id of another call, each get an id of their own", async () => {
  const ids = [undefined, "", "same", "same"];
  const calls = ids.map((id, index) => open(index, { type: "tool_use", id, name: "x", input: {} }));
  const { message } = await ask([raw(begin, ...calls, ...end)]);
  const sent = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  expect(new Set(sent).size).toBe(4);
  expect(sent[2]).toBe("same");
  for (const id of sent) expect(id).toMatch(/^[\w-]+$/);
});

test("keys that name prototypes are data in arguments", async () => {
  const json = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  const { message } = await ask([
    raw(
      begin,
      open(0, { type: "tool_use", id: "t", name: "x", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: json }),
      ...end,
    ),
  ]);
  const [block] = message.content;
  expect(JSON.stringify(block?.type === "toolCall" && block.arguments)).toBe(json);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("arguments ten thousand levels deep are refused, and the answer still arrives", async () => {
  const json = `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  const { message } = await ask([
    raw(
      begin,
      open(0, { type: "tool_use", id: "t", name: "x", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: json }),
      close(0),
      ...end,
    ),
  ]);
  expect(message.stopReason).toBe("toolUse");
  expect(message.content[0]).toMatchObject({ arguments: {}, argumentsError: expect.stringContaining("64 levels") });
});

test("a frame ten thousand levels deep means nothing and overflows nothing", async () => {
  const deep = `{"type":"x","a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  const { message } = await ask([raw(begin, sse(deep), said("ok"), ...end)]);
  expect(message.content).toEqual([text("ok")]);
});

test("a line of ten megabytes is read", async () => {
  const long = "x".repeat(10_000_000);
  const { message } = await ask([raw(begin, said(long), ...end)]);
  expect(message.content[0]).toEqual(text(long));
});

test("a stream that never ends is cut at its limit", async () => {
  const server = (await import("node:http")).createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const line = Buffer.from(`: ${"ping ".repeat(20_000)}\n\n`);
    const pour = () => {
      while (!response.destroyed && response.write(line));
      if (!response.destroyed) response.once("drain", pour);
    };
    pour();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const message = await streamSimple(model(url), { messages: [] }, { apiKey: "k", maxRetries: 0 }).result();
    expect(message.errorMessage).toMatch(/longer than .* bytes/);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("a server that sends a byte a minute is idle, however long it keeps it up", async () => {
  const clock = createFakeClock();
  const server = (await import("node:http")).createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const drip = () => {
      response.write(":");
      clock.setTimer(60_000, drip);
    };
    drip();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const asking = streamSimple(model(url), { messages: [] }, { apiKey: "k", maxRetries: 0, clock }).result();
    let done = false;
    void asking.then(() => (done = true));
    for (let minute = 0; minute < 50 && !done; minute++) await clock.advance(60_000);
    expect((await asking).failure?.kind).toBe("idle_timeout");
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("a server that said why it stopped, and then left the line open, has answered", async () => {
  const clock = createFakeClock();
  const reply: WireReply = { kind: "raw", chunks: [begin, said("done"), end[0]!], ending: "hang" };
  const asking = ask([reply], { clock });
  let done = false;
  void asking.then(() => (done = true));
  while (!done) await clock.advance(60_000);
  expect((await asking).message).toMatchObject({ stopReason: "stop", content: [text("done")] });
});

/** Answers every request with `status` and the beginning of an error body; then does what `ending` says. */
const failHalfway = async (status: number, ending: "cut" | "hang", options: SimpleStreamOptions) => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    request.resume().once("end", () => {
      response.writeHead(status, { "content-length": "500", "retry-after": "7" });
      response.write('{"error":{"message":"No."', () => ending === "cut" && response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { failure } = await streamSimple(model(url), { messages: [] }, { apiKey: "k", ...options }).result();
    return { failure, requests };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};

test("an error response that is cut keeps its status and what arrived", async () => {
  const { failure, requests } = await failHalfway(401, "cut", {});
  expect(failure).toMatchObject({ kind: "auth", status: 401, message: expect.stringContaining("No.") });
  expect(requests).toBe(1);
});

test.each([
  ["idleTimeoutMs", 300_000],
  ["idleTimeoutMs", 1_000],
  ["timeoutMs", 1_000],
])("an error response that never ends keeps its status and what it asks for (%s %i)", async (limit, limitMs) => {
  const clock = createFakeClock();
  let asking: ReturnType<typeof failHalfway> | undefined;
  await new Promise<void>((resolve) => {
    asking = failHalfway(429, "hang", { clock, maxRetries: 0, onResponse: () => resolve(), [limit]: limitMs });
  });
  await clock.advance(5_000);
  expect((await asking)?.failure).toMatchObject({ kind: "rate_limited", status: 429, retryAfterMs: 7_000 });
});

test.each([
  ["garbage", "data: {not json}\n\n", /damaged/],
  ["an event that was cut in the middle", 'data: {"type":"content_block_del', /damaged/],
])("%s in a stream is an error that keeps what came", async (_name, noise, expected) => {
  const { message } = await ask([raw(begin, said("before"), noise)]);
  expect(message.stopReason).toBe("error");
  expect(message.errorMessage).toMatch(expected);
  expect(message.content).toEqual([text("before")]);
});

test("a body cut at any byte gives the beginning of the whole answer's events, and then an error", async () => {
  const whole = Buffer.concat(
    dialect.answer({ id: "a", model: "m", content: [text("Zürich 🌍"), call("t", { a: "ü" })] }),
  );
  const full = (await ask([raw(whole)])).events.map(outline);
  for (let at = 1; at < whole.length; at += 7) {
    const { events, message } = await ask([raw(whole.subarray(0, at), "")]);
    if (message.stopReason !== "error") continue;
    const content = events.filter(({ type }) => type.endsWith("_delta")).map(outline);
    expect(full.filter((line) => line.includes("_delta")).slice(0, content.length)).toEqual(content);
  }
});

const outline = (given: AssistantMessageEvent) => `${given.type} ${"delta" in given ? given.delta : ""}`;

test("a thousand calls in one answer is a runaway model", async () => {
  const calls = Array.from({ length: 1_001 }, (_unused, at) =>
    open(at, { type: "tool_use", id: `t${at}`, name: "x", input: {} }),
  );
  const { message } = await ask([raw(begin, ...calls, ...end)]);
  expect(message.stopReason).toBe("error");
  expect(message.errorMessage).toMatch(/more than 1000 tool calls/);
});

test("a prompt of which the server has dropped the head is reported", async () => {
  const content = "A sentence of ordinary words, again and again. ".repeat(2_000);
  const server = await startWireServer(dialect, [
    { kind: "answer", answer: { content: [text("ok")], usage: { input: 4_096, output: 1 } } },
    { kind: "answer", answer: { content: [text("ok")], usage: { input: 21_000, output: 1 } } },
    { kind: "answer", answer: { content: [text("ok")], usage: { input: 120_000, output: 1 } } },
  ]);
  try {
    const types = [];
    for (let turn = 0; turn < 3; turn++) {
      const message = await streamSimple(
        model(server.url),
        { messages: [{ role: "user", content, timestamp: 0 }] },
        { apiKey: "k" },
      ).result();
      types.push(message.diagnostics?.map(({ type }) => type) ?? []);
    }
    expect(types).toEqual([["silent_truncation"], [], ["silent_overflow"]]);
  } finally {
    await server.close();
  }
});

test("one image that the provider cannot read is given up alone, and the turn succeeds", async () => {
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const messages = [{ role: "user" as const, content: [text("Look:"), image, image], timestamp: 0 }];
  const body = dialect.errorBody(400, "messages.0.content.1.image.source.base64.data: Could not process image");
  const server = await startWireServer(dialect, [
    { kind: "status", status: 400, body },
    { kind: "answer", answer: { content: [text("I see one.")] } },
  ]);
  try {
    const seeing: Model = { ...model(server.url), input: ["text", "image"] };
    const message = await streamSimple(seeing, { messages }, { apiKey: "k", maxRetries: 0 }).result();
    expect(message.content).toEqual([text("I see one.")]);
    expect(message.diagnostics?.[0]).toMatchObject({ type: "degraded" });
    const sent = (server.requests[1]!.body as { messages: { content: { type: string }[] }[] }).messages[0]!.content;
    expect(sent.map(({ type }) => type)).toEqual(["text", "text", "image"]);
    expect(messages[0]!.content).toEqual([text("Look:"), image, image]);
  } finally {
    await server.close();
  }
});

test("however many blocks a provider refuses, the turn succeeds in a few requests", async () => {
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const messages = [
    { role: "user" as const, content: [text("Look:"), ...Array.from({ length: 20 }, () => image)], timestamp: 0 },
  ];
  const refuse = (at: number): WireReply => ({
    kind: "status",
    status: 400,
    body: dialect.errorBody(400, `messages.0.content.${at}.image.source.base64.data: Could not process image`),
  });
  const server = await startWireServer(dialect, [
    refuse(1),
    refuse(2),
    { kind: "answer", answer: { content: [text("Nothing.")] } },
  ]);
  try {
    const seeing: Model = { ...model(server.url), input: ["text", "image"] };
    const message = await streamSimple(seeing, { messages }, { apiKey: "k", maxRetries: 0 }).result();
    expect(message.content).toEqual([text("Nothing.")]);
    expect(JSON.stringify(server.requests[2]!.body)).not.toContain('"image"');
  } finally {
    await server.close();
  }
});

test("an error that comes after a blank line is still read as the error", async () => {
  const body = dialect.errorBody(401, "wrong key");
  const { message } = await ask([raw("\n", body)]);
  expect(message.failure?.kind).toBe("auth");
});

test("usage that follows a refusal is counted", async () => {
  const { message } = await ask([
    raw(
      begin,
      event({ type: "message_delta", delta: { stop_reason: "refusal" } }),
      event({ type: "message_delta", delta: {}, usage: { output_tokens: 9 } }),
      event({ type: "message_stop" }),
    ),
  ]);
  expect(message).toMatchObject({ stopReason: "error", failure: { kind: "refused" }, usage: { input: 3, output: 9 } });
});

test("an unknown API, and a provider that throws, are errors in a stream", async () => {
  const message = await streamSimple({ ...model(""), api: "no-such-api" }, { messages: [] }).result();
  expect(message.errorMessage).toMatch(/no-such-api/);
});

test("without a key nothing is sent, and the person learns which variable to set", async () => {
  const { requests, message } = await ask([raw(begin, ...end)], {
    apiKey: "",
    env: { ANTHROPIC_API_KEY: "", ANTHROPIC_OAUTH_TOKEN: "", ANTHROPIC_AUTH_TOKEN: "" },
  });
  expect(requests).toEqual([]);
  expect(message.failure?.kind).toBe("auth");
  expect(message.errorMessage).toMatch(/ANTHROPIC_API_KEY/);
});

test("a request without a model is refused in words: getModel returns undefined for a name that it does not know", () => {
  expect(() => streamSimple(undefined as never, { messages: [] })).toThrow(
    expect.objectContaining({ code: "unknown_model" }),
  );
});

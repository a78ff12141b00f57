/** The Responses API over WebSocket, against a server on loopback that also answers over HTTP. */
import { createServer } from "node:http";
import type { AddressInfo, Socket as NetSocket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Message } from "../../src/message.ts";
import type { KnownApi, Model } from "../../src/model.ts";
import type { SimpleStreamOptions } from "../../src/options.ts";
import { continueFrom } from "../../src/protocols/openai-responses/continue.ts";
import { completeSimple, streamSimple } from "../../src/stream.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import { openaiResponsesDialect } from "../../src/testing/dialects/openai-responses.ts";
import { call, type ScriptedAnswer, text, thinking } from "../../src/testing/script.ts";
import { createModel, result, user } from "./kit.ts";

type Fields = Record<string, unknown>;

/** The server's reply to one `response.create`. */
type Reply =
  | { kind: "answer"; answer: ScriptedAnswer }
  /** Sends the first `frames` messages, then closes the connection. */
  | { kind: "cut"; answer: ScriptedAnswer; frames: number }
  | { kind: "error"; status: number; code: string; message: string }
  /** Closes the connection without a message. */
  | { kind: "drop" }
  | { kind: "silence" };

const decoder = new TextDecoder();

/** The frames of an answer as JSON, with item ids that no other answer has. */
function toFrames(answer: ScriptedAnswer, turn: number): string[] {
  const events = openaiResponsesDialect("openai-responses").answer({
    id: `resp_${turn}`,
    model: "gpt-test",
    ...answer,
  });
  return events.map((event) =>
    /^data: (.*)$/m.exec(decoder.decode(event))![1]!.replace(/"(msg|fc|rs)_(\d+)"/g, `"$1_${turn}_$2"`),
  );
}

async function serve(replies: readonly Reply[], { upgrade = 101 }: { upgrade?: number } = {}) {
  const queue = [...replies];
  const created: Fields[] = [];
  const upgrades: Fields[] = [];
  const posts: Fields[] = [];
  const sockets = new Set<NetSocket>();
  const open = new Set<WebSocket>();
  let turn = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      posts.push(JSON.parse(body) as Fields);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const frame of toFrames({ content: [text("over HTTP")] }, ++turn)) response.write(`data: ${frame}\n\n`);
      response.end();
    });
  });
  server.on("connection", (socket: NetSocket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  const webSockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    upgrades.push({ url: request.url, ...request.headers });
    if (upgrade !== 101) return void socket.end(`HTTP/1.1 ${upgrade} No\r\ncontent-length: 0\r\n\r\n`);
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      open.add(webSocket);
      webSocket.on("close", () => open.delete(webSocket));
      webSocket.on("message", (data) => {
        created.push(JSON.parse(String(data)) as Fields);
        const reply = queue.shift() ?? { kind: "drop" };
        turn++;
        if (reply.kind === "drop") return webSocket.terminate();
        if (reply.kind === "silence") return;
        if (reply.kind === "error") {
          const { status, code, message } = reply;
          return webSocket.send(
            JSON.stringify({ type: "error", status, error: { type: "invalid_request_error", code, message } }),
          );
        }
        const frames = toFrames(reply.answer, turn);
        for (const frame of reply.kind === "cut" ? frames.slice(0, reply.frames) : frames) webSocket.send(frame);
        if (reply.kind === "cut") webSocket.close(1011, "cut");
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, created, upgrades, posts, open };
}

const gpt = (baseUrl: string, api: KnownApi = "openai-responses"): Model =>
  createModel({ api, provider: api === "openai-responses" ? "openai" : "openai-codex", id: "gpt-test", baseUrl });

let sessions = 0;
const nextSession = () => `socket-session-${++sessions}`;

const ask = (model: Model, messages: Message[], options: SimpleStreamOptions = {}) =>
  completeSimple(
    model,
    { systemPrompt: "Be brief.", messages },
    { apiKey: "fake-key", maxRetries: 0, transport: "websocket", ...options },
  );

const hello: ScriptedAnswer = { content: [text("Hello there.")] };
const getText = ({ content }: { content: readonly { type: string }[] }) =>
  content.map((block) => ("text" in block ? block.text : "")).join("");

describe("the transport websocket", () => {
  test("sends the payload as response.create, with the headers of the request, and closes the socket", async () => {
    const { url, created, upgrades, posts, open } = await serve([{ kind: "answer", answer: hello }]);
    const message = await ask(gpt(url), [user("Hi")], { sessionId: nextSession() });
    expect([getText(message), message.stopReason, message.diagnostics]).toEqual(["Hello there.", "stop", undefined]);
    expect(upgrades).toMatchObject([{ url: "/v1/responses", authorization: "Bearer fake-key" }]);
    expect(created).toMatchObject([{ type: "response.create", model: "gpt-test", store: false }]);
    expect(created[0]).not.toHaveProperty("stream");
    expect(created[0]).not.toHaveProperty("previous_response_id");
    expect(posts).toEqual([]);
    await expect.poll(() => open.size).toBe(0);
  });

  test("announces the version of the protocol to Codex", async () => {
    const { url, upgrades } = await serve([{ kind: "answer", answer: hello }]);
    const claims = Buffer.from(JSON.stringify({ "https://api.openai.com/auth": { chatgpt_account_id: "a" } }));
    const apiKey = `h.${claims.toString("base64url")}.s`;
    expect(getText(await ask(gpt(url, "openai-codex-responses"), [user("Hi")], { apiKey }))).toBe("Hello there.");
    expect(upgrades).toMatchObject([
      { url: "/v1/codex/responses", "openai-beta": "responses_websockets=2026-02-06", "chatgpt-account-id": "a" },
    ]);
  });

  test.each([404, 426, 503])(
    "uses server-sent events if the upgrade is refused with %d, and says so",
    async (upgrade) => {
      const { url, posts, upgrades } = await serve([], { upgrade });
      for (const attempts of [1, upgrade === 503 ? 2 : 1]) {
        const message = await ask(gpt(url), [user("Hi")]);
        expect(getText(message)).toBe("over HTTP");
        expect(message.diagnostics).toMatchObject([
          { type: "transport_fallback", error: { message: expect.stringContaining(`HTTP ${upgrade}`) } },
        ]);
        // A server without WebSocket is not asked again.
        expect(upgrades).toHaveLength(attempts);
      }
      expect(posts).toHaveLength(2);
    },
  );

  test("uses server-sent events for an API without WebSocket, and if the socket closes before any answer", async () => {
    const { url, posts } = await serve([{ kind: "drop" }]);
    const message = await ask(gpt(url), [user("Hi")]);
    expect(getText(message)).toBe("over HTTP");
    expect(posts).toHaveLength(1);
    const other = await ask({ ...gpt("http://127.0.0.1:9"), api: "anthropic-messages" }, [user("Hi")]);
    expect(other.diagnostics).toMatchObject([{ type: "transport_fallback" }]);
  });

  test("does nothing but server-sent events with auto", async () => {
    const { url, upgrades } = await serve([]);
    expect(getText(await ask(gpt(url), [user("Hi")], { transport: "auto" }))).toBe("over HTTP");
    expect(upgrades).toEqual([]);
  });

  const answer: ScriptedAnswer = {
    content: [thinking("Hm."), text("Some words."), call("weather", { place: "Rome" })],
  };
  test("a connection that is cut after any frame is a network failure with what had arrived", async () => {
    const count = toFrames(answer, 1).length;
    for (let frames = 1; frames < count; frames++) {
      const { url } = await serve([{ kind: "cut", answer, frames }]);
      const message = await ask(gpt(url), [user("Hi")]);
      expect([frames, message.stopReason, message.failure?.kind]).toEqual([frames, "error", "network"]);
    }
    const { url } = await serve([{ kind: "cut", answer, frames: count }]);
    expect(await ask(gpt(url), [user("Hi")])).toMatchObject({ stopReason: "toolUse" });
  });

  test("an error message is classified as over HTTP", async () => {
    const error = { kind: "error" as const, message: "no" };
    const { url } = await serve([
      { ...error, status: 429, code: "rate_limit_exceeded" },
      { ...error, status: 400, code: "context_length_exceeded" },
    ]);
    expect((await ask(gpt(url), [user("Hi")])).failure?.kind).toBe("rate_limited");
    expect((await ask(gpt(url), [user("Hi")])).failure?.kind).toBe("context_overflow");
  });

  test("an abort ends the request and closes the socket", async () => {
    const { url, open, created } = await serve([{ kind: "silence" }]);
    const abort = new AbortController();
    const message = ask(gpt(url), [user("Hi")], {
      signal: abort.signal,
      transport: "websocket-cached",
      sessionId: nextSession(),
    });
    await expect.poll(() => created.length).toBe(1);
    abort.abort();
    expect((await message).stopReason).toBe("aborted");
    await expect.poll(() => open.size).toBe(0);
  });

  test("a server that sends nothing runs into the idle limit", async () => {
    const { url, created, open } = await serve([{ kind: "silence" }]);
    const clock = createFakeClock();
    const stream = streamSimple(
      gpt(url),
      { messages: [user("Hi")] },
      { apiKey: "k", maxRetries: 0, transport: "websocket", idleTimeoutMs: 5_000, clock },
    );
    await expect.poll(() => created.length).toBe(1);
    await clock.advance(5_000);
    expect((await stream.result()).failure?.kind).toBe("idle_timeout");
    await expect.poll(() => open.size).toBe(0);
  });
});

describe("the transport websocket-cached", () => {
  const first: ScriptedAnswer = {
    content: [thinking("Hm."), text("Looking."), call("weather", { place: "Rome" }, "call_1")],
  };

  /** A question, the answer with a call, and its result. */
  async function start(replies: readonly Reply[]) {
    const server = await serve([{ kind: "answer", answer: first }, ...replies]);
    const options = { transport: "websocket-cached" as const, sessionId: nextSession() };
    const model = gpt(server.url);
    const messages: Message[] = [user("Weather?")];
    const answer = await ask(model, messages, options);
    messages.push(
      answer,
      result(answer.content.find((block) => block.type === "toolCall")!.id, "weather", [text("Sunny")]),
    );
    return { ...server, model, messages, options };
  }

  test("sends only the new input of a session, on the same socket", async () => {
    const { model, messages, options, created, upgrades, open } = await start([
      { kind: "answer", answer: hello },
      { kind: "answer", answer: hello },
    ]);
    messages.push(await ask(model, messages, options), user("And now?"));
    await ask(model, messages, options);
    expect(upgrades).toHaveLength(1);
    expect(open.size).toBe(1);
    expect(created[1]).toMatchObject({
      previous_response_id: "resp_1",
      input: [{ type: "function_call_output", call_id: "call_1", output: "Sunny" }],
    });
    expect(created[2]).toMatchObject({ previous_response_id: "resp_2" });
    expect(created[2]!["input"]).toHaveLength(1);
  });

  test("sends the whole input if the history, the tools or the prompt changed", async () => {
    const { model, messages, options, created, upgrades } = await start([{ kind: "answer", answer: hello }]);
    await ask(model, [user("Other question?"), ...messages.slice(1)], options);
    expect(created[1]).not.toHaveProperty("previous_response_id");
    expect((created[1]!["input"] as unknown[]).length).toBeGreaterThan(3);
    expect(upgrades).toHaveLength(1);
  });

  test("sends the whole input if the server does not know the answer any more", async () => {
    const { model, messages, options, created, upgrades } = await start([
      { kind: "error", status: 400, code: "previous_response_not_found", message: "Previous response not found." },
      { kind: "answer", answer: hello },
    ]);
    expect(getText(await ask(model, messages, options))).toBe("Hello there.");
    expect([created[1]!["previous_response_id"], created[2]!["previous_response_id"]]).toEqual(["resp_1", undefined]);
    expect(upgrades).toHaveLength(1);
  });

  test.each([
    ["was closed meanwhile", { kind: "drop" }],
    ["is too old", { kind: "error", status: 400, code: "websocket_connection_limit_reached", message: "60 minutes" }],
  ] as const)("opens another socket if the one that was kept %s", async (_name, reply) => {
    const { model, messages, options, created, upgrades, posts } = await start([
      reply,
      { kind: "answer", answer: hello },
    ]);
    expect(getText(await ask(model, messages, options))).toBe("Hello there.");
    expect(upgrades).toHaveLength(2);
    expect(created.at(-1)).not.toHaveProperty("previous_response_id");
    expect(posts).toEqual([]);
  });

  test("does not share a socket between sessions, keys, or requests at the same time", async () => {
    const answers = Array.from({ length: 4 }, () => ({ kind: "answer" as const, answer: hello }));
    const { model, options, upgrades } = await start(answers);
    await ask(model, [user("Hi")], { ...options, sessionId: nextSession() });
    await ask(model, [user("Hi")], { ...options, apiKey: "other-key" });
    await Promise.all([ask(model, [user("A")], options), ask(model, [user("B")], options)]);
    expect(upgrades).toHaveLength(4);
  });
});

describe("continueFrom", () => {
  const payload = { model: "m", tools: [], input: [{ role: "user", content: "a" }] };
  const message = { type: "message", id: "msg_1", content: [{ type: "output_text", text: "x", logprobs: [] }] };
  const fnCall = { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: '{"a": 1}' };
  const last = { payload, responseId: "r", output: [message, fnCall] };
  const stored = [
    { type: "message", id: "msg_1", content: [{ type: "output_text", text: "x", annotations: [] }] },
    { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: '{"a":1}' },
  ];
  const added = { type: "function_call_output", call_id: "c", output: "1" };
  const next = (input: object[], more: object = {}) => continueFrom(last, { ...payload, ...more, input });

  test("finds the input that is new, although items may be written in another way", () => {
    expect(next([...payload.input, ...stored, added])).toEqual({
      ...payload,
      previous_response_id: "r",
      input: [added],
    });
  });

  test.each([
    ["nothing is new", [...payload.input, ...stored], {}],
    ["a text was edited", [...payload.input, { ...stored[0], content: [{ text: "y" }] }, stored[1]!, added], {}],
    ["a call was edited", [...payload.input, stored[0]!, { ...stored[1], arguments: '{"a":2}' }, added], {}],
    ["an id is missing", [...payload.input, { ...stored[0], id: undefined }, stored[1]!, added], {}],
    ["the question was edited", [{ role: "user", content: "b" }, ...stored, added], {}],
    ["the tools changed", [...payload.input, ...stored, added], { tools: [{ name: "f" }] }],
    ["the history was compacted", [added], {}],
  ] as const)("finds nothing if %s", (_name, input, more) => {
    expect(next([...input] as object[], more)).toBeUndefined();
  });
});

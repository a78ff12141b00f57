/** MCP over HTTP: the client of the official library, and clients that do what they should not. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Clock, systemClock } from "@tau/ai";
import { call as callOf, type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { openTestGateway, type TestGatewayOptions } from "../../src/testing/index.ts";

type Json = Record<string, unknown>;
type Revisions = NonNullable<ClientOptions["versionNegotiation"]>["mode"];

async function open(options: TestGatewayOptions & { model: ScriptedModel }) {
  const opened = await openTestGateway(options);
  onTestFinished(opened.close);
  const url = new URL(`${opened.gateway.url.replace(/^ws/, "http")}/mcp`);
  return { ...opened, url };
}

async function connect({ url, token }: { url: URL; token: string }, mode: Revisions = "auto") {
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, input: Json, options: Parameters<Client["callTool"]>[1] = {}) => {
    const result = await client.callTool({ name, arguments: input }, options);
    const [first] = result.content as { text: string }[];
    return { isError: result.isError === true, text: first!.text, report: result.structuredContent as Json };
  };
  return { client, transport, call };
}

test.each([
  ["auto", "2026-07-28"],
  ["legacy", "2025-11-25"],
] as const)("a client in the mode %s speaks %s and runs prompts", async (mode, revision) => {
  const held = createHeld();
  const model = scriptedModel([
    [text("It is 4.")],
    [text("And 5.")],
    [callOf("bash", { command: "echo hi" })],
    held.turn,
  ]);
  const gateway = await open({ model });
  const { client, call } = await connect(gateway, mode);
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["run", "steer", "status", "result"]);
  const first = await call("run", { prompt: "What is 2 + 2?" });
  expect(first).toMatchObject({ isError: false, report: { state: "done", answer: "It is 4." } });
  const session = first.report["session"] as string;
  expect(gateway.gateway.parts.sessions.find(session)).toBeDefined();
  expect((await call("run", { prompt: "And plus 1?", session })).report).toMatchObject({ session, answer: "And 5." });
  expect((await call("status", { session })).report).toEqual({ session, state: "done", answer: "And 5." });
  const progress: string[] = [];
  const onprogress = ({ message }: { message?: string | undefined }) => void progress.push(message ?? "");
  const running = call("run", { prompt: "Say hi", session }, { onprogress });
  // The client drops progress that it handles after the answer.
  await expect.poll(() => progress).toContain("bash echo hi");
  held.release();
  await running;
});

test("a run in the background can be steered, looked at and waited for", async () => {
  const held = createHeld();
  const gateway = await open({ model: scriptedModel([held.turn, [text("Later.")]]) });
  const { call } = await connect(gateway);
  const { report } = await call("run", { prompt: "Begin", wait: false });
  const session = report["session"] as string;
  await held.begun;
  expect((await call("status", { session })).report).toMatchObject({ state: "running" });
  expect(await call("run", { prompt: "Again", session })).toMatchObject({
    isError: true,
    text: expect.stringContaining("already in progress"),
  });
  expect((await call("steer", { session, message: "Hurry" })).report).toMatchObject({ state: "running" });
  const waiting = call("result", { session });
  held.release();
  expect((await waiting).report).toMatchObject({ state: "done", answer: "Later." });
  expect(await call("steer", { session, message: "Late" })).toMatchObject({ isError: true });
  expect(await call("status", { session: "nobody" })).toMatchObject({ isError: true });
});

test.each(["auto", "legacy"] as const)("cancelling a run in the mode %s ends it", async (mode) => {
  const held = createHeld();
  const gateway = await open({ model: scriptedModel([[text("Ok.")], held.turn]) });
  const { call } = await connect(gateway, mode);
  const { report } = await call("run", { prompt: "Hi" });
  const session = report["session"] as string;
  const controller = new AbortController();
  const running = call("run", { prompt: "Again", session }, { signal: controller.signal });
  await held.begun;
  controller.abort();
  await expect(running).rejects.toBeInstanceOf(Error);
  await expect.poll(async () => (await call("status", { session })).report["state"]).toBe("failed");
});

test("DELETE ends what the client waits for, and its id is unknown from then on", async () => {
  const held = createHeld();
  const gateway = await open({ model: scriptedModel([held.turn]) });
  const { transport, call } = await connect(gateway, "legacy");
  const running = call("run", { prompt: "Begin" }).catch(() => undefined);
  await held.begun;
  const id = transport.sessionId!;
  await transport.terminateSession();
  await running;
  const [session] = gateway.gateway.parts.sessions.all;
  await expect.poll(() => session!.hosted.session.isStreaming).toBe(false);
  const later = await post(gateway, { jsonrpc: "2.0", id: 9, method: "ping" }, { "mcp-session-id": id });
  expect(later.status).toBe(404);
});

async function post({ url, token }: { url: URL; token: string }, body: unknown, headers: Record<string, string> = {}) {
  return await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };

test.each<[string, unknown, Record<string, string>, number]>([
  ["without a token", ping, { authorization: "" }, 401],
  ["with a wrong token", ping, { authorization: "Bearer nothing" }, 401],
  ["from another site", ping, { "sec-fetch-site": "cross-site" }, 403],
  ["from another origin", ping, { origin: "https://evil.example" }, 403],
  ["before the handshake", ping, {}, 400],
  ["with an id that nobody has", ping, { "mcp-session-id": "made-up" }, 404],
  ["as a batch", [ping], {}, 400],
  ["that is no JSON-RPC", { id: 1 }, {}, 400],
  ["that is not JSON", ping, { "content-type": "text/plain" }, 400],
  ["that takes no answer", ping, { accept: "text/html" }, 406],
  ["whose headers are missing", { ...ping, params: { _meta: meta } }, {}, 400],
  [
    "whose headers name another method",
    { ...ping, params: { _meta: meta } },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
    400,
  ],
  [
    "in a revision of the future",
    { ...ping, params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } } },
    { "mcp-protocol-version": "2099-01-01", "mcp-method": "ping" },
    400,
  ],
])("a request %s is refused", async (_name, body, headers, status) => {
  const gateway = await open({ model: scriptedModel([]) });
  const response = await post(gateway, body, headers);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
});

test("a device that may only read is refused, and the id of another device is not known", async () => {
  const gateway = await open({ model: scriptedModel([]) });
  const { devices } = gateway.gateway.parts;
  const add = async (scopes: readonly ("read" | "write")[]) => (await devices.add({ name: "phone", scopes })).token;
  expect((await post({ ...gateway, token: await add(["read"]) }, ping)).status).toBe(403);
  const { transport } = await connect(gateway, "legacy");
  const other = await post({ ...gateway, token: await add(["read", "write"]) }, ping, {
    "mcp-session-id": transport.sessionId!,
  });
  expect(other.status).toBe(404);
  expect((await post(gateway, ping, { "mcp-session-id": transport.sessionId! })).status).toBe(200);
});

test("who waits for a result learns of it by events, without a clock", async () => {
  const held = createHeld();
  const clock: Clock = {
    ...systemClock,
    setTimer: (ms, run) => (ms < 1_000 ? () => {} : systemClock.setTimer(ms, run)),
  };
  const gateway = await open({ model: scriptedModel([held.turn]), options: { clock } });
  const { call } = await connect(gateway, "legacy");
  const { report } = await call("run", { prompt: "Begin", wait: false });
  await held.begun;
  const waiting = call("result", { session: report["session"] as string });
  const second = call("result", { session: report["session"] as string });
  held.release();
  expect((await waiting).report).toMatchObject({ state: "done", answer: "Held." });
  expect((await second).report).toMatchObject({ state: "done", answer: "Held." });
});

test("a result ends when its session is closed meanwhile", async () => {
  const held = createHeld();
  const gateway = await open({ model: scriptedModel([held.turn]) });
  const { call } = await connect(gateway, "legacy");
  const { report } = await call("run", { prompt: "Begin", wait: false });
  const session = report["session"] as string;
  await held.begun;
  const waiting = call("result", { session });
  await gateway.gateway.parts.sessions.close(session);
  expect((await waiting).report).toMatchObject({ session, state: "failed" });
});

/** A request of a client of the revision 2025-11-25, whose answer comes as events. */
async function postCall(gateway: Awaited<ReturnType<typeof open>>, session: string, name: string, input: Json) {
  const params = { name, arguments: input, _meta: { progressToken: 7 } };
  const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
  const response = await post(gateway, { jsonrpc: "2.0", id: name, method: "tools/call", params }, headers);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  return createEventReader(response);
}

async function resume({ url, token }: { url: URL; token: string }, session: string, lastEventId: string) {
  const headers = { accept: "text/event-stream", "mcp-session-id": session, "last-event-id": lastEventId };
  return await fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers } });
}

/** Reads one event at a time: its id and its message. */
function createEventReader(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<{ id: string; message?: Json } | undefined> => {
    for (;;) {
      const [, event, rest] = /^(.*?)\n\n(.*)$/s.exec(text) ?? [];
      if (event !== undefined) {
        text = rest!;
        const [id, data] = ["id", "data"].map((field) => new RegExp(`^${field}: (.*)$`, "m").exec(event)?.[1] ?? "");
        if (id !== "") return { id: id!, ...(data !== "" && { message: JSON.parse(data!) as Json }) };
        continue;
      }
      const { value, done } = await reader.read();
      if (done) return undefined;
      text += value;
    }
  };
  return { next, cancel: () => reader.cancel() };
}

test("an answer continues on another connection, without what the client has, and also after its end", async () => {
  const held = createHeld();
  const gateway = await open({ model: scriptedModel([[callOf("bash", { command: "echo hi" })], held.turn]) });
  const { transport } = await connect(gateway, "legacy");
  const id = transport.sessionId!;
  const first = await postCall(gateway, id, "run", { prompt: "Begin" });
  const primer = await first.next();
  expect(primer).toEqual({ id: expect.any(String) });
  const progress = await first.next();
  expect(progress).toMatchObject({ message: { method: "notifications/progress", params: { progressToken: 7 } } });
  await first.cancel();
  await held.begun;

  const second = createEventReader(await resume(gateway, id, primer!.id));
  expect(await second.next()).toEqual(progress);
  // A second connection takes the place of the first.
  const third = createEventReader(await resume(gateway, id, progress!.id));
  const cut = (async () => {
    while ((await second.next()) !== undefined);
  })();
  await expect(cut).rejects.toBeInstanceOf(Error);
  held.release();
  const events = [];
  for (let event = await third.next(); event; event = await third.next()) events.push(event);
  const last = events.at(-1)!;
  expect(last.message).toMatchObject({ id: "run", result: { structuredContent: { answer: "Held." } } });
  expect(new Set([primer!.id, progress!.id, ...events.map((event) => event.id)]).size).toBe(events.length + 2);

  const late = createEventReader(await resume(gateway, id, progress!.id));
  expect(await late.next()).toEqual(events[0]);
  const nothing = createEventReader(await resume(gateway, id, last.id));
  expect(await nothing.next()).toBeUndefined();

  // Streams belong to their client.
  const other = await connect(gateway, "legacy");
  expect((await resume(gateway, other.transport.sessionId!, primer!.id)).status).toBe(400);
  expect((await resume(gateway, id, "made-up.0")).status).toBe(400);
  expect((await resume(gateway, id, "\u00ff")).status).toBe(400);
  expect((await resume(gateway, "nobody", primer!.id)).status).toBe(404);
  await transport.terminateSession();
  expect((await resume(gateway, id, primer!.id)).status).toBe(404);
});

test("the official client comes back for its answer by itself", async () => {
  const held = createHeld();
  const gateway = await open({ model: scriptedModel([held.turn]) });
  const { call } = await connect(gateway, "legacy");
  const running = call("run", { prompt: "Begin" });
  await held.begun;
  for (const client of gateway.gateway.parts.connections.list()) client.close(1001, "cut");
  await expect.poll(() => gateway.gateway.parts.connections.count).toBe(0);
  held.release();
  expect((await running).report).toMatchObject({ state: "done", answer: "Held." });
});

test("a client cannot have more than 100 requests open", async () => {
  const held = createHeld();
  const gateway = await open({ model: scriptedModel([held.turn]) });
  const { transport, call } = await connect(gateway, "legacy");
  const { report } = await call("run", { prompt: "Begin", wait: false });
  await held.begun;
  const waiting = Array.from({ length: 100 }, () => call("result", { session: report["session"] as string }));
  const { mcpClients, devices } = gateway.gateway.parts;
  const { open: requests } = mcpClients.find(transport.sessionId!, devices.checkToken(gateway.token)!.id)!;
  await expect.poll(() => requests.size).toBe(100);
  const refused = await post(gateway, ping, { "mcp-session-id": transport.sessionId! });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining("100 requests") } });
  held.release();
  for (const result of await Promise.all(waiting)) expect(result.report).toMatchObject({ answer: "Held." });
});

test("GET is refused with what can be used, as there is nothing to follow", async () => {
  const { url, token } = await open({ model: scriptedModel([]) });
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, DELETE"]);
});

/** A turn of the model that waits until it is released or aborted. */
function createHeld() {
  let release = () => {};
  let begin = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const turn = async (_context: unknown, { signal }: { signal?: AbortSignal }) => {
    begin();
    signal?.addEventListener("abort", release);
    await released;
    return [text("Held.")];
  };
  return { begun, release: () => release(), turn };
}

test("a refused request whose body was not read says that its connection ends", async () => {
  const gateway = await open({ model: scriptedModel([]) });
  const refused = await post(gateway, ping, { authorization: "Bearer nothing" });
  expect([refused.status, refused.headers.get("connection")]).toEqual([401, "close"]);
  const used = await post(gateway, ping, { "mcp-session-id": "unknown" });
  expect([used.status, used.headers.get("connection")]).toEqual([404, "keep-alive"]);
});

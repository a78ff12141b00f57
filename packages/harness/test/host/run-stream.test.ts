/** Tests runs that are streamed: in a loop, and over real HTTP connections that are slow, cut and resumed. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AI, complete, completeSimple, type Model, stream, streamSimple } from "@tau/ai";
import { call, createFakeClock, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { SettingsManager } from "@tau/config/settings";
import { emptyView, reduce, type SessionEvent, type StreamedEvent, type View } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import { createHost } from "../../src/host/host.ts";
import { createAgent, type CreateAgentOptions, defineTool } from "../../src/index.ts";

const toAI = (model: Model): AI => ({
  model,
  stream: (context, options) => stream(model, context, options),
  complete: (context, options) => complete(model, context, options),
  streamSimple: (context, options) => streamSimple(model, context, options),
  completeSimple: (context, options) => completeSimple(model, context, options),
});

/** A tool that ends when the test says so. */
function createGate() {
  let open = (_answer: string) => {};
  let enter = () => {};
  const entered = new Promise<void>((resolve) => (enter = resolve));
  const tool = defineTool({
    name: "gate",
    description: "Waits.",
    execute: async () => {
      enter();
      return await new Promise<string>((resolve) => (open = resolve));
    },
  });
  return { tool, entered, open: (answer: string) => open(answer) };
}

async function openAgent(turns: ScriptedTurn[], options: Partial<CreateAgentOptions> = {}) {
  const cwd = await mkdtemp(join(tmpdir(), "tau-stream-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true, maxRetries: 10 }));
  const model = scriptedModel(turns);
  onTestFinished(() => model.dispose());
  const agent = createAgent({
    ai: toAI(model),
    cwd,
    agentDir: join(cwd, "agent"),
    settingsManager: SettingsManager.inMemory({}),
    tools: [],
    ...options,
  });
  onTestFinished(() => agent.dispose());
  return { agent, model, cwd };
}

/** A server that answers each request with `handle`. Returns its address. */
async function serve(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

interface Received {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly frames: { id: string | undefined; data: StreamedEvent }[];
  readonly comments: string[];
  /** Resolves when the body has ended. */
  readonly ended: Promise<void>;
  cut(): void;
}

/** A client of server-sent events. */
async function receive(url: string, headers: Record<string, string> = {}): Promise<Received> {
  const request = get(url, { headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request.once("response", resolve).once("error", reject),
  );
  const frames: Received["frames"] = [];
  const comments: string[] = [];
  let buffer = "";
  response.setEncoding("utf8").on("data", (chunk: string) => {
    buffer += chunk;
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const lines = buffer.slice(0, end).split("\n");
      buffer = buffer.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data === undefined) comments.push(lines.join("\n"));
      else frames.push({ id: field("id"), data: JSON.parse(data) as StreamedEvent });
    }
  });
  const ended = new Promise<void>((resolve) => response.once("close", resolve).once("error", () => resolve()));
  request.on("error", () => {});
  return {
    status: response.statusCode!,
    headers: response.headers,
    frames,
    comments,
    ended,
    cut: () => request.destroy(),
  };
}

const toView = (frames: Received["frames"], before: View = emptyView): View =>
  frames.reduce((view, { data }) => (data.type === "view" ? data.view : reduce(view, data)), before);

const getAnswer = (view: View): string =>
  view.log.entries
    .flatMap((entry) => (entry.type === "message" && entry.message.role === "assistant" ? entry.message.content : []))
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("");

test("a loop gets every event of the run and then its outcome", async () => {
  const { agent } = await openAgent([[text("Hello there.")]]);
  const run = agent.stream("Hi");
  const types: string[] = [];
  let said = "";
  for await (const event of run) {
    types.push(event.type);
    if (event.type === "text_delta") said += event.delta;
  }
  expect(said).toBe("Hello there.");
  expect(types).toContain("agent_start");
  expect(types.at(-1)).toBe("agent_end");
  expect((await run.result()).end).toEqual({ kind: "done" });
});

test("a loop that is slower than the run still gets every event", async () => {
  const { agent } = await openAgent([[text("word ".repeat(3_000))]]);
  const run = agent.stream("Hi");
  const events = run[Symbol.asyncIterator]();
  const first = await events.next();
  await run.result();
  let said = "";
  for (let next = first; !next.done; next = await events.next())
    if (next.value.type === "text_delta") said += next.value.delta;
  expect(said).toBe("word ".repeat(3_000));
});

test("a loop that is left early does not end the run", async () => {
  const { agent } = await openAgent([[text("One. Two. Three.")]]);
  const run = agent.stream("Hi");
  const events = run[Symbol.asyncIterator]();
  expect(await events.next()).toMatchObject({ done: false });
  await events.return({} as never);
  expect((await run.result()).end).toEqual({ kind: "done" });
});

test("the signal of a stream ends its run and no other", async () => {
  const gate = createGate();
  const { agent, model } = await openAgent([[call("gate")], [text("Again.")]], { customTools: [gate.tool] });
  const controller = new AbortController();
  const run = agent.stream("Hi", { signal: controller.signal });
  await gate.entered;
  controller.abort("enough");
  expect((await run.result()).end).toEqual({ kind: "aborted", by: "signal", reason: "enough" });
  expect(await agent.run("Once more")).toBe("Again.");
  await expect(agent.run("And again", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
  expect(model.left).toBe(0);
});

test("a stream that cannot start throws in its loop and from its result, and is an event over HTTP", async () => {
  const gate = createGate();
  const { agent } = await openAgent([[call("gate")], [text("Done.")]], { customTools: [gate.tool] });
  const first = agent.stream("Hi");
  await gate.entered;
  const second = agent.stream("Me too");
  await expect(second.result()).rejects.toMatchObject({ code: "busy" });
  await expect(second[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "busy" });
  const url = await serve((_request, response) => agent.stream("Me too").pipeTo(response));
  const received = await receive(url);
  await received.ended;
  expect(received.frames.at(-1)).toMatchObject({ id: undefined, data: { type: "error", code: "busy" } });
  gate.open("on");
  await first.result();
});

test("a client that loses its connection gets exactly what it missed", async () => {
  const gate = createGate();
  const { agent } = await openAgent([[text("Wait. "), call("gate")], [text("Done.")]], { customTools: [gate.tool] });
  const url = await serve(async (request, response) => {
    const lastEventId = request.headers["last-event-id"] as string | undefined;
    const events = lastEventId === undefined ? agent.stream("Hi") : await agent.resume(lastEventId);
    await events.pipeTo(response, { headers: { "access-control-allow-origin": "https://app.example" } });
  });
  const first = await receive(url);
  expect(first.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "access-control-allow-origin": "https://app.example",
  });
  await gate.entered;
  await expect.poll(() => first.frames.some(({ data }) => data.type === "tool_execution_start")).toBe(true);
  first.cut();
  const second = await receive(url, { "last-event-id": first.frames.at(-1)!.id! });
  gate.open("on");
  await second.ended;
  const ids = [...first.frames, ...second.frames].map(({ id }) => Number(id!.split(":")[1]));
  expect(ids).toEqual(ids.map((_id, index) => ids[0]! + index));
  expect(getAnswer(toView([...first.frames, ...second.frames]))).toBe("Wait. Done.");
  // There is nothing more: a browser that is told so does not connect again.
  const third = await receive(url, { "last-event-id": second.frames.at(-1)!.id! });
  expect(third.status).toBe(204);
});

test.each(["of another process", "that is too long ago"])(
  "a client whose last event is %s gets the view first",
  async (which) => {
    const { agent } = await openAgent([[text("One.")], [text("word ".repeat(5_000))]]);
    const frames: Received["frames"] = [];
    await agent.run("Hi");
    const url = await serve(async (request, response) =>
      (await agent.resume(request.headers["last-event-id"] as string)).pipeTo(response),
    );
    const opened = await receive(url, { "last-event-id": "another:7" });
    await opened.ended;
    frames.push(...opened.frames);
    expect(frames.map(({ data }) => data.type)).toEqual(["view"]);
    if (which === "of another process") return expect(getAnswer(toView(frames))).toBe("One.");
    await agent.run("Tell me a story");
    const late = await receive(url, { "last-event-id": frames[0]!.id! });
    await late.ended;
    expect(late.frames.map(({ data }) => data.type)).toEqual(["view"]);
    expect(getAnswer(toView(late.frames))).toContain("word word");
  },
);

test("what is no id of an event is refused", async () => {
  const { agent } = await openAgent([]);
  for (const id of ["", "7", "a:b", "a:-1", "a\r\nb:1", `a:${"9".repeat(20)}`])
    await expect(agent.resume(id)).rejects.toMatchObject({ code: "invalid_input" });
});

test("a client that leaves aborts the run only if it was asked to", async () => {
  const gates = [createGate(), createGate()];
  const turns = [[call("gate")], [text("Done.")]];
  for (const [index, abortOnClose] of [false, true].entries()) {
    const { agent } = await openAgent([...turns], { customTools: [gates[index]!.tool] });
    const run = agent.stream("Hi");
    const url = await serve((_request, response) => run.pipeTo(response, { abortOnClose }));
    const client = await receive(url);
    await gates[index]!.entered;
    client.cut();
    if (!abortOnClose) gates[index]!.open("on");
    const { end } = await run.result();
    expect(end).toEqual(
      abortOnClose ? { kind: "aborted", by: "signal", reason: "the client closed the connection" } : { kind: "done" },
    );
  }
});

test("a client that does not read holds neither the run nor memory, and gets a view when it reads again", async () => {
  const { agent } = await openAgent([[text("lorem ipsum dolor ".repeat(60_000))], [text("Next.")]]);
  let piped: Promise<void> | undefined;
  const run = agent.stream("Hi");
  const url = await serve((_request, response) => (piped = run.pipeTo(response)));
  const request = get(url, { agent: false });
  const response = await new Promise<IncomingMessage>((resolve) => request.once("response", resolve));
  response.pause();
  expect((await run.result()).end).toEqual({ kind: "done" });
  let body = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
  response.resume();
  await new Promise((resolve) => response.once("end", resolve));
  await piped;
  const frames = body.split("\n\n").flatMap((frame) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    return data === undefined ? [] : [{ id: "", data: JSON.parse(data) as StreamedEvent }];
  });
  expect(frames.some(({ data }) => data.type === "view")).toBe(true);
  expect(getAnswer(toView(frames))).toBe("lorem ipsum dolor ".repeat(60_000));
});

test("comments keep an idle connection open", async () => {
  const gate = createGate();
  const clock = createFakeClock();
  const { agent } = await openAgent([[call("gate")], [text("Done.")]], { customTools: [gate.tool], clock });
  const run = agent.stream("Hi");
  const url = await serve((_request, response) => run.pipeTo(response, { keepAliveMs: 1_000 }));
  const client = await receive(url);
  await gate.entered;
  for (let count = 1; count <= 3; count++) {
    await clock.advance(1_000);
    await expect.poll(() => client.comments).toHaveLength(count);
  }
  gate.open("on");
  await client.ended;
});

test("a Response has the same frames, and its cancellation leaves the run alone", async () => {
  const { agent } = await openAgent([[text("One.")], [text("Two.")]]);
  const body = await agent.stream("Hi").toResponse({ keepAliveMs: 0 }).text();
  const frames = body.trimEnd().split("\n\n");
  expect(frames.every((frame) => /^id: [\w-]+:\d+\ndata: \{.*\}$/.test(frame))).toBe(true);
  expect(frames.at(-1)).toContain('"agent_end"');
  const run = agent.stream("Again");
  await run.toResponse().body!.cancel();
  expect((await run.result()).end).toEqual({ kind: "done" });
});

test("a host streams and resumes by the id of a session", async () => {
  const { model, cwd } = await openAgent([]);
  const host = createHost({
    agentDir: join(cwd, "agent"),
    params: { cwd, model, settingsManager: SettingsManager.inMemory({}), tools: [] },
  });
  onTestFinished(() => host.dispose());
  const sessionId = await host.create();
  model.add([text("Hello.")]);
  const events: SessionEvent[] = [];
  for await (const event of host.stream(sessionId, "Hi")) events.push(event);
  expect(events.at(-1)?.type).toBe("agent_end");
  const { epoch, seq } = host.get(sessionId).position;
  expect(host.resume(sessionId, `${epoch}:${seq}`).toResponse().status).toBe(204);
  expect(() => host.resume("nobody")).toThrow(/not open/);
});

test("a client that leaves a stream that could not start ends no other run, and rejects nothing", async () => {
  const gate = createGate();
  const { agent } = await openAgent([[call("gate")], [text("Done.")]], { customTools: [gate.tool] });
  const first = agent.stream("Hi");
  await gate.entered;
  const second = agent.stream("Me too");
  await expect(second.result()).rejects.toMatchObject({ code: "busy" });
  await second.toResponse({ abortOnClose: true }).body!.cancel();
  const { cwd } = await openAgent([]);
  const broken = createAgent({ ai: toAI(scriptedModel([])), cwd, agentDir: join(cwd, "agent"), tools: ["nothing"] });
  await broken.stream("Hi").toResponse({ abortOnClose: true }).body!.cancel();
  gate.open("on");
  expect((await first.result()).end).toEqual({ kind: "done" });
});

test("a Response that is cancelled while nobody reads leaves no subscription behind", async () => {
  const { cwd, model } = await openAgent([]);
  const host = createHost({
    agentDir: join(cwd, "agent"),
    params: { cwd, model, settingsManager: SettingsManager.inMemory({}), tools: [] },
  });
  onTestFinished(() => host.dispose());
  const sessionId = await host.create();
  model.add([text("word ".repeat(200))]);
  const hosted = host.get(sessionId);
  const stops: string[] = [];
  const subscribe = hosted.subscribe.bind(hosted);
  hosted.subscribe = (...listening) => {
    stops.push("open");
    const stop = subscribe(...listening);
    return () => {
      stops.push("closed");
      stop();
    };
  };
  const run = host.stream(sessionId, "Hi");
  const { body } = run.toResponse({ keepAliveMs: 0 });
  const reader = body!.getReader();
  await reader.read();
  await run.result();
  await reader.cancel();
  await expect.poll(() => stops).toEqual(["open", "closed"]);
});

test("a connection that is closed already is written to no more, and aborts the run if that was asked for", async () => {
  const gate = createGate();
  const { agent } = await openAgent([[call("gate")], [text("Done.")]], { customTools: [gate.tool] });
  const run = agent.stream("Hi");
  await gate.entered;
  let piped: Promise<void> | undefined;
  const url = await serve((request, response) => {
    request.socket.once("close", () => setImmediate(() => (piped = run.pipeTo(response, { abortOnClose: true }))));
    request.socket.destroy();
  });
  await expect(receive(url)).rejects.toThrow("socket hang up");
  await expect.poll(() => piped !== undefined).toBe(true);
  await piped;
  expect((await run.result()).end).toMatchObject({ kind: "aborted", by: "signal" });
});

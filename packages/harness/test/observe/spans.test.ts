/** Spans as an SDK exports them, against the table of spans in `spans.json`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { context, diag, DiagLogLevel, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { type AssistantMessage, emptyUsage, type Model } from "@tau/ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { findTracer } from "../../src/observe/opentelemetry.ts";
import type { RunSpan, Tracer } from "../../src/observe/trace.ts";

const content = "PRIVATE";

const model = (provider: string, id: string, baseUrl: string): Model => ({
  id,
  name: content,
  api: "openai-completions",
  provider,
  baseUrl,
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000,
  maxTokens: 100,
  headers: { authorization: content },
});

const gemini = model(
  "google",
  "gemini-2.5-pro",
  "https://me:PRIVATE@generativelanguage.googleapis.com/v1beta?k=PRIVATE",
);
const grok = model("xai", "grok-4", "http://127.0.0.1:8080/v1");

const answer = (from: Model, more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: content }],
  api: from.api,
  provider: from.provider,
  model: from.id,
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 0,
  ...more,
});

const overloaded = { kind: "overloaded", message: content, status: 529 } as const;

/** A real SDK for the length of a test. `spans` are those that have ended, in the order they began. */
function useSdk() {
  const exporter = new InMemorySpanExporter();
  const began: string[] = [];
  const watch: SpanProcessor = {
    onStart: (span) => void began.push(span.spanContext().spanId),
    onEnd: () => undefined,
    shutdown: () => Promise.resolve(),
    forceFlush: () => Promise.resolve(),
  };
  const provider = new BasicTracerProvider({ spanProcessors: [watch, new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  const place = (span: ReadableSpan) => began.indexOf(span.spanContext().spanId);
  return { provider, spans: () => [...exporter.getFinishedSpans()].sort((a, b) => place(a) - place(b)) };
}

/** Collects the SDK's complaints during a test, and ours to it. */
function hearSdk(): unknown[] {
  const heard: unknown[] = [];
  const hear = (...said: unknown[]) => void heard.push(said);
  diag.setLogger({ error: hear, warn: hear, info: hear, debug: hear, verbose: hear }, DiagLogLevel.WARN);
  onTestFinished(() => diag.disable());
  heard.length = 0;
  return heard;
}

async function tracer(): Promise<Tracer> {
  const found = await findTracer({ enabled: true });
  if (!found) throw new Error("There is no tracer.");
  return found;
}

/** Formats spans like the table: parents by name. */
function table(spans: readonly ReadableSpan[]) {
  const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans.map((span) => ({
    name: span.name,
    kind: SpanKind[span.kind],
    parent: names.get(span.parentSpanContext?.spanId ?? "") ?? null,
    status: SpanStatusCode[span.status.code],
    attributes: span.attributes,
    events: span.events.map(({ name, attributes }) => ({ name, attributes })),
  }));
}

function wholeRun(run: RunSpan) {
  const failed = answer(gemini, { stopReason: "error", errorMessage: content, failure: overloaded });
  run.request(gemini).end(failed);
  run.retry(1, 2_000, overloaded);
  run.request(gemini).end(
    answer(gemini, {
      responseModel: "gemini-2.5-pro-002",
      responseId: "response-1",
      rawStopReason: "STOP",
      stopReason: "toolUse",
      usage: { ...emptyUsage(), input: 1_000, output: 70, cacheWrite: 13, reasoning: 50 },
    }),
  );
  const read = run.tool({ id: "call-1", name: "read", description: "Read a file" });
  const bash = run.tool({ id: "call-2", name: "bash" });
  bash.end({ isError: true, message: content });
  read.end({ isError: false, message: content });
  run.request(grok).end(answer(grok, { usage: { ...emptyUsage(), input: 300, output: 7, cacheRead: 900 } }));
  run.end("no_tool_calls", "budget_turns");
}

describe("with an SDK", () => {
  test("the span of a nested call is a child of its parent's", async () => {
    const { spans } = useSdk();
    const run = (await tracer()).run({ sessionId: "session-1", model: gemini });
    const outer = run.tool({ id: "call-1", name: "outer" });
    const inner = run.tool({ id: "call-1/1", name: "inner", parentId: "call-1" });
    const deepest = run.tool({ id: "call-1/1/1", name: "deepest", parentId: "call-1/1" });
    for (const span of [deepest, inner, outer]) span.end({ isError: false });
    run.tool({ id: "call-2/1", name: "late", parentId: "call-1" }).end({ isError: false });
    run.end("no_tool_calls", undefined);
    const parents = table(spans()).map(({ name, parent }) => [name, parent]);
    const nameRun = parents.find(([, parent]) => parent === null)![0];
    expect(parents.filter(([, parent]) => parent !== null).sort()).toEqual(
      [
        ["execute_tool outer", nameRun],
        ["execute_tool inner", "execute_tool outer"],
        ["execute_tool deepest", "execute_tool inner"],
        ["execute_tool late", nameRun],
      ].sort(),
    );
  });

  test("a run's spans and their attributes are those of the table, and have no content", async () => {
    const { provider, spans } = useSdk();
    const found = await tracer();
    provider.getTracer("caller").startActiveSpan("the caller's span", (span) => {
      wholeRun(found.run({ sessionId: "session-1", model: gemini }));
      span.end();
    });
    const [caller, ...ours] = table(spans());
    expect(caller).toMatchObject({ name: "the caller's span", parent: null });
    expect(ours).toEqual(JSON.parse(readFileSync(join(import.meta.dirname, "spans.json"), "utf8")));
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1);
    const all = spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    expect(JSON.stringify(all)).not.toContain(content);
  });

  test("a key that a server or a model sends back as a name is removed from all spans", async () => {
    const { spans } = useSdk();
    const found = await findTracer({ enabled: true, redact: (text) => text.replaceAll("key-0123456789", "[secret]") });
    const run = found!.run({ sessionId: "session-1", model: gemini });
    const echo = { responseId: "id key-0123456789", rawStopReason: "key-0123456789", responseModel: "key-0123456789" };
    run.request(gemini).end(answer(gemini, echo));
    run.tool({ id: "key-0123456789", name: "key-0123456789" }).end({ isError: false, message: "" });
    run.end("no_tool_calls", "key-0123456789");
    const all = JSON.stringify(spans().map(({ name, attributes }) => ({ name, attributes })));
    expect(all).toContain("id [secret]");
    expect(all).not.toContain("key-0123456789");
  });

  test("spans of work within a run are its children, also after an await, and the caller's span is active again outside", async () => {
    const { provider, spans } = useSdk();
    const run = (await tracer()).run({ sessionId: "s", agentName: "reviewer", model: grok });
    const result = run.within(async () => {
      await Promise.resolve();
      provider.getTracer("tool").startSpan("inner").end();
      (await tracer()).run({ sessionId: "child", model: grok }).end("no_tool_calls", undefined);
      return 7;
    });
    expect(trace.getActiveSpan()).toBeUndefined();
    expect(await result).toBe(7);
    expect(() =>
      run.within(() => {
        throw new RangeError("its own");
      }),
    ).toThrow(RangeError);
    run.end("no_tool_calls", undefined);
    expect(table(spans()).map(({ name, parent }) => [name, parent])).toEqual([
      ["invoke_agent reviewer", null],
      ["inner", "invoke_agent reviewer"],
      ["invoke_agent tau", "invoke_agent reviewer"],
    ]);
  });

  test.each([
    ["error", "rate_limited"],
    ["abort_signal", "abort_signal"],
    ["timeout_48h", "timeout_48h"],
    ["idle_timeout_120s", "idle_timeout_120s"],
    ["gateway_disconnected", "gateway_disconnected"],
  ] as const)("a run that ends for %s says %s", async (reason, type) => {
    const { spans } = useSdk();
    const run = (await tracer()).run({ sessionId: "s", model: grok });
    if (reason === "error")
      run.request(grok).end(answer(grok, { stopReason: "error", failure: { kind: "rate_limited", message: content } }));
    run.end(reason, "prose that a provider wrote");
    const [span] = table(spans()).filter(({ name }) => name.startsWith("invoke_agent"));
    expect(span).toMatchObject({ status: "ERROR", attributes: { "error.type": type, "tau.run.end_reason": reason } });
    expect(span!.attributes).not.toHaveProperty("tau.run.end_detail");
  });

  test("every span is ended exactly once, also if an end is missing or called twice", async () => {
    const { spans } = useSdk();
    const heard = hearSdk();
    const run = (await tracer()).run({ sessionId: "s", model: grok });
    const request = run.request(grok);
    run.tool({ id: "1", name: "n".repeat(10_000) });
    request.end(answer(grok));
    request.end(answer(grok, { stopReason: "error", failure: overloaded }));
    run.end("no_tool_calls", undefined);
    run.end("error", undefined);
    request.end(answer(grok));
    expect(table(spans()).map(({ status, attributes }) => [status, attributes["error.type"]])).toEqual([
      ["UNSET", undefined],
      ["UNSET", undefined],
      ["ERROR", "unfinished"],
    ]);
    expect(Math.max(...spans().map(({ name }) => name.length))).toBeLessThan(200);
    // An SDK complains of a span that is touched after its end.
    expect(heard).toEqual([]);
  });

  test("an address with placeholders is left out", async () => {
    const { spans } = useSdk();
    const run = (await tracer()).run({ sessionId: "s", model: grok });
    run.request(model("amazon-bedrock", "m", "https://bedrock.{AWS_REGION}.amazonaws.com")).end(answer(grok));
    run.request(model("mistral", "m", "http://[::1]/v1")).end(answer(grok));
    const [bedrock, local] = table(spans());
    expect(bedrock!.attributes).toMatchObject({ "gen_ai.provider.name": "aws.bedrock" });
    expect(bedrock!.attributes).not.toHaveProperty("server.address");
    expect(local!.attributes).toMatchObject({
      "server.address": "::1",
      "server.port": 80,
      "gen_ai.provider.name": "mistral_ai",
    });
  });

  test("a turn costs little", async () => {
    trace.setGlobalTracerProvider(new BasicTracerProvider());
    onTestFinished(() => trace.disable());
    const run = (await tracer()).run({ sessionId: "s", model: gemini });
    const turns = (count: number) => {
      const before = process.cpuUsage();
      for (let turn = 0; turn < count; turn++) {
        run.request(gemini).end(answer(gemini));
        run.tool({ id: "1", name: "read" }).end({ isError: false });
      }
      const { user, system } = process.cpuUsage(before);
      return (user + system) / count;
    };
    // About 100 µs, where nothing else runs.
    expect(Math.min(turns(1_000), turns(1_000), turns(1_000)), "microseconds").toBeLessThan(3_000);
  });
});

describe("without one, or with a bad one", () => {
  test("there is no tracer when it is off, or nothing is registered", async () => {
    expect(await findTracer({ enabled: true })).toBeUndefined();
    useSdk();
    expect(await findTracer({ enabled: false })).toBeUndefined();
    expect(await findTracer({ enabled: true })).toBeDefined();
  });

  const boom = () => {
    throw new Error("SDK");
  };
  const badSpan = new Proxy({}, { get: boom });
  const sdks: [string, unknown][] = [
    ["refuses to give a tracer", { getTracer: boom }],
    ["gives no tracer", { getTracer: () => undefined }],
    ["refuses to start a span", { getTracer: () => ({ startSpan: boom }) }],
    ["starts nothing", { getTracer: () => ({ startSpan: () => undefined }) }],
    ["starts a span that throws at every touch", { getTracer: () => ({ startSpan: () => badSpan }) }],
    ["starts a promise", { getTracer: () => ({ startSpan: () => Promise.reject(new Error("SDK")) }) }],
  ];
  test.each(sdks)("an SDK that %s does not disturb the run", async (_what, provider) => {
    const heard = hearSdk();
    trace.setGlobalTracerProvider(provider as BasicTracerProvider);
    onTestFinished(() => trace.disable());
    const found = await findTracer({ enabled: true });
    const run = found?.run({ sessionId: "s", model: grok });
    if (run) {
      wholeRun(run);
      expect(run.within(() => 7)).toBe(7);
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard.length).toBeLessThan(3);
  });

  test.each([
    ["throws", boom],
    ["throws afterwards", (work: () => unknown) => (work(), boom())],
    ["does not do the work", () => 8],
    ["does the work twice", (work: () => unknown) => (work(), work())],
    ["gives something else", (work: () => unknown) => (work(), 8)],
  ])("work within a run is done once, although a manager of contexts %s", async (_what, run) => {
    useSdk();
    context.disable();
    const manager = new AsyncLocalStorageContextManager();
    manager.with = ((_context: unknown, work: () => unknown) => run(work)) as typeof manager.with;
    context.setGlobalContextManager(manager);
    const ours = (await tracer()).run({ sessionId: "s", model: grok });
    let times = 0;
    expect(ours.within(() => ++times)).toBe(1);
    ours.end("no_tool_calls", undefined);
    expect(times).toBe(1);
  });
});

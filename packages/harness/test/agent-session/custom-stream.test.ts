/** Tests the obligations of a run to the function that asks the model, whoever wrote it. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StreamFn } from "@tau/agent";
import { AssistantMessageEventStream, createAI, emptyUsage, type SimpleStreamOptions, type Usage } from "@tau/ai";
import { call, type ScriptedAnswer, startWireServer, text, type WireReply } from "@tau/ai/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { createAgent } from "../../src/construct/create-agent.ts";
import { openDesk, temporaryDirectory } from "./desk.ts";

const settings = {
  retry: { maxRetries: 3, baseDelayMs: 1 },
  transport: "sse",
  thinkingBudgets: { low: 2_000 },
} as const;

/** A stream function of a caller that knows no kinds of failures: it reports a text, or answers. */
function createStreamFn(errorMessages: readonly string[]) {
  const requests: SimpleStreamOptions[] = [];
  const streamFn: StreamFn = ({ api, provider, id }, _context, options = {}) => {
    const errorMessage = errorMessages[requests.length];
    requests.push(options);
    const stream = new AssistantMessageEventStream();
    stream.end({
      role: "assistant",
      content: errorMessage === undefined ? [{ type: "text", text: "Here." }] : [],
      api,
      provider,
      model: id,
      usage: emptyUsage(),
      stopReason: errorMessage === undefined ? "stop" : "error",
      ...(errorMessage !== undefined && { errorMessage }),
      timestamp: 0,
    });
    return stream;
  };
  return { streamFn, requests };
}

test("a question that createAgent cannot get answered is asked as often as the settings say, and no more", async () => {
  const replies = Array.from({ length: 12 }, (): WireReply => ({ kind: "status", status: 529 }));
  const server = await startWireServer("anthropic-messages", replies);
  onTestFinished(() => server.close());
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "agent"));
  await writeFile(join(cwd, "agent", "settings.json"), JSON.stringify(settings));
  const config = { baseUrl: server.url };
  const ai = createAI({ provider: "anthropic", model: "claude-sonnet-4-5", apiKey: "test-key-0123456789", config });
  const agent = createAgent({ ai, cwd, agentDir: join(cwd, "agent") });
  onTestFinished(() => agent.dispose());
  await expect(agent.run("Hello?")).rejects.toMatchObject({ code: "run_failed" });
  expect(server.requests).toHaveLength(4);
});

test.each<[string, ScriptedAnswer, string]>([
  ["a budget", { content: [call("ls")] }, "budget_turns"],
  ["the length of the answer", { content: [text("The beg")], stopReason: "length" }, "length"],
])("createAgent does not answer with what was said when %s ended the run", async (_limit, answer, detail) => {
  const server = await startWireServer("anthropic-messages", [{ kind: "answer", answer }]);
  onTestFinished(() => server.close());
  const cwd = await temporaryDirectory();
  const config = { baseUrl: server.url };
  const ai = createAI({ provider: "anthropic", model: "claude-sonnet-4-5", apiKey: "test-key-0123456789", config });
  const agent = createAgent({ ai, cwd, agentDir: join(cwd, "agent"), budgets: { turns: 1 } });
  onTestFinished(() => agent.dispose());
  await expect(agent.run("Hello?")).rejects.toMatchObject({
    code: "run_failed",
    message: expect.stringContaining(detail) as string,
  });
});

test("a caller's stream function gets the limits, the session and the settings of the run", async () => {
  const { streamFn, requests } = createStreamFn([]);
  const { session } = await openDesk([], { streamFn, settings });
  await session.prompt("Hello?");
  expect(requests[0]).toMatchObject({
    maxRetries: 0,
    idleTimeoutMs: 120_000,
    sessionId: session.sessionId,
    transport: "sse",
    thinkingBudgets: { low: 2_000 },
  });
});

test("how long a cache keeps what was sent comes from the settings, else from pi's variable", async () => {
  const ask = async (chosen: object) => {
    const { streamFn, requests } = createStreamFn([]);
    const { session } = await openDesk([], { streamFn, settings: { ...settings, ...chosen } });
    await session.prompt("Hello?");
    return (requests[0] as { cacheRetention?: string }).cacheRetention;
  };
  vi.stubEnv("PI_CACHE_RETENTION", "long");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await ask({})).toBe("long");
  expect(await ask({ cacheRetention: "none" })).toBe("none");
  vi.stubEnv("PI_CACHE_RETENTION", "");
  expect(await ask({})).toBeUndefined();
});

test.each<[string, unknown]>([
  ["throws a text", new Error("503 overloaded")],
  ["throws a status", Object.assign(new Error("Too busy."), { status: 429 })],
  ["throws a status of another name", Object.assign(new Error("Too busy."), { statusCode: 529 })],
  ["throws a code", Object.assign(new Error("Too busy."), { code: "rate_limit_exceeded" })],
  ["throws a cause with a status", new Error("It failed.", { cause: Object.assign(new Error("x"), { status: 503 }) })],
])("a stream function that %s is asked again like one that reports it", async (_how, error) => {
  const { streamFn, requests } = createStreamFn([]);
  let failures = 0;
  const failing = (isAsync: boolean): StreamFn => {
    return (...request) => {
      if (failures++ > 0) return streamFn(...request);
      if (!isAsync) throw error;
      return Promise.reject(error);
    };
  };
  for (const isAsync of [false, true]) {
    failures = 0;
    const { session } = await openDesk([], { streamFn: failing(isAsync), settings });
    expect(await session.prompt("Hello?")).toMatchObject({ terminationReason: "no_tool_calls" });
  }
  expect(requests).toHaveLength(2);
});

test("an AI of a caller that throws is asked again by createAgent", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "agent"));
  await writeFile(join(cwd, "agent", "settings.json"), JSON.stringify(settings));
  const ai = createAI({ provider: "anthropic", model: "claude-sonnet-4-5", apiKey: "test-key-0123456789" });
  const { streamFn } = createStreamFn([]);
  let asked = 0;
  const streamSimple: typeof ai.streamSimple = (context, options) => {
    if (asked++ === 0) throw new Error("529 overloaded");
    return streamFn(ai.model, context, options) as AssistantMessageEventStream;
  };
  const agent = createAgent({ ai: { ...ai, streamSimple }, cwd, agentDir: join(cwd, "agent") });
  onTestFinished(() => agent.dispose());
  expect(await agent.run("Hello?")).toBe("Here.");
  expect(asked).toBe(2);
});

test("a failure that a stream function reports only as text is retried if it may pass, and otherwise not", async () => {
  const passing = createStreamFn(["Overloaded", "429 Too Many Requests", "fetch failed"]);
  const first = await openDesk([], { streamFn: passing.streamFn, settings });
  expect(await first.session.prompt("Hello?")).toMatchObject({ terminationReason: "no_tool_calls" });
  expect(passing.requests).toHaveLength(4);

  const lasting = createStreamFn(["Incorrect API key provided"]);
  const second = await openDesk([], { streamFn: lasting.streamFn, settings });
  expect(await second.session.prompt("Hello?")).toMatchObject({ terminationReason: "error", detail: "auth" });
  expect(lasting.requests).toHaveLength(1);
});

test("the tokens of a run are counted also if a stream function reports no total", async () => {
  const { session, events } = await openDesk([], {
    streamFn: ({ api, provider, id: model }) => {
      const stream = new AssistantMessageEventStream();
      const usage = { input: 3, output: 4 } as Usage;
      const content = [text("Here.")];
      stream.end({ role: "assistant", content, api, provider, model, usage, stopReason: "stop", timestamp: 0 });
      return stream;
    },
  });
  await session.prompt("Hello?");
  expect(events.find(({ type }) => type === "agent_end")).toMatchObject({ totalTokens: 7 });
});

import { Type } from "typebox";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  type ApiProvider,
  type AssistantMessage,
  type Context,
  emptyUsage,
  streamSimple as streamWithProvider,
  type Tool,
} from "@tau/ai";
import { replaceApi } from "@tau/ai/internal";
import { scriptedModel, startWireServer, text } from "@tau/ai/testing";
import { runToolCall } from "../run-tool-call.ts";
import { Agent, setDefaultStreamFn } from "../pi-agent-core.ts";
import { envApiKeyAuth, InMemoryCredentialStore } from "./auth.ts";
import { builtinProviders, getBuiltinModel } from "./catalog.ts";
import { findEnvKeys, getEnvApiKey } from "./env-keys.ts";
import { fauxAssistantMessage, fauxProvider, fauxText, fauxToolCall, registerFauxProvider } from "./faux.ts";
import {
  formatUserAgent,
  getAttributionHeaders,
  mergeClientIdentity,
  PI_ATTRIBUTION,
  withClientIdentity,
} from "./identity.ts";
import { parseJsonWithRepair, parseToolCallArguments, repairJson, ToolCallArgumentsStream } from "./json.ts";
import { lazyStream } from "./lazy.ts";
import { createModels } from "./model-collection.ts";
import { createProvider } from "./provider.ts";
import { isRetryableAssistantError, retryAssistantCall, retryDelayMs } from "./retry.ts";
import { extractRetryDelay } from "./retry-delay.ts";
import { completeSimple, getApiProvider, openAICompletionsApi, streamSimple } from "./streams.ts";
import { supportsXhigh } from "./thinking.ts";
import { validateToolArguments, validateToolCall } from "./validate.ts";
import {
  getDeclaredTools,
  getToolStateChanges,
  hasNonAdditiveToolChanges,
  resolveTranscriptTools,
} from "./tool-declarations.ts";
import {
  collapseSystemMessages,
  getCurrentSystemPrompt,
  getCurrentTools,
  normalizeContext,
  renderSystemMessageUpdate,
  type SystemMessage,
  toContext,
} from "./transcript.ts";
import { uuidv7 } from "./uuid.ts";

const tool = (name: string, description = ""): Tool => ({ name, description, parameters: { type: "object" } });
const system = (content: string, more: Partial<SystemMessage> = {}): SystemMessage => ({
  role: "system",
  content,
  timestamp: 1,
  ...more,
});
const user = { role: "user" as const, content: "hi", timestamp: 2 };

describe("transcripts", () => {
  const messages = [
    system("Base.", { sections: { style: "Be brief.", date: "Monday" }, toolsAdded: [tool("a"), tool("b")] }),
    user,
    system("More.", {
      sections: { date: "Tuesday", style: null },
      toolsRemoved: [{ name: "a" }],
      toolsAdded: [tool("c")],
    }),
  ];

  test("replaying system messages gives the current prompt and tools", () => {
    expect(getCurrentSystemPrompt(messages)).toBe("Base.\n\nMore.\n\nTuesday");
    expect(getCurrentTools(messages).map(({ name }) => name)).toEqual(["b", "c"]);
    expect(collapseSystemMessages({ messages }).messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(renderSystemMessageUpdate(messages[2] as SystemMessage)).toContain('The section "date"');
    expect(getCurrentSystemPrompt([user])).toBe("");
  });

  test("a request of tau has the prompt and the tools beside the messages, and back", () => {
    expect(toContext({ messages })).toEqual({
      systemPrompt: "Base.\n\nMore.\n\nTuesday",
      tools: [tool("b"), tool("c")],
      messages: [user],
    });
    const context: Context = { systemPrompt: "P", tools: [tool("a")], messages: [user] };
    expect(toContext(normalizeContext(context))).toEqual(context);
    expect(toContext({ messages: [user] })).toEqual({ messages: [user] });
  });

  test("changes of tools are found", () => {
    expect(getToolStateChanges([tool("a"), tool("b")], [tool("a", "new"), tool("b")])).toEqual({
      toolsAdded: [tool("a", "new")],
      toolsRemoved: [{ name: "a" }],
    });
    expect(getDeclaredTools(messages).map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(hasNonAdditiveToolChanges(messages)).toBe(true);
    expect(resolveTranscriptTools(messages, "additions")).toMatchObject({ foldedSystemMessages: 2 });
    expect(resolveTranscriptTools(messages, "changes")).toEqual({ requestTools: [], foldedSystemMessages: 0 });
  });

  test("a transcript is sent to a model of tau", async () => {
    const model = scriptedModel([[text("ok")]]);
    const answer = await completeSimple(model, { messages } as unknown as Context);
    expect(answer.content).toEqual([text("ok")]);
    expect(model.asked[0]!.context).toMatchObject({ systemPrompt: "Base.\n\nMore.\n\nTuesday", messages: [user] });
    model.dispose();
  });
});

describe("JSON of models", () => {
  test("raw control characters and wrong escapes are repaired", () => {
    expect(parseJsonWithRepair('{"a":"x\ny\\d"}')).toEqual({ a: "x\ny\\d" });
    expect(repairJson('{"a":"\\u00e9\\n"}')).toBe('{"a":"\\u00e9\\n"}');
    expect(() => parseJsonWithRepair("{")).toThrow("JSON");
  });

  test("arguments that are not an object say why", () => {
    expect(parseToolCallArguments("")).toEqual({ arguments: {} });
    expect(parseToolCallArguments("[1]")).toMatchObject({
      arguments: {},
      argumentsError: expect.stringContaining("[1]"),
    });
    expect(parseToolCallArguments('{"a"')).toMatchObject({ argumentsError: expect.stringContaining("not valid JSON") });
  });

  test("arguments are shown while they arrive", () => {
    const stream = new ToolCallArgumentsStream();
    const first = stream.append('{"path":"a');
    expect(first).toEqual({ path: "a" });
    expect(stream.append('.ts","n":1}')).toEqual({ path: "a.ts", n: 1 });
    expect(first).toEqual({ path: "a" });
    expect(stream.replace('{"path":"a.ts","n":1} ')).toMatchObject({ delta: " " });
    expect(stream.replace('{"other":2}')).toEqual({ delta: undefined, arguments: { other: 2 } });
    expect(stream.finish()).toEqual({ arguments: { other: 2 } });
  });
});

describe("requests", () => {
  test.each([
    ["the built-in API", () => openAICompletionsApi().streamSimple],
    ["the API by its name", () => getApiProvider("openai-completions")!.streamSimple],
    ["the model", () => streamSimple],
  ])("a provider that replaces a built-in API can pass its requests on to %s", async (_to, getNext) => {
    const server = await startWireServer("openai-completions", [
      { kind: "answer", answer: { content: [text("Hi.")] } },
    ]);
    onTestFinished(() => server.close());
    const own: ApiProvider["streamSimple"] = (model, context, options) => getNext()(model, context, options);
    onTestFinished(replaceApi("wrapped", { api: "openai-completions", stream: own, streamSimple: own }));
    const model = { ...getBuiltinModel("openai", "gpt-4o")!, api: "openai-completions", provider: "wrapped" };
    const request = streamWithProvider({ ...model, baseUrl: server.url }, { messages: [user] }, { apiKey: "k" });
    expect((await request.result()).content).toMatchObject([{ text: "Hi." }]);
  });

  test("one that may succeed later is sent again", async () => {
    const overloaded = fauxAssistantMessage("", { stopReason: "error", errorMessage: "529 overloaded_error" });
    const answers = [overloaded, fauxAssistantMessage("ok")];
    const seen: unknown[] = [];
    const policy = { enabled: true, maxRetries: 3, baseDelayMs: 1 };
    const message = await retryAssistantCall(async () => answers.shift()!, policy, undefined, {
      onRetryScheduled: (attempt) => seen.push(attempt),
      onRetryFinished: (isSuccess) => seen.push(isSuccess),
    });
    expect(message.content).toEqual([fauxText("ok")]);
    expect(seen).toEqual([1, true]);
    expect(
      isRetryableAssistantError(fauxAssistantMessage("", { stopReason: "error", errorMessage: "401 bad key" })),
    ).toBe(false);
    expect([1, 2, 9].map((attempt) => retryDelayMs({ baseDelayMs: 1_000 }, attempt))).toEqual([1_000, 2_000, 60_000]);
  });

  test("an abort while it waits ends it as aborted", async () => {
    const failed = fauxAssistantMessage("", { stopReason: "error", errorMessage: "Overloaded" });
    const policy = { enabled: true, maxRetries: 3, baseDelayMs: 60_000 };
    const message = await retryAssistantCall(async () => failed, policy, AbortSignal.abort());
    expect(message.stopReason).toBe("aborted");
  });

  test("a stream whose preparation fails ends with the error", async () => {
    const model = getBuiltinModel("anthropic", "claude-sonnet-4-5")!;
    const stream = lazyStream(model, async () => {
      throw new Error("no key");
    });
    expect(await stream.result()).toMatchObject({ stopReason: "error", errorMessage: "no key" });
  });

  test("a registered provider answers until it is unregistered", async () => {
    const faux = registerFauxProvider({ api: "faux-test" });
    faux.setResponses([
      fauxAssistantMessage([fauxText("calling"), fauxToolCall("ls", { path: "." }, { id: "1" })], {
        stopReason: "toolUse",
      }),
    ]);
    const events = [];
    const stream = streamSimple(faux.getModel()!, { messages: [user] });
    for await (const event of stream) events.push(event.type);
    expect(events).toEqual([
      "start",
      "text_start",
      "text_delta",
      "text_end",
      "toolcall_start",
      "toolcall_delta",
      "toolcall_end",
      "done",
    ]);
    faux.unregister();
    expect(getApiProvider("faux-test")).toBeUndefined();
  });

  test("two faux providers answer for themselves, and each is unregistered alone", async () => {
    const [first, second] = [registerFauxProvider(), registerFauxProvider()];
    first.setResponses([fauxAssistantMessage("first")]);
    second.setResponses([fauxAssistantMessage("second"), fauxAssistantMessage("again")]);
    const ask = (faux: typeof first) => streamSimple(faux.getModel()!, { messages: [user] }, { onResponse }).result();
    const onResponse = vi.fn();
    expect((await ask(first)).content).toEqual([fauxText("first")]);
    expect((await ask(second)).content).toEqual([fauxText("second")]);
    first.unregister();
    expect((await ask(second)).content).toEqual([fauxText("again")]);
    second.unregister();
    expect(getApiProvider(second.api)).toBeUndefined();
    expect(onResponse.mock.calls[0]).toEqual([{ status: 200, headers: {} }, first.getModel()]);
    expect(first.getModel()!.name).toBe("Faux Model");
  });

  test("a faux answer is sent in pieces and has the usage that its texts suggest", async () => {
    const faux = registerFauxProvider({ api: "faux-usage", tokenSize: { min: 2 } });
    faux.setResponses([
      fauxAssistantMessage("seventeen letters"),
      fauxAssistantMessage("b"),
      fauxAssistantMessage("c"),
    ]);
    const ask = async (sessionId: string) => {
      const stream = streamSimple(faux.getModel()!, { systemPrompt: "short", messages: [user] }, { sessionId });
      const deltas: string[] = [];
      for await (const event of stream) if (event.type === "text_delta") deltas.push(event.delta);
      return { deltas, usage: (await stream.result()).usage };
    };
    const first = await ask("one");
    expect(first.deltas).toEqual(["seventee", "n letter", "s"]);
    expect(first.usage.output).toBe(5);
    expect(first.usage.cacheWrite).toBe(first.usage.input);
    expect((await ask("one")).usage).toMatchObject({ input: 0, cacheRead: first.usage.input, cacheWrite: 0 });
    expect((await ask("two")).usage).toMatchObject({ cacheRead: 0, cacheWrite: first.usage.input });
    expect((await streamSimple(faux.getModel()!, { messages: [user] }).result()).errorMessage).toContain(
      "No more faux responses queued",
    );
    faux.unregister();
  });

  test("a faux answer that is aborted has what was sent until then", async () => {
    const faux = registerFauxProvider({ api: "faux-abort" });
    const call = fauxToolCall("ls", { path: "." });
    faux.setResponses([
      fauxAssistantMessage([fauxText("first"), fauxText("x".repeat(20_000)), call]),
      fauxAssistantMessage("b"),
    ]);
    const abort = new AbortController();
    const stream = streamSimple(faux.getModel()!, { messages: [user] }, { signal: abort.signal });
    const lengths: number[] = [];
    for await (const event of stream) {
      if (event.type !== "text_delta" || event.contentIndex === 0) continue;
      lengths.push((event.partial.content[1] as { text: string }).text.length);
      abort.abort();
    }
    const answer = await stream.result();
    expect(lengths[0]).toBe(12);
    expect(answer).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
    expect(answer.content).toEqual([fauxText("first"), fauxText("x".repeat(lengths.at(-1)!))]);
    expect(lengths.at(-1)).toBeLessThan(20_000);
    const again = await streamSimple(faux.getModel()!, { messages: [user] }, { signal: abort.signal }).result();
    expect(again).toMatchObject({ stopReason: "aborted", content: [] });
    faux.unregister();
  });
});

describe("collections of models", () => {
  test("find the provider and its credential for each request", async () => {
    const credentials = new InMemoryCredentialStore();
    const models = createModels({
      credentials,
      authContext: { env: async () => undefined, fileExists: async () => false },
    });
    const faux = fauxProvider({ provider: "faux" });
    const keys: unknown[] = [];
    faux.setResponses([
      (_context, options) => (keys.push((options as { apiKey?: string }).apiKey), fauxAssistantMessage("hi")),
    ]);
    const model = faux.getModel()!;
    const api = { stream: faux.stream, streamSimple: faux.streamSimple };
    models.setProvider(
      createProvider({ id: "faux", auth: { apiKey: envApiKeyAuth("Faux", ["FAUX_KEY"]) }, models: [model], api }),
    );
    expect(await models.getAvailable()).toEqual([]);
    await models.login("faux", "api_key", { prompt: async () => "typed" });
    expect(await models.getAvailable()).toEqual([model]);
    expect((await models.completeSimple(model, { messages: [user] })).content).toEqual([fauxText("hi")]);
    expect(keys).toEqual(["typed"]);
    await models.logout("faux");
    expect(await models.getAuth(model)).toBeUndefined();
    const unknown = await models.complete({ ...model, provider: "gone" }, { messages: [user] });
    expect(unknown.errorMessage).toContain("gone");
  });

  test("a token that has expired is renewed once", async () => {
    const credentials = new InMemoryCredentialStore();
    let renewals = 0;
    const oauth = {
      name: "Acme",
      login: async () => ({ type: "oauth" as const, access: "old", refresh: "r", expires: 0 }),
      refresh: async () => ({
        type: "oauth" as const,
        access: `new-${++renewals}`,
        refresh: "r",
        expires: Date.now() + 60_000,
      }),
      toAuth: async ({ access }: { access: string }) => ({ apiKey: access }),
    };
    const models = createModels({ credentials });
    const faux = fauxProvider({ provider: "acme" });
    models.setProvider({ ...(faux.provider as object), auth: { oauth } } as never);
    await models.login("acme", "oauth", {});
    const all = await Promise.all([models.getAuth("acme"), models.getAuth("acme")]);
    expect(all.map((auth) => auth?.auth.apiKey)).toEqual(["new-1", "new-1"]);
  });

  test("requests of a collection with an identity have its headers, and its other members work", async () => {
    const models = createModels();
    const named = withClientIdentity(models, { userAgent: { custom: "mine" }, version: "2" });
    const faux = fauxProvider();
    named.setProvider(faux.provider);
    expect(named.getModels()).toEqual([faux.getModel()]);
    expect(await named.getAuth(faux.getModel()!)).toMatchObject({ source: "faux" });
    const seen: unknown[] = [];
    const answer = (_context: unknown, options: unknown) => (seen.push(options), fauxAssistantMessage("hi"));
    faux.setResponses([answer, answer, answer]);
    await named.completeSimple(faux.getModel()!, { messages: [user] }, { headers: { a: "b" } });
    await named.complete(faux.getModel()!, { messages: [user] }, { identity: { version: "3" } } as never);
    await models.complete(faux.getModel()!, { messages: [user] });
    expect(seen).toMatchObject([
      { identity: { version: "2" }, headers: { "User-Agent": "mine", a: "b" } },
      { identity: { userAgent: { custom: "mine" }, version: "3" }, headers: { "User-Agent": "mine" } },
      {},
    ]);
    expect(seen[2]).not.toHaveProperty("headers");
  });

  test("the providers that are built in have their models", () => {
    const anthropic = builtinProviders().find(({ id }) => id === "anthropic");
    expect(anthropic?.getModels().length).toBeGreaterThan(0);
    expect(() => createProvider({ id: "x", auth: {}, models: [] })).toThrow("The provider x has no implementation");
  });
});

describe("small things", () => {
  test("ids sort by their time", () => {
    expect(uuidv7(1_000) < uuidv7(2_000)).toBe(true);
    expect(uuidv7()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuidv7(0x0123456789ab).startsWith("01234567-89ab-7")).toBe(true);
  });

  test("variables of a request count before those of the process", () => {
    expect(getEnvApiKey("anthropic", { ANTHROPIC_API_KEY: "mine" })).toBe("mine");
    expect(findEnvKeys("anthropic", { ANTHROPIC_API_KEY: "mine" })).toContain("ANTHROPIC_API_KEY");
  });

  test("a program names itself", () => {
    expect(formatUserAgent({ userAgent: { custom: "me" } })).toBe("me");
    expect(mergeClientIdentity({ version: "1" }, undefined, { userAgent: "short" })).toEqual({
      version: "1",
      userAgent: "short",
    });
    const target = { provider: "mine", baseUrl: "https://openrouter.ai/api" };
    expect(getAttributionHeaders(target, { attribution: PI_ATTRIBUTION })).toMatchObject({ "X-Title": "pi" });
    expect(getAttributionHeaders({ provider: "x", baseUrl: "not a url" }, { attribution: PI_ATTRIBUTION })).toEqual({});
  });

  test("one call of a tool goes through the hooks, and never rejects", async () => {
    const message = { ...fauxAssistantMessage(""), usage: emptyUsage() };
    const echo = {
      name: "echo",
      label: "Echo",
      description: "",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      execute: async (_id: string, args: { text: string }) => {
        if (args.text === "fail") throw new Error("failed");
        return { content: [{ type: "text" as const, text: args.text }], details: {} };
      },
    };
    const run = (args: object, more: object = {}, name = "echo") =>
      runToolCall(
        { type: "toolCall", id: "1", name, arguments: args },
        {
          tools: [echo as never],
          assistantMessage: message,
          context: { systemPrompt: "", messages: [], tools: [] },
          ...more,
        },
      );
    expect(await run({ text: "hi" })).toMatchObject({ isError: false, result: { content: [{ text: "hi" }] } });
    expect(await run({ text: "fail" })).toMatchObject({ isError: true, result: { content: [{ text: "failed" }] } });
    expect(await run({})).toMatchObject({ isError: true });
    expect(await run({ text: "x" }, {}, "gone")).toMatchObject({ isError: true });
    const denied = await run({ text: "x" }, { beforeToolCall: async () => ({ block: true, reason: "no" }) });
    expect(denied).toMatchObject({ isError: true, result: { content: [{ text: "no" }] } });
    const changed = await run({ text: "x" }, { afterToolCall: async () => ({ details: { seen: true } }) });
    expect(changed).toMatchObject({ isError: false, result: { details: { seen: true } } });
  });

  test("agents without a stream function of their own use the default", async () => {
    const model = scriptedModel([]);
    setDefaultStreamFn((own) => lazyStream(own, async () => fauxStream()));
    const agent = new Agent({ initialState: { model, systemPrompt: "", tools: [] } });
    setDefaultStreamFn(undefined);
    await agent.prompt("hi");
    expect(agent.state.messages.at(-1)).toMatchObject({ role: "assistant", content: [fauxText("default")] });
    model.dispose();
  });
});

async function* fauxStream() {
  const message = fauxAssistantMessage("default");
  yield { type: "done" as const, reason: "stop" as const, message };
}

test.each([
  ["terminated", true],
  ["TypeError: other side closed", true],
  ["upstream connect error or disconnect/reset before headers", true],
  ["Anthropic stream ended before message_stop", true],
  ["Server requested 120s retry delay, which is too long", true],
  ["invalid api key", false],
  ["Your credit balance is too low", false],
])("an answer that failed with %j and nothing else may be tried again: %s", (errorMessage, expected) => {
  const message = { role: "assistant", content: [], stopReason: "error", errorMessage } as unknown as AssistantMessage;
  expect(isRetryableAssistantError(message)).toBe(expected);
  const failure = { kind: "auth", message: errorMessage } as const;
  expect(isRetryableAssistantError({ ...message, failure })).toBe(false);
});

test("a model whose one level above high is called max supports xhigh too", () => {
  const model = { ...fauxProvider().getModel()!, reasoning: true };
  expect(supportsXhigh(model)).toBe(false);
  expect(supportsXhigh({ ...model, thinkingLevelMap: { max: "max" } })).toBe(true);
});

test.each<[string, Record<string, string>, number | undefined]>([
  ["", { "retry-after": "2" }, 3_000],
  ["retry in 9s", { "retry-after": "2" }, 3_000],
  ["", { "x-ratelimit-reset-after": "1.5" }, 2_500],
  ["", { "x-ratelimit-reset": "4" }, undefined],
  ["retry in 9s", { "x-ratelimit-reset": "4" }, 10_000],
  ["Your quota will reset after 1h2m3s.", {}, 3_724_000],
  ['{"retryDelay": "0.25s"}', {}, 1_250],
  ["Please retry in 40.5ms", {}, 1_041],
  ["no such words", {}, undefined],
])("%j with %j asks to wait %s ms", (text, headers, expected) => {
  expect(extractRetryDelay(text, new Response("", { headers }))).toBe(expected);
  expect(extractRetryDelay(text, new Headers(headers))).toBe(expected);
});

test("arguments that do not fit are refused in pi's words, with ours behind them", () => {
  const tool = { name: "wait", description: "", parameters: Type.Object({ seconds: Type.Number() }) };
  const call = { type: "toolCall", id: "1", name: "wait", arguments: { seconds: "soon" } } as const;
  expect(() => validateToolArguments(tool, call)).toThrow(/^Validation failed for tool "wait": .*\n- seconds: /);
  expect(() => validateToolCall([tool], call)).toThrow(/^Validation failed for tool "wait"/);
  expect(() => validateToolCall([], call)).toThrow('Tool "wait" not found');
});

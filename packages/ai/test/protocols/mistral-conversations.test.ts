import { Mistral } from "@mistralai/mistralai";
import type { ChatCompletionStreamRequest, CompletionEvent } from "@mistralai/mistralai/models/components";
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/message.ts";
import type { Model, ThinkingLevel, ThinkingLevelMap } from "../../src/model.ts";
import { mistralConversations } from "../../src/protocols/mistral-conversations/index.ts";
import { sse } from "../../src/testing/dialects/dialect.ts";
import { mistralConversationsDialect as dialect } from "../../src/testing/dialects/mistral-conversations.ts";
import { call, text, thinking } from "../../src/testing/script.ts";
import {
  answer,
  assistant,
  clockTool,
  createModel,
  image,
  pixel,
  raw,
  readRecording,
  readStream,
  result,
  testProvider,
  type OracleCase,
  user,
  weatherTool,
} from "./kit.ts";
import { personOutput, strictPerson } from "./output-form.ts";

const mistral = (baseUrl: string) =>
  createModel({ api: "mistral-conversations", provider: "mistral", id: "magistral-test", baseUrl, maxTokens: 40_000 });
const model = mistral("");
// Mistral does not say what was written to its cache.
const cannot = { cacheWrites: true };
const { serve, ask, send, expectSameRequest } = testProvider({ dialect, model: mistral, cannot });

type Params = ChatCompletionStreamRequest;

const base = { model: "magistral-test" };
const hello: Params["messages"] = [{ role: "user", content: "Hello" }];
const weatherQuestion: Params["messages"] = [{ role: "user", content: "Weather?" }];
const sdkTool = (tool: typeof weatherTool | typeof clockTool, rest: object = {}) => ({
  type: "function" as const,
  function: { name: tool.name, description: tool.description, parameters: tool.parameters, ...rest },
});
const imageChunk = { type: "image_url" as const, imageUrl: `data:image/png;base64,${pixel}` };
const textChunk = (content: string) => ({ type: "text" as const, text: content });
const thought = (content: string, rest: object = {}) => ({
  type: "thinking" as const,
  thinking: [textChunk(content)],
  ...rest,
});
const sdkCall = (id: string, name: string, args: string, index = 0) => ({
  id,
  index,
  function: { name, arguments: args },
});

const cases: OracleCase<Params>[] = [
  { name: "a question", context: { messages: [user("Hello")] }, params: { ...base, messages: hello } },
  {
    name: "a system prompt",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    params: { ...base, messages: [{ role: "system", content: "Be brief." }, ...hello] },
  },
  {
    name: "temperature and a limit",
    context: { messages: [user("Hello")] },
    options: { temperature: 0, maxTokens: 100 },
    params: { ...base, temperature: 0, maxTokens: 100, messages: hello },
  },
  {
    name: "an image",
    context: { messages: [user([text("What is it?"), image])] },
    params: { ...base, messages: [{ role: "user", content: [textChunk("What is it?"), imageChunk] }] },
  },
  {
    name: "tools",
    context: { messages: [user("Weather?")], tools: [clockTool, weatherTool] },
    params: { ...base, tools: [sdkTool(clockTool), sdkTool(weatherTool)], messages: weatherQuestion },
  },
  ...(["auto", "any", "none"] as const).map((toolChoice) => ({
    name: `tool choice ${toolChoice}`,
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice },
    params: { ...base, tools: [sdkTool(weatherTool)], toolChoice, messages: weatherQuestion },
  })),
  {
    name: "a demanded tool",
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: { name: "weather" } },
    params: {
      ...base,
      tools: [sdkTool(weatherTool)],
      toolChoice: { type: "function", function: { name: "weather" } },
      messages: weatherQuestion,
    },
  },
  {
    name: "a form of the answer",
    context: { messages: [user("Hello")] },
    options: { output: personOutput },
    params: {
      ...base,
      responseFormat: {
        type: "json_schema",
        jsonSchema: { name: "person", schemaDefinition: strictPerson, strict: true },
      },
      messages: hello,
    },
  },
  {
    name: "a tool choice without tools",
    context: { messages: [user("Hello")] },
    options: { toolChoice: "any" },
    params: { ...base, messages: hello },
  },
  {
    name: "a strict tool",
    context: { messages: [user("Weather?")], tools: [{ ...weatherTool, strict: "prefer" }] },
    params: {
      ...base,
      tools: [
        sdkTool(weatherTool, {
          strict: true,
          parameters: {
            type: "object",
            properties: {
              place: { type: "string", description: "A city" },
              unit: { type: ["string", "null"], enum: ["C", "F", null] },
            },
            required: ["place", "unit"],
            additionalProperties: false,
          },
        }),
      ],
      messages: weatherQuestion,
    },
  },
  {
    name: "calls and their results, in the order of the calls",
    context: {
      messages: [
        user("Weather?"),
        assistant(model, [
          text("I'll look."),
          call("weather", { place: "Rome" }, "aaaaaaaa1"),
          call("clock", {}, "bbbbbbbb2"),
        ]),
        result("bbbbbbbb2", "clock", [text("noon")]),
        result("aaaaaaaa1", "weather", [text("sunny")], true),
      ],
    },
    params: {
      ...base,
      messages: [
        ...weatherQuestion,
        {
          role: "assistant",
          content: "I'll look.",
          toolCalls: [sdkCall("aaaaaaaa1", "weather", '{"place":"Rome"}'), sdkCall("bbbbbbbb2", "clock", "{}", 1)],
        },
        { role: "tool", toolCallId: "aaaaaaaa1", name: "weather", content: "sunny" },
        { role: "tool", toolCallId: "bbbbbbbb2", name: "clock", content: "noon" },
      ],
    },
  },
  {
    name: "a person's words after a result, with the model between them",
    context: {
      messages: [
        user("Weather?"),
        assistant(model, [call("weather", { place: "Rome" }, "aaaaaaaa1")]),
        result("aaaaaaaa1", "weather", [text("sunny")]),
        user("Stop."),
      ],
    },
    params: {
      ...base,
      messages: [
        ...weatherQuestion,
        { role: "assistant", toolCalls: [sdkCall("aaaaaaaa1", "weather", '{"place":"Rome"}')] },
        { role: "tool", toolCallId: "aaaaaaaa1", name: "weather", content: "sunny" },
        { role: "assistant", content: "I have read the results." },
        { role: "user", content: "Stop." },
      ],
    },
  },
  {
    name: "an image in a result",
    context: {
      messages: [
        user("Look."),
        assistant(model, [call("camera", {}, "aaaaaaaa1")]),
        result("aaaaaaaa1", "camera", [text("here"), image]),
      ],
    },
    params: {
      ...base,
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", toolCalls: [sdkCall("aaaaaaaa1", "camera", "{}")] },
        { role: "tool", toolCallId: "aaaaaaaa1", name: "camera", content: [textChunk("here"), imageChunk] },
      ],
    },
  },
  {
    name: "an image for a model that sees none",
    context: { messages: [user([text("What is it?"), image])] },
    model: { input: ["text"] },
    params: {
      ...base,
      messages: [
        {
          role: "user",
          content: [textChunk("What is it?"), textChunk("[An image was left out: this model does not see images.]")],
        },
      ],
    },
  },
  {
    name: "its own thinking, with and without a signature",
    context: {
      messages: [
        user("Think."),
        assistant(model, [thinking("Hm."), text("Done.")]),
        user("More."),
        assistant(model, [thinking("Well."), call("clock", {}, "aaaaaaaa1")]),
        result("aaaaaaaa1", "clock", [text("noon")]),
        assistant(model, [thinking("So.", "sig"), text("Noon.")]),
        user("Thanks."),
      ],
    },
    options: { reasoning: "medium" },
    params: {
      ...base,
      promptMode: "reasoning",
      messages: [
        { role: "user", content: "Think." },
        { role: "assistant", content: [thought("Hm."), textChunk("Done.")] },
        { role: "user", content: "More." },
        { role: "assistant", content: [thought("Well.")], toolCalls: [sdkCall("aaaaaaaa1", "clock", "{}")] },
        { role: "tool", toolCallId: "aaaaaaaa1", name: "clock", content: "noon" },
        { role: "assistant", content: [thought("So.", { signature: "sig" }), textChunk("Noon.")] },
        { role: "user", content: "Thanks." },
      ],
    },
  },
  {
    name: "another model's thinking, as text",
    context: {
      messages: [
        user("Think."),
        assistant({ ...model, id: "other" }, [thinking("Hm.", "foreign"), text("Done.")]),
        user("More."),
      ],
    },
    params: {
      ...base,
      messages: [
        { role: "user", content: "Think." },
        { role: "assistant", content: [textChunk("Hm."), textChunk("Done.")] },
        { role: "user", content: "More." },
      ],
    },
  },
  {
    name: "the beginning of an answer",
    context: { messages: [user("Hello"), assistant(model, [text("Dear")])] },
    params: { ...base, messages: [...hello, { role: "assistant", content: "Dear", prefix: true }] },
  },
  {
    name: "an adjustable model that thinks",
    context: { messages: [user("Hello")] },
    options: { reasoning: "low" },
    model: {
      id: "mistral-test",
      thinkingLevelMap: { off: "none", minimal: null, low: null, medium: null, high: "high" },
    },
    params: { model: "mistral-test", reasoningEffort: "high", messages: hello },
  },
  {
    name: "an adjustable model that does not think",
    context: { messages: [user("Hello")] },
    model: { id: "mistral-test", thinkingLevelMap: { off: "none", high: "high" } },
    params: { model: "mistral-test", reasoningEffort: "none", messages: hello },
  },
  {
    name: "a session",
    context: { messages: [user("Hello")] },
    options: { sessionId: "s-1" },
    params: { ...base, promptCacheKey: "s-1", messages: hello },
  },
];

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("$name", async ({ params, ...conversation }) => {
    await expectSameRequest({
      ours: (url) => send(url, conversation),
      theirs: async (url) =>
        expect(await askSdk(url, params)).toMatchObject({ text: "ok", thinking: "Hm.", finishReason: "stop" }),
      headers: ["authorization", "content-type", "accept"],
      reply: answer(thinking("Hm."), text("ok")),
    });
  });
});

describe("recordings mean to us what they mean to the vendor's SDK", () => {
  test.each(["mistral-text", "mistral-tool-call", "mistral-reasoning"])("%s", async (name) => {
    const reply = raw([...readRecording("mistral-conversations", name), "[DONE]"].map((line) => sse(line)));
    const server = await serve(reply, reply);
    const expected = await askSdk(server.url, { ...base, messages: hello });
    const ours = await ask(server);
    expect(ours.content).toEqual([
      ...(expected.thinking ? [thinking(expected.thinking)] : []),
      ...(expected.text ? [text(expected.text)] : []),
      ...expected.calls.map(({ id, function: made }) => call(made.name, JSON.parse(String(made.arguments)), id)),
    ]);
    expect(ours.responseId).toBe(expected.id);
    expect(ours.responseModel).toBe(expected.model);
    expect(ours.rawStopReason).toBe(expected.finishReason);
    expect(ours.stopReason).toBe(expected.finishReason === "tool_calls" ? "toolUse" : "stop");
    expect(ours.usage).toMatchObject({
      input: expected.usage?.promptTokens,
      output: expected.usage?.completionTokens,
      totalTokens: expected.usage?.totalTokens,
    });
  });
});

interface Said {
  id?: string;
  model?: string;
  text: string;
  thinking: string;
  calls: { id?: string | undefined; function: { name: string; arguments: unknown } }[];
  finishReason?: string | null;
  usage?: CompletionEvent["data"]["usage"];
}

/** Reads an answer with the vendor's SDK, which leaves the adding up to its caller. */
async function askSdk(serverURL: string, params: Params): Promise<Said> {
  const sdk = new Mistral({ apiKey: "key", serverURL, retryConfig: { strategy: "none" } });
  const said: Said = { text: "", thinking: "", calls: [] };
  for await (const { data } of await sdk.chat.stream(params)) {
    said.id = data.id;
    said.model = data.model;
    if (data.usage) said.usage = data.usage;
    const choice = data.choices[0];
    if (!choice) continue;
    if (choice.finishReason) said.finishReason = choice.finishReason;
    said.calls.push(...(choice.delta.toolCalls ?? []));
    const { content } = choice.delta;
    const parts = typeof content === "string" ? [textChunk(content)] : (content ?? []);
    for (const part of parts) {
      if (part.type === "text") said.text += part.text;
      if (part.type === "thinking") {
        for (const inner of part.thinking) if (inner.type === "text") said.thinking += inner.text;
      }
    }
  }
  return said;
}

const read = (...chunks: unknown[]): AssistantMessage => readStream(mistralConversations, model, chunks).message;

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});

describe("what comes back", () => {
  test("calls that arrive in pieces are put together by their index", () => {
    const message = read(
      chunk({ tool_calls: [{ index: 0, id: "aaaaaaaa1", function: { name: "weather", arguments: '{"place"' } }] }),
      chunk({ tool_calls: [{ index: 1, id: "bbbbbbbb2", function: { name: "clock", arguments: "{}" } }] }),
      chunk({ tool_calls: [{ index: 0, id: "null", function: { name: "", arguments: ':"Rome"}' } }] }, "tool_calls"),
    );
    expect(message.content).toEqual([call("weather", { place: "Rome" }, "aaaaaaaa1"), call("clock", {}, "bbbbbbbb2")]);
  });

  test("calls without an id or an index get ids of their own, and arguments may be an object", () => {
    const piece = { function: { name: "weather", arguments: { place: "Rome" } } };
    const message = read({ id: "r", ...chunk({ tool_calls: [{ ...piece, id: "null" }] }, "tool_calls") });
    expect(message.content).toEqual([call("weather", { place: "Rome" }, expect.stringMatching(/\w+/) as string)]);
  });

  test("calls of the same tool stay apart, although none has an id or an index", () => {
    const made = (place: string) => ({
      id: "null",
      function: { name: "weather", arguments: JSON.stringify({ place }) },
    });
    const anyId = expect.stringMatching(/\w+/) as string;
    const expected = [call("weather", { place: "Rome" }, anyId), call("weather", { place: "Bern" }, anyId)];
    const together = read(chunk({ tool_calls: [made("Rome"), made("Bern")] }, "tool_calls"));
    expect(together.content).toEqual(expected);
    const apart = [chunk({ tool_calls: [made("Rome")] }), chunk({ tool_calls: [made("Bern")] }, "tool_calls")];
    expect(read(...apart).content).toEqual(expected);
  });

  test("arguments that say null are none", () => {
    const piece = { id: "aaaaaaaa1", function: { name: "clock", arguments: "null" } };
    expect(read(chunk({ tool_calls: [piece] }, "tool_calls")).content).toEqual([call("clock", {}, "aaaaaaaa1")]);
  });

  test("an answer may come whole, and of several only the first is read", () => {
    const whole = (index: number, content: string) => ({ index, message: { content }, finish_reason: "stop" });
    const message = read({ choices: [whole(1, "No."), whole(0, "Yes.")] });
    expect(message.content).toEqual([text("Yes.")]);
  });

  test("what a filtered answer cost is still read", () => {
    const usage = { prompt_tokens: 100, completion_tokens: 5 };
    const message = read(chunk({ content: "x" }, "content_filter"), { choices: [], usage });
    expect(message.usage).toMatchObject({ input: 100, output: 5 });
  });

  test("thinking is one block, however many empty texts come in between", () => {
    const part = (content: string) => ({ type: "thinking", thinking: [{ type: "text", text: content }] });
    const message = read(
      chunk({ content: [part("One, ")] }),
      chunk({ content: "" }),
      chunk({ content: [part("two.")] }),
      chunk({ content: [{ type: "text", text: "" }, part("")] }),
      chunk({
        content: [
          { type: "reference", reference_ids: [1] },
          { type: "text", text: "Three" },
        ],
      }),
      chunk({ content: "." }, "stop"),
    );
    expect(message.content).toEqual([thinking("One, two."), text("Three.")]);
  });

  test.each([
    ["prompt_tokens_details", { prompt_tokens_details: { cached_tokens: 30 } }],
    ["num_cached_tokens", { num_cached_tokens: 30 }],
    ["more than the prompt", { num_cached_tokens: 500 }],
  ])("what came from the cache is not counted twice: %s", (_name, details) => {
    const { usage } = read({ ...chunk({}, "stop"), usage: { prompt_tokens: 100, completion_tokens: 5, ...details } });
    expect(usage.input + usage.cacheRead).toBe(100);
    expect(usage).toMatchObject({ output: 5, totalTokens: 105 });
  });

  test.each([
    ["stop", "stopped", "stop"],
    ["length", "stopped", "length"],
    ["model_length", "stopped", "length"],
    ["tool_calls", "stopped", "toolUse"],
    ["something_new", "stopped", "stop"],
    ["error", "failed", "overloaded"],
    ["content_filter", "refused", "refused"],
  ])("the reason %s is kept beside ours", (theirs, kind, reason) => {
    const draft = readStream(mistralConversations, model, [chunk({ content: "x" }, theirs)]);
    const states: Record<string, object> = {
      stopped: { kind, reason },
      failed: { kind, failure: { kind: reason } },
      refused: { kind: "stopped", refusal: { kind: reason } },
    };
    expect(draft.state).toMatchObject(states[kind]!);
    expect(draft.message.rawStopReason).toBe(theirs);
  });

  test("whatever is not a chunk means nothing", () => {
    const junk = [null, 5, "x", [], {}, { choices: 1 }, { choices: [null] }, chunk({ content: 5, tool_calls: [null] })];
    expect(read(...junk).content).toEqual([]);
  });
});

describe("what goes out", () => {
  const encode = (changes: Partial<Model>, reasoning?: ThinkingLevel) => {
    const asked = { ...model, ...changes };
    const options = mistralConversations.resolveOptions(asked, reasoning ? { reasoning } : {});
    return mistralConversations.encode(asked, { messages: [user("Hello")] }, options).payload;
  };
  const byWord: ThinkingLevelMap = { off: null, minimal: null, low: "low", medium: "medium", high: "high", max: "max" };

  test.each<[string, Partial<Model>, ThinkingLevel | undefined, object]>([
    ["a model that thinks by its prompt", {}, "high", { prompt_mode: "reasoning" }],
    ["the same, when it should not think", {}, undefined, {}],
    ["an adjustable model of which no words are known", { id: "mistral-small" }, "low", { reasoning_effort: "high" }],
    ["the same, when it should not think", { id: "mistral-small" }, undefined, {}],
    ["a model with words", { thinkingLevelMap: byWord }, "max", { reasoning_effort: "max" }],
    ["a model that cannot be told not to think", { thinkingLevelMap: byWord }, undefined, { reasoning_effort: "low" }],
    ["a model that never thinks", { reasoning: false }, "high", {}],
  ])("how %s is told to", (_name, changes, reasoning, expected) => {
    const { prompt_mode, reasoning_effort } = encode(changes, reasoning);
    expect({ ...(prompt_mode ? { prompt_mode } : {}), ...(reasoning_effort ? { reasoning_effort } : {}) }).toEqual(
      expected,
    );
  });

  test("ids become nine letters and digits, the same one for a call and its result, and no two alike", () => {
    const ids = ["toolu_01AbCdEf", "fc_1|call_2", "a-b-c-d-e", "123456789", ""];
    const messages = ids.flatMap((id) => [
      assistant({ ...model, id: "other" }, [call("clock", {}, id)]),
      result(id, "clock", [text("noon")]),
    ]);
    const { payload } = mistralConversations.encode(model, { messages: [user("Time?"), ...messages] }, {});
    const sent = payload["messages"] as { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[];
    const calls = sent.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    const results = sent.flatMap(({ tool_call_id }) => (tool_call_id === undefined ? [] : [tool_call_id]));
    expect(calls).toEqual(results);
    expect(new Set(calls).size).toBe(ids.length);
    for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(calls[3]).toBe("123456789");
  });

  test("an answer that was only thought about is left out, and several thoughts are one", () => {
    const messages = [
      user("Hello"),
      assistant(model, [thinking("Hm.")]),
      user("Hello?"),
      assistant(model, [thinking("One."), text("Yes."), thinking("Two."), text("No.")]),
      user("So?"),
    ];
    const { payload } = mistralConversations.encode(model, { messages }, {});
    expect(payload["messages"]).toEqual([
      { role: "user", content: "Hello" },
      { role: "user", content: "Hello?" },
      {
        role: "assistant",
        prefix: false,
        content: [
          { type: "thinking", thinking: [textChunk("One."), textChunk("Two.")] },
          textChunk("Yes."),
          textChunk("No."),
        ],
      },
      { role: "user", content: "So?" },
    ]);
  });

  test("a session is told in the header that routes it, and not when caching is off", () => {
    const context = { messages: [user("Hello")] };
    const sent = mistralConversations.encode(model, context, { sessionId: "s-1" });
    expect(sent.headers).toEqual({ "x-affinity": "s-1" });
    const off = mistralConversations.encode(model, context, { sessionId: "s-1", cacheRetention: "none" });
    expect(off.headers).toEqual({});
    expect(off.payload).not.toHaveProperty("prompt_cache_key");
  });

  test("metadata is named as ignored, and a blank system prompt is none", () => {
    const context = { systemPrompt: " \n", messages: [user("Hello")] };
    const { payload, notes } = mistralConversations.encode(model, context, { metadata: { user_id: "u" } });
    expect(notes).toMatchObject([{ type: "option_ignored", details: { option: "metadata" } }]);
    expect(payload["messages"]).toEqual(hello);
    expect(mistralConversations.encode(model, context, { metadata: {} }).notes).toEqual([]);
  });

  test("a tool whose schema cannot be held to goes out as it is, and says so only when that was required", () => {
    const open = { type: "object", properties: { map: { type: "object", additionalProperties: { type: "string" } } } };
    const encoded = (strict: "prefer" | "require") =>
      mistralConversations.encode(
        model,
        { messages: [user("x")], tools: [{ ...clockTool, parameters: open, strict }] },
        {},
      );
    expect(encoded("prefer").notes).toEqual([]);
    expect(encoded("require").notes).toMatchObject([{ type: "strict_not_supported" }]);
    expect(encoded("require").payload["tools"]).toEqual([
      { type: "function", function: { name: "clock", description: "The time", parameters: open } },
    ]);
  });
});

import fc from "fast-check";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/message.ts";
import type { Model } from "../../src/model.ts";
import type { SimpleStreamOptions } from "../../src/options.ts";
import type { ProviderStreamOptions } from "../../src/options.ts";
import { openaiCodexResponses } from "../../src/protocols/openai-codex-responses/index.ts";
import { openaiResponses } from "../../src/protocols/openai-responses/index.ts";
import type { OpenAIResponsesOptions } from "../../src/protocols/openai-responses/options.ts";
import { openaiResponsesDialect } from "../../src/testing/dialects/openai-responses.ts";
import { call, text, thinking } from "../../src/testing/script.ts";
import {
  assistant,
  clockTool,
  closed,
  createModel,
  image,
  pixel,
  question,
  raw,
  readRecording,
  readStream,
  result,
  testProvider,
  toNamedEvents,
  type OracleCase,
  user,
  weatherTool,
} from "./kit.ts";
import { personOutput, strictPerson } from "./output-form.ts";

const dialect = openaiResponsesDialect("openai-responses");
const gpt = (baseUrl: string) => createModel({ api: "openai-responses", provider: "openai", id: "gpt-test", baseUrl });
const model = gpt("");
const { provider, serve, ask, send, expectSameRequest } = testProvider({ dialect, model: gpt });
const createSdk = (baseURL: string) => new OpenAI({ apiKey: "key", baseURL, maxRetries: 0 });

type Params = Parameters<OpenAI["responses"]["stream"]>[0];
type InputItem = OpenAI.Responses.ResponseInputItem;

const base = {
  model: "gpt-test",
  store: false,
  include: ["reasoning.encrypted_content" as const],
  reasoning: { effort: "none" as const },
};
const asked = (content: string): InputItem => ({ role: "user", content: [{ type: "input_text", text: content }] });
const sdkTool = (tool: typeof weatherTool | typeof clockTool): OpenAI.Responses.FunctionTool => ({
  type: "function",
  name: tool.name,
  description: tool.description,
  parameters: closed(tool).parameters,
  strict: false,
});
const sdkImage = {
  type: "input_image" as const,
  detail: "auto" as const,
  image_url: `data:image/png;base64,${pixel}`,
};

const reasoningItem = {
  type: "reasoning" as const,
  id: "rs_1",
  summary: [{ type: "summary_text" as const, text: "Hm." }],
  encrypted_content: "opaque",
};
const signedThought = thinking("Hm.", JSON.stringify(reasoningItem));
const signedText = (content: string, signature: string) => ({ ...text(content), textSignature: signature });
const ownMessage = (id: string, content: string): InputItem => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: content, annotations: [] }],
});
const functionCall = (callId: string, name: string, args: object, id?: string): InputItem => ({
  type: "function_call",
  ...(id !== undefined && { id }),
  call_id: callId,
  name,
  arguments: JSON.stringify(args),
});
const output = (callId: string, said: string): InputItem => ({
  type: "function_call_output",
  call_id: callId,
  output: said,
});

const cases: (OracleCase<Params> & { ownOptions?: ProviderStreamOptions })[] = [
  {
    name: "a question",
    context: { messages: [user("Hello")] },
    params: { ...base, input: [asked("Hello")] },
  },
  {
    name: "a system prompt, to a reasoning model from the developer",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    params: { ...base, input: [{ role: "developer", content: "Be brief." }, asked("Hello")] },
  },
  {
    name: "a system prompt, to a server without developers",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    model: { compat: { supportsDeveloperRole: false } },
    params: { ...base, input: [{ role: "system", content: "Be brief." }, asked("Hello")] },
  },
  {
    name: "a system prompt, to a model that does not reason",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    model: { reasoning: false },
    options: { reasoning: "high" },
    params: { model: "gpt-test", store: false, input: [{ role: "system", content: "Be brief." }, asked("Hello")] },
  },
  {
    name: "temperature and a limit",
    context: { messages: [user("Hello")] },
    options: { temperature: 0.5, maxTokens: 100 },
    params: { ...base, temperature: 0.5, max_output_tokens: 100, input: [asked("Hello")] },
  },
  {
    name: "a form of the answer",
    context: { messages: [user("Who?")] },
    options: { output: personOutput },
    params: {
      ...base,
      text: { format: { type: "json_schema", name: "person", schema: strictPerson, strict: true } },
      input: [asked("Who?")],
    },
  },
  {
    name: "a limit that is lower than the lowest",
    context: { messages: [user("Hello")] },
    options: { maxTokens: 1 },
    params: { ...base, max_output_tokens: 16, input: [asked("Hello")] },
  },
  {
    name: "an image",
    context: { messages: [user([text("What is it?"), image])] },
    params: { ...base, input: [{ role: "user", content: [{ type: "input_text", text: "What is it?" }, sdkImage] }] },
  },
  {
    name: "tools, none of them strict",
    context: { messages: [user("Weather?")], tools: [clockTool, weatherTool] },
    params: { ...base, tools: [sdkTool(clockTool), sdkTool(weatherTool)], input: [asked("Weather?")] },
  },
  {
    name: "a tool without properties still lists them",
    context: { messages: [user("Go")], tools: [{ ...clockTool, parameters: { type: "object" } }] },
    params: { ...base, tools: [sdkTool(clockTool)], input: [asked("Go")] },
  },
  {
    name: "a strict tool",
    context: {
      messages: [user("Weather?")],
      tools: [
        {
          ...weatherTool,
          parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
          strict: "require",
        },
      ],
    },
    params: {
      ...base,
      tools: [
        {
          ...sdkTool(weatherTool),
          strict: true,
          parameters: {
            type: "object",
            properties: { place: { type: "string" } },
            required: ["place"],
            additionalProperties: false,
          },
        },
      ],
      input: [asked("Weather?")],
    },
  },
  ...(["auto", "none"] as const).map((choice) => ({
    name: `tool choice ${choice}`,
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: choice },
    params: { ...base, tools: [sdkTool(weatherTool)], tool_choice: choice, input: [asked("Weather?")] },
  })),
  {
    name: "any tool",
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: "any" },
    params: { ...base, tools: [sdkTool(weatherTool)], tool_choice: "required", input: [asked("Weather?")] },
  },
  {
    name: "a demanded tool",
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: { name: "weather" } },
    params: {
      ...base,
      tools: [sdkTool(weatherTool)],
      tool_choice: { type: "function", name: "weather" },
      input: [asked("Weather?")],
    },
  },
  {
    name: "an effort, with a summary of the reasoning",
    context: { messages: [user("Think.")] },
    options: { reasoning: "high" },
    params: { ...base, reasoning: { effort: "high", summary: "auto" }, input: [asked("Think.")] },
  },
  {
    name: "an effort in the model's own word",
    context: { messages: [user("Think.")] },
    options: { reasoning: "max" },
    model: { thinkingLevelMap: { max: "xhigh" } },
    params: { ...base, reasoning: { effort: "xhigh", summary: "auto" }, input: [asked("Think.")] },
  },
  {
    name: "no effort where reasoning cannot be switched off",
    context: { messages: [user("Hello")] },
    model: { thinkingLevelMap: { off: null } },
    params: { model: "gpt-test", store: false, include: base.include, input: [asked("Hello")] },
  },
  {
    name: "no effort where the server takes none",
    context: { messages: [user("Think.")] },
    options: { reasoning: "high" },
    model: { compat: { supportsReasoningEffort: false } },
    params: { model: "gpt-test", store: false, include: base.include, input: [asked("Think.")] },
  },
  {
    name: "its own options",
    context: { messages: [user("Think.")] },
    ownOptions: {
      reasoningEffort: "low",
      reasoningSummary: "detailed",
      serviceTier: "flex",
      textVerbosity: "high",
    },
    params: {
      ...base,
      reasoning: { effort: "low", summary: "detailed" },
      service_tier: "flex",
      text: { verbosity: "high" },
      input: [asked("Think.")],
    },
  },
  {
    name: "a session, kept short",
    context: { messages: [user("Hello")] },
    options: { sessionId: "s".repeat(70) },
    params: { ...base, prompt_cache_key: "s".repeat(64), input: [asked("Hello")] },
  },
  {
    name: "a session, kept long",
    context: { messages: [user("Hello")] },
    options: { sessionId: "s-1", cacheRetention: "long" },
    params: { ...base, prompt_cache_key: "s-1", prompt_cache_retention: "24h", input: [asked("Hello")] },
  },
  {
    name: "a session, not kept",
    context: { messages: [user("Hello")] },
    options: { sessionId: "s-1", cacheRetention: "none" },
    params: { ...base, input: [asked("Hello")] },
  },
  {
    name: "a session, kept long by a server that cannot",
    context: { messages: [user("Hello")] },
    options: { sessionId: "s-1", cacheRetention: "long" },
    model: { compat: { supportsLongCacheRetention: false } },
    params: { ...base, prompt_cache_key: "s-1", input: [asked("Hello")] },
  },
  {
    name: "a session, kept long by a server with an explicit mode",
    context: { messages: [user("Hello")] },
    options: { sessionId: "s-1", cacheRetention: "long" },
    model: { compat: { supportsExplicitPromptCacheMode: true } },
    params: { ...base, prompt_cache_key: "s-1", prompt_cache_options: { ttl: "30m" }, input: [asked("Hello")] },
  },
  {
    name: "a session, not kept by a server with an explicit mode",
    context: { messages: [user("Hello")] },
    options: { sessionId: "s-1", cacheRetention: "none" },
    model: { compat: { supportsExplicitPromptCacheMode: true } },
    params: { ...base, prompt_cache_options: { mode: "explicit" }, input: [asked("Hello")] },
  },
  {
    name: "calls and their results, in the order of the calls",
    context: {
      messages: [
        user("Weather?"),
        assistant(model, [
          signedText("I'll look.", '{"v":1,"id":"msg_1","phase":"commentary"}'),
          call("weather", { place: "Rome" }, "call_a|fc_1"),
          call("clock", {}, "call_b|fc_2"),
        ]),
        result("call_b|fc_2", "clock", [text("noon"), text("sharp")]),
        result("call_a|fc_1", "weather", [text("no idea")], true),
        user("And now?"),
      ],
    },
    params: {
      ...base,
      input: [
        asked("Weather?"),
        { ...ownMessage("msg_1", "I'll look."), phase: "commentary" } as InputItem,
        functionCall("call_a", "weather", { place: "Rome" }, "fc_1"),
        functionCall("call_b", "clock", {}, "fc_2"),
        output("call_a", "no idea"),
        output("call_b", "noon\nsharp"),
        asked("And now?"),
      ],
    },
  },
  {
    name: "an image in a result",
    context: {
      messages: [
        user("Look."),
        assistant(model, [call("camera", {}, "call_a|fc_1")]),
        result("call_a|fc_1", "camera", [text("here"), image]),
      ],
    },
    params: {
      ...base,
      input: [
        asked("Look."),
        functionCall("call_a", "camera", {}, "fc_1"),
        {
          type: "function_call_output",
          call_id: "call_a",
          output: [{ type: "input_text", text: "here" }, sdkImage],
        },
      ],
    },
  },
  {
    name: "its own reasoning, as it came",
    context: {
      messages: [
        user("Think."),
        assistant(model, [
          signedThought,
          call("clock", {}, "call_a|fc_1"),
          thinking("", JSON.stringify({ ...reasoningItem, id: "rs_2", summary: [] })),
          signedText("Done.", "msg_2"),
        ]),
        result("call_a|fc_1", "clock", [text("noon")]),
        user("More."),
      ],
    },
    params: {
      ...base,
      input: [
        asked("Think."),
        reasoningItem,
        functionCall("call_a", "clock", {}, "fc_1"),
        { ...reasoningItem, id: "rs_2", summary: [] },
        ownMessage("msg_2", "Done."),
        output("call_a", "noon"),
        asked("More."),
      ],
    },
  },
  {
    name: "reasoning that nothing followed stays behind",
    context: {
      messages: [
        user("Think."),
        assistant(model, [signedText("Wait.", "msg_1"), signedThought], { stopReason: "length" }),
        user("More."),
      ],
    },
    params: { ...base, input: [asked("Think."), ownMessage("msg_1", "Wait."), asked("More.")] },
  },
  {
    name: "items lose their ids when their reasoning is not sent back",
    context: {
      messages: [
        user("Think."),
        assistant(model, [
          thinking("Hm.", "damaged"),
          signedText("Done.", '{"v":1,"id":"msg_1","phase":"final_answer"}'),
          call("clock", {}, "call_a|fc_1"),
        ]),
        result("call_a|fc_1", "clock", [text("noon")]),
      ],
    },
    params: {
      ...base,
      input: [
        asked("Think."),
        { role: "assistant", content: "Hm." },
        { role: "assistant", content: "Done.", phase: "final_answer" },
        functionCall("call_a", "clock", {}),
        output("call_a", "noon"),
      ],
    },
  },
  {
    name: "answers that stand twice in the history, without their ids the second time",
    context: {
      messages: [1, 2].flatMap((n) => [
        user("Think."),
        assistant(model, [signedThought, signedText("Done.", "msg_1"), call("clock", {}, `call_${n}|fc_1`)]),
        result(`call_${n}|fc_1`, "clock", [text("noon")]),
      ]),
    },
    params: {
      ...base,
      input: [
        asked("Think."),
        reasoningItem,
        ownMessage("msg_1", "Done."),
        functionCall("call_1", "clock", {}, "fc_1"),
        output("call_1", "noon"),
        asked("Think."),
        { role: "assistant", content: "Done." },
        functionCall("call_2", "clock", {}),
        output("call_2", "noon"),
      ],
    },
  },
  {
    name: "a server's one id for all messages, once, while reasoning of its own goes along",
    context: {
      messages: [
        user("Think."),
        assistant(model, [signedThought, signedText("One.", "msg_1")]),
        user("More."),
        assistant(model, [thinking("", JSON.stringify({ ...reasoningItem, id: "rs_2" })), signedText("Two.", "msg_1")]),
        user("More."),
        assistant(model, [signedText("Three.", "msg_3")]),
      ],
    },
    params: {
      ...base,
      input: [
        asked("Think."),
        reasoningItem,
        ownMessage("msg_1", "One."),
        asked("More."),
        { ...reasoningItem, id: "rs_2" },
        { role: "assistant", content: "Two." },
        asked("More."),
        ownMessage("msg_3", "Three."),
      ],
    },
  },
  {
    name: "an aborted answer keeps its words and loses the rest",
    context: {
      messages: [
        user("Think."),
        assistant(model, [signedThought, signedText("Half", "msg_1"), call("clock", {}, "call_a|fc_1")], {
          stopReason: "aborted",
        }),
        user("More."),
      ],
    },
    params: { ...base, input: [asked("Think."), { role: "assistant", content: "Half" }, asked("More.")] },
  },
  {
    name: "another model's answer, without its ids and signatures",
    context: {
      messages: [
        user("Think."),
        assistant(model, [signedThought, signedText("Done.", "msg_1"), call("clock", {}, "call_a|fc_1")], {
          model: "gpt-other",
        }),
        result("call_a|fc_1", "clock", [text("noon")]),
      ],
    },
    params: {
      ...base,
      input: [
        asked("Think."),
        { role: "assistant", content: "Hm." },
        { role: "assistant", content: "Done." },
        functionCall("call_a", "clock", {}),
        output("call_a", "noon"),
      ],
    },
  },
  {
    name: "another provider's ids, made fit",
    context: {
      messages: [
        user("Go."),
        assistant(model, [call("clock", {}, "tool.1:x_"), call("clock", {}, "a|b")], {
          provider: "elsewhere",
          api: "google-generative-ai",
        }),
        result("tool.1:x_", "clock", [text("1")]),
        result("a|b", "clock", [text("2")]),
      ],
    },
    params: {
      ...base,
      input: [
        asked("Go."),
        functionCall("tool_1_x", "clock", {}),
        functionCall("a", "clock", {}),
        output("tool_1_x", "1"),
        output("a", "2"),
      ],
    },
  },
];

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("$name", async ({ ownOptions, params, ...conversation }) => {
    const { context, model: changes } = conversation;
    await expectSameRequest({
      ours: (url) =>
        ownOptions
          ? provider.stream({ ...gpt(url), ...changes } as Model, context, { apiKey: "key", ...ownOptions })
          : send(url, conversation),
      theirs: async (url) =>
        expect((await createSdk(url).responses.stream(params).finalResponse()).output_text).toBe("ok"),
      headers: ["authorization", "content-type"],
    });
  });
});

describe("a session is named to the server in the headers it understands", () => {
  test.each([
    [undefined, { session_id: "s-1", "x-client-request-id": "s-1" }],
    ["openai-nosession", { "x-client-request-id": "s-1" }],
    ["openrouter", { "x-session-id": "s-1" }],
  ] as const)("%s", (sessionAffinityFormat, headers) => {
    const target = { ...model, compat: sessionAffinityFormat ? { sessionAffinityFormat } : {} };
    const encoded = openaiResponses.encode(target, question, { sessionId: "s-1" });
    expect(encoded.headers).toMatchObject(headers);
    expect("session_id" in encoded.headers).toBe("session_id" in headers);
    const uncached = { sessionId: "s-1", cacheRetention: "none" as const };
    expect(openaiResponses.encode(target, question, uncached).headers).toEqual({});
  });
});

test("a tool that cannot be strict goes out as it is, and only a required one is reported", () => {
  const parameters = { type: "object", properties: { map: { type: "object", additionalProperties: true } } };
  for (const strict of ["prefer", "require"] as const) {
    const { payload, notes } = openaiResponses.encode(
      model,
      { messages: [user("x")], tools: [{ ...clockTool, parameters, strict }] },
      {},
    );
    expect(payload["tools"]).toMatchObject([{ name: "clock", parameters, strict: false }]);
    expect(notes.map(({ type }) => type)).toEqual(strict === "require" ? ["strict_not_supported"] : []);
  }
});

test("options that cannot be sent are named in the answer's diagnostics", () => {
  const ignored = (changes: Partial<Model>, options: OpenAIResponsesOptions) =>
    openaiResponses
      .encode({ ...model, ...changes } as Model, question, options)
      .notes.map(({ type, details }) => [type, details?.["option"]]);
  const mute = { compat: { supportsReasoningEffort: false } };
  expect(ignored({}, { metadata: { user_id: "u" } })).toEqual([["option_ignored", "metadata"]]);
  expect(ignored(mute, { reasoningEffort: "high" })).toEqual([["option_ignored", "reasoningEffort"]]);
  expect(ignored(mute, { reasoningEffort: "none" })).toEqual([]);
  expect(ignored({ reasoning: false }, { reasoningSummary: "auto" })).toEqual([["option_ignored", "reasoningSummary"]]);
  expect(ignored({}, { metadata: {}, reasoningEffort: "high", temperature: 1, maxTokens: 99 })).toEqual([]);
});

test("a server that takes no limit gets none, and the answer says so", () => {
  const { payload, notes } = openaiCodexResponses.encode(model, question, { maxTokens: 99 });
  expect(payload).not.toHaveProperty("max_output_tokens");
  expect(notes).toMatchObject([{ type: "option_ignored", details: { option: "maxTokens" } }]);
});

test("a model that takes no limit gets none, and the answer says so", () => {
  const asked = { ...model, compat: { supportsMaxOutputTokens: false } } as Model;
  const { payload, notes } = openaiResponses.encode(asked, question, { maxTokens: 99 });
  expect(payload).not.toHaveProperty("max_output_tokens");
  expect(notes).toMatchObject([{ type: "option_ignored", details: { option: "maxTokens" } }]);
});

test("sampling fields of the model, the level and the request come last, but not for ChatGPT", () => {
  const asked = {
    ...model,
    samplingParams: { top_p: 0.9, temperature: 1 },
    samplingParamsByThinkingLevel: { off: { top_p: 0.8 }, high: { top_p: 0.1 } },
  } as Model;
  const encode = (protocol: typeof openaiResponses, options: SimpleStreamOptions) =>
    protocol.encode(asked, question, protocol.resolveOptions(asked, options)).payload;
  expect(encode(openaiResponses, {})).toMatchObject({ top_p: 0.8, temperature: 1 });
  const options = { reasoning: "high", temperature: 0, samplingParams: { seed: 7 } } as const;
  expect(encode(openaiResponses, options)).toMatchObject({ top_p: 0.1, temperature: 1, seed: 7 });
  expect(encode(openaiCodexResponses, options)).not.toHaveProperty("top_p");
  expect(encode(openaiCodexResponses, options)).not.toHaveProperty("seed");
});

test("a blank system prompt is none", () => {
  const context = { systemPrompt: " \n", messages: [user("x")] };
  expect(openaiResponses.encode(model, context, {}).payload["input"]).toEqual([asked("x")]);
  const { payload } = openaiCodexResponses.encode(model, context, {});
  expect(payload["instructions"]).toBe(openaiCodexResponses.encode(model, question, {}).payload["instructions"]);
});

test("thinking that is off and thinking that was not asked for are the same", () => {
  for (const off of ["none", null]) {
    const target = { ...model, thinkingLevelMap: { off } };
    expect(openaiResponses.resolveOptions(target, { reasoning: "off" })).toEqual(
      openaiResponses.resolveOptions(target, {}),
    );
  }
});

test("a server that does not know strict mode never hears of it", () => {
  const target = { ...model, compat: { supportsStrictMode: false } };
  const context = { messages: [user("x")], tools: [{ ...clockTool, strict: "prefer" as const }] };
  const [tool] = openaiResponses.encode(target, context, {}).payload["tools"] as object[];
  expect(tool).not.toHaveProperty("strict");
});

test("whatever a history holds, calls and outputs pair up under legal ids and reasoning is followed by its item", () => {
  const signature = fc.option(
    fc.oneof(
      fc.string(),
      fc.json(),
      fc.constant(JSON.stringify(reasoningItem)),
      fc.constant('{"v":1,"id":"msg_1","phase":"commentary"}'),
    ),
    { nil: undefined },
  );
  const callId = fc.oneof(fc.string(), fc.constantFrom("a|fc_1", "a|fc_2", "a", "|", "a_", `${"x".repeat(100)}|fc_1`));
  const block: fc.Arbitrary<AssistantMessage["content"][number]> = fc.oneof(
    fc.tuple(fc.string(), signature).map(([content, sign]) => (sign ? signedText(content, sign) : text(content))),
    fc.tuple(fc.string(), signature).map(([content, sign]) => thinking(content, sign)),
    callId.map((id) => call("clock", {}, id)),
  );
  const answer = fc
    .tuple(fc.array(block, { maxLength: 6 }), fc.constantFrom("gpt-test", "other"), fc.constantFrom("stop", "aborted"))
    .map(([content, id, stopReason]) =>
      assistant(model, content, { model: id, stopReason: stopReason as "stop" | "aborted" }),
    );
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 4 }), (answers) => {
      const { payload } = openaiResponses.encode(model, { messages: [user("x"), ...answers] }, {});
      const items = payload["input"] as Record<string, unknown>[];
      const getIds = (type: string) => items.filter((item) => item["type"] === type).map((item) => item["call_id"]);
      const calls = getIds("function_call");
      expect(getIds("function_call_output")).toEqual(calls);
      expect(new Set(calls).size).toBe(calls.length);
      const ids = items.flatMap(({ id }) => (id === undefined ? [] : [id]));
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of calls) expect(id).toMatch(/^[\w-]{1,64}$/);
      items.forEach((item, at) => {
        if (item["type"] !== "reasoning") return;
        const next = items[at + 1];
        expect(["reasoning", "function_call", "message", "assistant"]).toContain(next?.["type"] ?? next?.["role"]);
      });
    }),
  );
});

test("the vendor's SDK understands all that the wire server says", async () => {
  const server = await serve({
    kind: "answer",
    answer: {
      content: [
        thinking("Let me see.", "opaque"),
        text("Wörds."),
        call("weather", { place: "Rome" }, "a"),
        call("now"),
      ],
      usage: { input: 10, cacheRead: 3, cacheWrite: 2, output: 7, reasoning: 4 },
    },
  });
  const said = await createSdk(server.url)
    .responses.stream({ ...base, input: "x" })
    .finalResponse();
  expect(said.output).toMatchObject([
    { type: "reasoning", summary: [{ text: "Let me see." }], encrypted_content: "opaque" },
    { type: "message", content: [{ type: "output_text", text: "Wörds." }] },
    { type: "function_call", call_id: "a", name: "weather", arguments: '{"place":"Rome"}' },
    { type: "function_call", name: "now", arguments: "{}" },
  ]);
  expect(said.status).toBe("completed");
  expect(said.usage).toMatchObject({ input_tokens: 15, output_tokens: 7, total_tokens: 22 });
});

test.each([
  ["length", "max_output_tokens"],
  ["refused", "content_filter"],
] as const)("the vendor's SDK understands why the wire server stopped: %s", async (stopReason, reason) => {
  const server = await serve({ kind: "answer", answer: { content: [text("To be")], stopReason } });
  const said = await createSdk(server.url)
    .responses.stream({ ...base, input: "x" })
    .finalResponse();
  expect(said.incomplete_details).toEqual({ reason });
});

/** A recording may hold several responses, one after the other. */
function getResponses(name: string): string[][] {
  const responses: string[][] = [];
  for (const line of readRecording("openai-responses", name)) {
    if (JSON.parse(line).type === "response.created") responses.push([]);
    responses.at(-1)!.push(line);
  }
  return responses;
}

describe("recordings mean to us what they mean to the vendor's SDK", () => {
  const recorded = ["azure-tool-call.1", "openai-custom-tool.1", "openai-reasoning-encrypted-content.1"].flatMap(
    (name) => getResponses(name).map((lines, at) => ({ name: `${name}, response ${at + 1}`, lines })),
  );
  test.each(recorded)("$name", async ({ lines }) => {
    const reply = raw(toNamedEvents(lines));
    const server = await serve(reply, reply);
    const sdk = createSdk(server.url);
    // Reasoning is encrypted anew in every event; what counts is the one that ends its item.
    const items: OpenAI.Responses.ResponseOutputItem[] = [];
    const events = sdk.responses.stream({ ...base, input: "x" });
    const expected = await events.on("response.output_item.done", ({ item }) => items.push(item)).finalResponse();
    const ours = await ask(server);
    expect(items.map(({ type }) => type)).toEqual(expected.output.map(({ type }) => type));
    expect(ours.content).toEqual(items.map(asOurs));
    expect(ours.responseId).toBe(expected.id);
    expect(ours.responseModel).toBe(expected.model);
    expect(ours.rawStopReason).toBe(expected.status);
    expect(ours.usage.input).toBe(expected.usage!.input_tokens - expected.usage!.input_tokens_details.cached_tokens);
    expect(ours.usage.cacheRead).toBe(expected.usage!.input_tokens_details.cached_tokens);
    expect(ours.usage.output).toBe(expected.usage!.output_tokens);
    expect(ours.usage.reasoning).toBe(expected.usage!.output_tokens_details.reasoning_tokens);
    expect(ours.usage.totalTokens).toBe(expected.usage!.total_tokens);
    expect(ours.stopReason).toBe(expected.output.some(({ type }) => type.endsWith("call")) ? "toolUse" : "stop");
  });

  test("openai-error.1", async () => {
    const reply = raw(toNamedEvents(readRecording("openai-responses", "openai-error.1")));
    const server = await serve(reply, reply);
    const sdk = createSdk(server.url);
    const expected: unknown = await sdk.responses
      .stream({ ...base, input: "x" })
      .finalResponse()
      .catch((error: unknown) => error);
    expect(expected).toBeInstanceOf(OpenAI.APIError);
    const ours = await ask(server);
    expect(ours.failure?.kind).toBe("billing");
    expect(ours.errorMessage).toMatch(/exceeded your current quota/);
    expect(server.requests).toHaveLength(2);
  });
});

function asOurs(item: OpenAI.Responses.ResponseOutputItem): unknown {
  switch (item.type) {
    case "message":
      return {
        type: "text",
        text: item.content.map((part) => (part.type === "output_text" ? part.text : part.refusal)).join(""),
        textSignature: JSON.stringify({ v: 1, id: item.id }),
      };
    case "reasoning":
      return {
        type: "thinking",
        thinking: item.summary.map((part) => part.text).join("\n\n"),
        thinkingSignature: JSON.stringify(item),
      };
    case "function_call":
      return {
        type: "toolCall",
        id: `${item.call_id}|${item.id}`,
        name: item.name,
        arguments: JSON.parse(item.arguments),
      };
    case "custom_tool_call":
      return { type: "toolCall", id: `${item.call_id}|${item.id}`, name: item.name, arguments: { input: item.input } };
    default:
      throw new Error(`The recordings hold no ${item.type}.`);
  }
}

describe("events that are missing, doubled or out of order do not change what is meant", () => {
  const added = (output_index: number | undefined, item: object) => ({
    type: "response.output_item.added",
    output_index,
    item,
  });
  const done = (output_index: number | undefined, item: object) => ({
    type: "response.output_item.done",
    output_index,
    item,
  });
  const completed = (fields: object = {}) => ({
    type: "response.completed",
    response: { id: "resp_1", status: "completed", ...fields },
  });
  const delta = (type: string, fields: object) => ({ type: `response.${type}.delta`, ...fields });
  const part = (type: string) => ({
    type: `response.${type}.added`,
    output_index: 0,
    content_index: 0,
    part: { type: "reasoning_text", text: "" },
  });
  const message = (said: string) => ({
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [{ type: "output_text", text: said }],
  });
  const weather = (args: string, id = "fc_1", callId = "call_1") => ({
    type: "function_call",
    id,
    call_id: callId,
    name: "weather",
    arguments: args,
  });
  const bareMessage = (content: string) => ({ type: "message", content: [{ type: "output_text", text: content }] });
  const bare = (args: string, call_id = "call_1") => ({
    type: "function_call",
    call_id,
    name: "weather",
    arguments: args,
  });
  const bareTwo = bare('{"place":"Bern"}', "call_2");
  const bareRome = { type: "toolCall", id: "call_1", name: "weather", arguments: { place: "Rome" } };
  const bareBern = { ...bareRome, id: "call_2", arguments: { place: "Bern" } };
  const said = { type: "text", text: "Hello", textSignature: '{"v":1,"id":"msg_1"}' };
  const rome = { type: "toolCall", id: "call_1|fc_1", name: "weather", arguments: { place: "Rome" } };

  const sequences: { name: string; events: object[]; content: unknown[] }[] = [
    {
      name: "text whose item was never announced nor ended",
      events: [
        delta("output_text", { output_index: 0, item_id: "msg_1", delta: "Hel" }),
        delta("output_text", { output_index: 0, item_id: "msg_1", delta: "lo" }),
        completed(),
      ],
      content: [text("Hello")],
    },
    {
      name: "text that came only as a whole item",
      events: [done(0, message("Hello")), completed()],
      content: [said],
    },
    {
      name: "an answer that came only at the end",
      events: [completed({ output: [message("Hello"), weather('{"place":"Rome"}')] })],
      content: [said, rome],
    },
    {
      name: "text whose last deltas were lost",
      events: [
        added(0, message("")),
        delta("output_text", { output_index: 0, delta: "Hel" }),
        done(0, message("Hello")),
        completed({ output: [message("Hello")] }),
      ],
      content: [said],
    },
    {
      name: "text whose deltas came in the wrong order",
      events: [
        added(0, message("")),
        delta("output_text", { output_index: 0, delta: "lo" }),
        delta("output_text", { output_index: 0, delta: "Hel" }),
        done(0, message("Hello")),
        completed(),
      ],
      content: [said],
    },
    {
      name: "an item that was announced, ended and continued twice",
      events: [
        added(0, message("")),
        added(0, message("")),
        delta("output_text", { output_index: 0, item_id: "msg_1", delta: "Hello" }),
        done(0, message("Hello")),
        done(0, message("Hello")),
        delta("output_text", { output_index: 0, item_id: "msg_1", delta: "Hello" }),
        completed(),
      ],
      content: [said],
    },
    {
      name: "a call whose arguments came before its name",
      events: [
        delta("function_call_arguments", { output_index: 0, item_id: "fc_1", delta: '{"place":' }),
        delta("function_call_arguments", { output_index: 0, item_id: "fc_1", delta: '"Rome"}' }),
        done(0, weather('{"place":"Rome"}')),
        completed(),
      ],
      content: [rome],
    },
    {
      name: "a call whose arguments came only when they were done",
      events: [
        added(0, weather("")),
        { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"place":"Rome"}' },
        done(0, weather("")),
        completed(),
      ],
      content: [rome],
    },
    {
      name: "a call whose arguments came at once and again in deltas",
      events: [
        added(0, weather('{"place":"Rome"}')),
        delta("function_call_arguments", { output_index: 0, delta: '{"place":"Rome"}' }),
        done(0, weather('{"place":"Rome"}')),
        completed(),
      ],
      content: [rome],
    },
    {
      name: "a call whose deltas came in the wrong order",
      events: [
        added(0, weather("")),
        delta("function_call_arguments", { output_index: 0, delta: '"Rome"}' }),
        delta("function_call_arguments", { output_index: 0, delta: '{"place":' }),
        done(0, weather('{"place":"Rome"}')),
        completed(),
      ],
      content: [rome],
    },
    {
      name: "parallel calls that all say index 0",
      events: [
        added(0, weather("")),
        added(0, weather("", "fc_2", "call_2")),
        delta("function_call_arguments", { output_index: 0, item_id: "fc_1", delta: '{"place":"Rome"}' }),
        delta("function_call_arguments", { output_index: 0, item_id: "fc_2", delta: '{"place":"Bern"}' }),
        done(0, weather('{"place":"Rome"}')),
        done(0, weather('{"place":"Bern"}', "fc_2", "call_2")),
        completed(),
      ],
      content: [rome, { ...rome, id: "call_2|fc_2", arguments: { place: "Bern" } }],
    },
    {
      name: "parallel calls without an index, interleaved",
      events: [
        added(undefined, weather("")),
        added(undefined, weather("", "fc_2", "call_2")),
        delta("function_call_arguments", { item_id: "fc_2", delta: '{"place":"Bern"}' }),
        delta("function_call_arguments", { item_id: "fc_1", delta: '{"place":"Rome"}' }),
        done(undefined, weather('{"place":"Bern"}', "fc_2", "call_2")),
        done(undefined, weather('{"place":"Rome"}')),
        completed(),
      ],
      content: [rome, { ...rome, id: "call_2|fc_2", arguments: { place: "Bern" } }],
    },
    {
      name: "parallel calls without ids, each as a whole item",
      events: [done(0, bare('{"place":"Rome"}')), done(1, bareTwo), completed()],
      content: [bareRome, bareBern],
    },
    {
      name: "parallel calls with neither ids nor indexes, each as a whole item",
      events: [done(undefined, bare('{"place":"Rome"}')), done(undefined, bareTwo), completed()],
      content: [bareRome, bareBern],
    },
    {
      name: "parallel calls without ids, interleaved",
      events: [
        added(0, bare("")),
        added(1, bare("", "call_2")),
        delta("function_call_arguments", { output_index: 1, delta: '{"place":"Bern"}' }),
        delta("function_call_arguments", { output_index: 0, delta: '{"place":"Rome"}' }),
        done(0, bare('{"place":"Rome"}')),
        done(1, bareTwo),
        completed({ output: [bare('{"place":"Rome"}'), bareTwo] }),
      ],
      content: [bareRome, bareBern],
    },
    {
      name: "a call without ids whose arguments came before its name",
      events: [
        delta("function_call_arguments", { output_index: 0, delta: '{"place":"Rome"}' }),
        added(0, bare("")),
        done(0, bare("")),
        completed(),
      ],
      content: [bareRome],
    },
    {
      name: "a call whose events name it only when it begins",
      events: [
        added(undefined, weather("")),
        delta("function_call_arguments", { delta: '{"place":"Rome"}' }),
        done(undefined, weather("")),
        completed(),
      ],
      content: [rome],
    },
    {
      name: "items without ids that came only at the end",
      events: [
        completed({
          output: [bareMessage("One"), bareMessage("Two"), bare('{"place":"Rome"}'), bare("{}", "call_2")],
        }),
      ],
      content: [text("One"), text("Two"), bareRome, { ...bareBern, arguments: {} }],
    },
    {
      name: "text that is told apart by its index alone",
      events: [
        delta("output_text", { output_index: 0, delta: "One" }),
        delta("output_text", { output_index: 1, delta: "Two" }),
        completed(),
      ],
      content: [text("One"), text("Two")],
    },
    {
      name: "a call that came only at the end, after text that came before",
      events: [
        added(0, message("")),
        delta("output_text", { output_index: 0, delta: "Hello" }),
        completed({ output: [message("Hello"), weather('{"place":"Rome"}')] }),
      ],
      content: [said, rome],
    },
    {
      name: "an output that counts its items differently",
      events: [
        delta("output_text", { output_index: 0, delta: "Hello" }),
        done(1, bare('{"place":"Rome"}')),
        completed({
          output: [{ type: "reasoning", summary: [] }, bareMessage("Hello"), bare('{"place":"Rome"}'), bareTwo],
        }),
      ],
      content: [text("Hello"), bareRome, thinking("", '{"type":"reasoning","summary":[]}'), bareBern],
    },
    {
      name: "ids that change with every event",
      events: [
        added(0, weather("", "fc_1")),
        delta("function_call_arguments", { output_index: 0, item_id: "x", delta: '{"place":"Rome"}' }),
        done(0, weather('{"place":"Rome"}', "y")),
        completed({ output: [weather('{"place":"Rome"}', "z")] }),
      ],
      content: [rome],
    },
    {
      name: "free text for a custom tool, with everything that JSON has to escape",
      events: [
        added(0, { type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "sql", input: "" }),
        delta("custom_tool_call_input", { output_index: 0, delta: 'a "b"\\' }),
        delta("custom_tool_call_input", { output_index: 0, delta: "\n\ud83d" }),
        delta("custom_tool_call_input", { output_index: 0, delta: "\ude00" }),
        { type: "response.custom_tool_call_input.done", output_index: 0, input: 'a "b"\\\n😀!' },
        done(0, { type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "sql", input: 'a "b"\\\n😀!' }),
        completed(),
      ],
      content: [{ type: "toolCall", id: "call_1|ctc_1", name: "sql", arguments: { input: 'a "b"\\\n😀!' } }],
    },
    {
      name: "parts of a summary, apart by a blank line",
      events: [
        delta("reasoning_summary_text", { output_index: 0, summary_index: 0, delta: "One" }),
        { type: "response.reasoning_summary_part.done", output_index: 0, summary_index: 0 },
        { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 1 },
        delta("reasoning_summary_text", { output_index: 0, summary_index: 1, delta: "Two" }),
        completed(),
      ],
      content: [thinking("One\n\nTwo")],
    },
    {
      name: "open reasoning",
      events: [
        delta("reasoning_text", { output_index: 0, content_index: 0, delta: "Hm" }),
        delta("reasoning_text", { output_index: 0, content_index: 0, delta: "." }),
        completed(),
      ],
      content: [thinking("Hm.")],
    },
    {
      name: "texts that come without deltas",
      events: [
        added(0, { type: "reasoning", id: "rs_1", summary: [] }),
        { type: "response.reasoning_text.done", output_index: 0, item_id: "rs_1", text: "Hm" },
        { type: "response.output_text.done", output_index: 1, item_id: "msg_1", text: "So" },
        completed(),
      ],
      content: [thinking("Hm"), { type: "text", text: "So" }],
    },
    {
      name: "open reasoning whose content index counts the deltas",
      events: [
        added(0, { type: "reasoning", id: "rs_1", summary: [] }),
        part("reasoning_part"),
        ...["We", " say", " hi."].map((piece, index) =>
          delta("reasoning_text", { output_index: 0, content_index: index, delta: piece }),
        ),
        part("content_part"),
        delta("reasoning_text", { output_index: 0, content_index: 3, delta: "Now" }),
        completed(),
      ],
      content: [thinking("We say hi.\n\nNow")],
    },
    {
      name: "reasoning whose encrypted content comes with the end",
      events: [
        added(0, { type: "reasoning", id: "rs_1", summary: [] }),
        done(0, { type: "reasoning", id: "rs_1", summary: [] }),
        completed({ output: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "late" }] }),
      ],
      content: [
        thinking("", JSON.stringify({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "late" })),
      ],
    },
    {
      name: "unknown events and items",
      events: [
        { type: "response.something.new", output_index: 0 },
        added(0, { type: "web_search_call", id: "ws_1" }),
        done(0, { type: "web_search_call", id: "ws_1" }),
        { output_index: "x", item: 7 },
        added(1, message("")),
        done(1, message("Hello")),
        completed({ output: "not a list", usage: { input_tokens: Number.NaN, output_tokens: -1 } }),
      ],
      content: [said],
    },
  ];

  test.each(sequences)("$name", ({ events, content }) => {
    const { draft } = play(events);
    expect(draft.message.content).toEqual(content);
    expect(draft.state).toEqual({ kind: "stopped", reason: "stop" });
    expect(draft.message.usage.input).toBe(0);
  });

  test("a call that was never ended is not executed with half its arguments", () => {
    const { draft } = play([
      added(0, weather("")),
      delta("function_call_arguments", { output_index: 0, delta: '{"place":"R' }),
      completed(),
    ]);
    expect(draft.message.content).toMatchObject([{ arguments: {}, argumentsError: expect.any(String) }]);
  });

  test("an item that is nested 10,000 levels deep is not kept, and does no harm", () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`);
    const { draft } = play([done(0, { type: "reasoning", id: "rs_1", summary: [], deep }), completed()]);
    expect(draft.message.content).toEqual([thinking("")]);
  });
});

const play = (events: object[]) => ({ draft: readStream(openaiResponses, model, events) });

describe("how a response ended", () => {
  const ended = (type: string, response: object) => ({ type: `response.${type}`, response });
  const endings: { name: string; event: object; raw?: string; state: object }[] = [
    {
      name: "complete",
      event: ended("completed", { status: "completed" }),
      raw: "completed",
      state: { kind: "stopped", reason: "stop" },
    },
    {
      name: "complete, without saying so twice",
      event: ended("completed", {}),
      raw: "completed",
      state: { kind: "stopped", reason: "stop" },
    },
    {
      name: "cut by its length",
      event: ended("incomplete", { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }),
      raw: "incomplete.max_output_tokens",
      state: { kind: "stopped", reason: "length" },
    },
    {
      name: "cut, under the name of a complete one",
      event: ended("done", { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }),
      raw: "incomplete.max_output_tokens",
      state: { kind: "stopped", reason: "length" },
    },
    {
      name: "cut for an unknown reason",
      event: ended("incomplete", { status: "incomplete", incomplete_details: { reason: "boredom" } }),
      raw: "incomplete.boredom",
      state: { kind: "stopped", reason: "length" },
    },
    {
      name: "cut without a reason",
      event: ended("incomplete", { incomplete_details: null }),
      raw: "incomplete",
      state: { kind: "stopped", reason: "length" },
    },
    {
      name: "filtered",
      event: ended("incomplete", { status: "incomplete", incomplete_details: { reason: "content_filter" } }),
      raw: "incomplete.content_filter",
      state: { kind: "stopped", refusal: { kind: "refused" } },
    },
    {
      name: "failed",
      event: ended("failed", { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down" } }),
      raw: "failed",
      state: { kind: "failed", failure: { kind: "rate_limited", message: "Slow down" } },
    },
    {
      name: "failed without a word",
      event: ended("failed", { error: null }),
      raw: "failed",
      state: { kind: "failed", failure: { kind: "unknown", message: expect.stringMatching(/failed/) } },
    },
    {
      name: "cancelled",
      event: ended("cancelled", { status: "cancelled" }),
      raw: "cancelled",
      state: { kind: "failed", failure: { kind: "unknown" } },
    },
    {
      name: "an error event with an object",
      event: { type: "error", error: { type: "server_error", code: "server_error", message: "Oops" } },
      state: { kind: "failed", failure: { kind: "overloaded", message: "Oops" } },
    },
    {
      name: "an error event with fields of its own",
      event: { type: "error", code: "context_length_exceeded", message: "Too long", param: null },
      state: { kind: "failed", failure: { kind: "context_overflow", message: "Too long" } },
    },
  ];

  test.each(endings)("$name", ({ event, raw, state }) => {
    const { draft } = play([event]);
    expect(draft.state).toMatchObject(state);
    expect(draft.message.rawStopReason).toBe(raw);
  });

  test("said by [DONE], so that nothing more is waited for", () => {
    const done = [ended("completed", { status: "completed" }), "[DONE]"];
    expect(readStream(openaiResponses, model, done).state).toEqual({ kind: "ended", reason: "stop" });
    expect(readStream(openaiResponses, model, ["[DONE]"]).state).toEqual({ kind: "open" });
  });

  test("what a filtered answer cost is still read", () => {
    const filtered = { status: "incomplete", incomplete_details: { reason: "content_filter" } };
    const usage = { input_tokens: 100, output_tokens: 5 };
    expect(play([ended("incomplete", { ...filtered, usage })]).draft.message.usage).toMatchObject({
      input: 100,
      output: 5,
    });
  });

  test("refused by the model: its words are kept and the answer is a failure", () => {
    const part = { type: "refusal", refusal: "I can't help with that." };
    const { draft } = play([
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "msg_1", content: [] } },
      { type: "response.refusal.delta", output_index: 0, delta: "I can't help " },
      { type: "response.refusal.delta", output_index: 0, delta: "with that." },
      { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "msg_1", content: [part] } },
      ended("completed", { status: "completed" }),
    ]);
    expect(draft.message.content).toMatchObject([text("I can't help with that.")]);
    expect(draft.state).toMatchObject({ refusal: { kind: "refused", message: expect.stringMatching(/can't help/) } });
  });
});

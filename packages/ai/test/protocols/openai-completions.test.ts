import fc from "fast-check";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/message.ts";
import type { Model, OpenAICompletionsCompat, ThinkingFormat } from "../../src/model.ts";
import type { SimpleStreamOptions } from "../../src/options.ts";
import { openaiCompletions } from "../../src/protocols/openai-completions/index.ts";
import { sse } from "../../src/testing/dialects/dialect.ts";
import { openaiCompletionsDialect as dialect } from "../../src/testing/dialects/openai-completions.ts";
import { call, text, thinking } from "../../src/testing/script.ts";
import {
  assistant,
  clockTool,
  closed,
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

/** OpenAI's own flags; on loopback the host's defaults would be those of a local server. */
const openai: OpenAICompletionsCompat = {
  supportsStore: true,
  supportsDeveloperRole: true,
  supportsStrictMode: true,
  supportsLongCacheRetention: true,
  maxTokensField: "max_completion_tokens",
  toolCallIdFormat: "openai",
};

const gpt = (baseUrl: string) =>
  createModel({ api: "openai-completions", provider: "openai", id: "gpt-test", baseUrl, compat: openai });
const model = gpt("https://models.example/v1");
const { serve, ask, send, expectSameRequest } = testProvider({ dialect, model: gpt });

type Params = OpenAI.ChatCompletionCreateParamsStreaming;
/** Fields that only compatible servers know; the SDK passes them on. */
type AnyParams = Omit<Params, "stream"> & Record<string, unknown>;

const base = { model: "gpt-test", store: false, stream_options: { include_usage: true } };
const hello = [{ role: "user" as const, content: "Hello" }];
const sdkTool = (tool: typeof weatherTool | typeof clockTool) => ({
  type: "function" as const,
  function: { name: tool.name, description: tool.description, parameters: closed(tool).parameters },
});
const imagePart = { type: "image_url" as const, image_url: { url: `data:image/png;base64,${pixel}` } };
const sdkCall = (id: string, name: string, args: string) => ({
  id,
  type: "function" as const,
  function: { name, arguments: args },
});
const turn = [
  user("Weather?"),
  assistant(model, [text("I'll look."), call("weather", { place: "Rome" }, "a"), call("clock", {}, "b")]),
  result("b", "clock", [text("noon")]),
  result("a", "weather", [text("sunny"), text("and warm")], true),
];
const sdkTurn = [
  { role: "user" as const, content: "Weather?" },
  {
    role: "assistant" as const,
    content: "I'll look.",
    tool_calls: [sdkCall("a", "weather", '{"place":"Rome"}'), sdkCall("b", "clock", "{}")],
  },
  { role: "tool" as const, content: "sunny\nand warm", tool_call_id: "a" },
  { role: "tool" as const, content: "noon", tool_call_id: "b" },
];

/** A conversation in which the model has thought, as the server told it in `field`. */
const thoughtful = (field: string) => [
  user("Think."),
  assistant(model, [thinking("Hm.", field), text("Done.")]),
  user("More."),
];

const cases: OracleCase<AnyParams>[] = [
  { name: "a question", context: { messages: [user("Hello")] }, params: { ...base, messages: hello } },
  {
    name: "a system prompt to a model that reasons",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    params: { ...base, messages: [{ role: "developer", content: "Be brief." }, ...hello] },
  },
  {
    name: "a system prompt to a model that does not",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    model: { reasoning: false },
    params: { ...base, messages: [{ role: "system", content: "Be brief." }, ...hello] },
  },
  {
    name: "a system prompt to a server without the developer role, or storage, or usage",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    model: { compat: { supportsDeveloperRole: false, supportsStore: false, supportsUsageInStreaming: false } },
    params: { model: "gpt-test", messages: [{ role: "system", content: "Be brief." }, ...hello] },
  },
  {
    name: "temperature and a limit",
    context: { messages: [user("Hello")] },
    options: { temperature: 0.5, maxTokens: 100 },
    params: { ...base, messages: hello, temperature: 0.5, max_completion_tokens: 100 },
  },
  {
    name: "a form of the answer",
    context: { messages: [user("Hello")] },
    options: { output: personOutput },
    model: { compat: { supportsOutputFormat: true } },
    params: {
      ...base,
      messages: hello,
      response_format: { type: "json_schema", json_schema: { name: "person", schema: strictPerson, strict: true } },
    },
  },
  {
    name: "a limit under its older name",
    context: { messages: [user("Hello")] },
    options: { maxTokens: 100 },
    model: { compat: { maxTokensField: "max_tokens" } },
    params: { ...base, messages: hello, max_tokens: 100 },
  },
  {
    name: "an image",
    context: { messages: [user([text("What is it?"), image])] },
    params: { ...base, messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, imagePart] }] },
  },
  {
    name: "tools",
    context: { messages: [user("Hello")], tools: [clockTool, weatherTool] },
    params: { ...base, messages: hello, tools: [sdkTool(clockTool), sdkTool(weatherTool)] },
  },
  ...(["auto", "any", "none"] as const).map((toolChoice) => ({
    name: `tool choice ${toolChoice}`,
    context: { messages: [user("Hello")], tools: [weatherTool] },
    options: { toolChoice },
    params: {
      ...base,
      messages: hello,
      tools: [sdkTool(weatherTool)],
      tool_choice: toolChoice === "any" ? ("required" as const) : toolChoice,
    },
  })),
  {
    name: "a demanded tool",
    context: { messages: [user("Hello")], tools: [weatherTool] },
    options: { toolChoice: { name: "weather" } },
    params: {
      ...base,
      messages: hello,
      tools: [sdkTool(weatherTool)],
      tool_choice: { type: "function", function: { name: "weather" } },
    },
  },
  {
    name: "a strict tool",
    context: { messages: [user("Hello")], tools: [{ ...weatherTool, strict: "require" }] },
    params: {
      ...base,
      messages: hello,
      tools: [
        {
          type: "function",
          function: {
            name: "weather",
            description: "The weather of a place",
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
          },
        },
      ],
    },
  },
  {
    name: "calls and their results",
    context: { messages: [...turn, user("And now?")] },
    params: { ...base, messages: [...sdkTurn, { role: "user", content: "And now?" }] },
  },
  {
    name: "calls without words",
    context: {
      messages: [user("Hello"), assistant(model, [call("clock", {}, "b")]), result("b", "clock", [text("noon")])],
    },
    params: {
      ...base,
      messages: [
        ...hello,
        { role: "assistant", content: null, tool_calls: [sdkCall("b", "clock", "{}")] },
        { role: "tool", content: "noon", tool_call_id: "b" },
      ],
    },
  },
  {
    name: "results with names, and an answer before the user speaks again",
    context: { messages: [...turn, user("And now?")] },
    model: { compat: { requiresToolResultName: true, requiresAssistantAfterToolResult: true } },
    params: {
      ...base,
      messages: [
        ...sdkTurn.slice(0, 2),
        {
          role: "tool",
          content: "sunny\nand warm",
          tool_call_id: "a",
          name: "weather",
        } as OpenAI.ChatCompletionMessageParam,
        { role: "tool", content: "noon", tool_call_id: "b", name: "clock" } as OpenAI.ChatCompletionMessageParam,
        { role: "assistant", content: "I have read the results." },
        { role: "user", content: "And now?" },
      ],
    },
  },
  {
    name: "images in results, which follow all of them",
    context: {
      messages: [
        user("Look."),
        assistant(model, [call("camera", {}, "a"), call("clock", {}, "b")]),
        result("a", "camera", [image]),
        result("b", "clock", [text("noon")]),
        user("Well?"),
      ],
    },
    params: {
      ...base,
      messages: [
        { role: "user", content: "Look." },
        {
          role: "assistant",
          content: null,
          tool_calls: [sdkCall("a", "camera", "{}"), sdkCall("b", "clock", "{}")],
        },
        { role: "tool", content: "(the images follow)", tool_call_id: "a" },
        { role: "tool", content: "noon", tool_call_id: "b" },
        { role: "user", content: [{ type: "text", text: "Shown by camera (a):" }, imagePart] },
        { role: "user", content: "Well?" },
      ],
    },
  },
  ...["reasoning_content", "reasoning", "reasoning_text"].map((field) => ({
    name: `its own thinking, in ${field} as it came`,
    context: { messages: thoughtful(field) },
    params: {
      ...base,
      messages: [
        { role: "user" as const, content: "Think." },
        { role: "assistant" as const, content: "Done.", [field]: "Hm." },
        { role: "user" as const, content: "More." },
      ],
    },
  })),
  {
    name: "its own thinking as text",
    context: { messages: thoughtful("reasoning_content") },
    model: { compat: { requiresThinkingAsText: true } },
    params: {
      ...base,
      messages: [
        { role: "user", content: "Think." },
        { role: "assistant", content: "Hm.\n\nDone." },
        { role: "user", content: "More." },
      ],
    },
  },
  {
    name: "thinking that every assistant message must have",
    context: {
      messages: [...thoughtful("reasoning"), assistant(model, [text("Again.")]), user("And?")],
    },
    options: { reasoning: "high" },
    model: { compat: { requiresReasoningContentOnAssistantMessages: true } },
    params: {
      ...base,
      reasoning_effort: "high",
      messages: [
        { role: "user", content: "Think." },
        { role: "assistant", content: "Done.", reasoning_content: "Hm." } as OpenAI.ChatCompletionMessageParam,
        { role: "user", content: "More." },
        { role: "assistant", content: "Again.", reasoning_content: "" } as OpenAI.ChatCompletionMessageParam,
        { role: "user", content: "And?" },
      ],
    },
  },
  {
    name: "encrypted thinking of a call and of the message",
    context: {
      messages: [
        user("Hello"),
        assistant(model, [
          {
            type: "thinking",
            thinking: "Hm.",
            thinkingSignature: '[{"type":"reasoning.text","text":"Hm.","signature":"s","index":0}]',
          },
          { ...call("clock", {}, "b"), thoughtSignature: '{"type":"reasoning.encrypted","id":"b","data":"x"}' },
        ]),
        result("b", "clock", [text("noon")]),
      ],
    },
    params: {
      ...base,
      messages: [
        ...hello,
        {
          role: "assistant",
          content: null,
          tool_calls: [sdkCall("b", "clock", "{}")],
          reasoning_details: [
            { type: "reasoning.text", text: "Hm.", signature: "s", index: 0 },
            { type: "reasoning.encrypted", id: "b", data: "x" },
          ],
        } as OpenAI.ChatCompletionMessageParam,
        { role: "tool", content: "noon", tool_call_id: "b" },
      ],
    },
  },
  {
    name: "a long cache",
    context: { messages: [user("Hello")] },
    options: { cacheRetention: "long", sessionId: "s".repeat(100) },
    params: { ...base, messages: hello, prompt_cache_key: "s".repeat(64), prompt_cache_retention: "24h" },
  },
  {
    name: "cache markers in Anthropic's way",
    context: { systemPrompt: "Be brief.", messages: turn, tools: [clockTool, weatherTool] },
    options: { cacheRetention: "long", sessionId: "s" },
    model: { compat: { cacheControlFormat: "anthropic" } },
    params: {
      ...base,
      messages: [
        { role: "developer", content: [marked("Be brief.")] },
        ...sdkTurn.slice(0, 3),
        { role: "tool", content: [marked("noon")], tool_call_id: "b" },
      ],
      tools: [
        sdkTool(clockTool),
        { ...sdkTool(weatherTool), cache_control: { type: "ephemeral", ttl: "1h" } } as OpenAI.ChatCompletionTool,
      ],
    },
  },
  {
    name: "tool streaming, and routing through gateways",
    context: { messages: [user("Hello")], tools: [clockTool] },
    model: {
      compat: {
        zaiToolStream: true,
        openRouterRouting: { only: ["a"] },
        vercelGatewayRouting: { order: ["b"] },
      },
    },
    params: {
      ...base,
      messages: hello,
      tools: [sdkTool(clockTool)],
      tool_stream: true,
      provider: { only: ["a"] },
      providerOptions: { gateway: { order: ["b"] } },
    },
  },
  ...thinkingCases(),
];

function marked(content: string) {
  return { type: "text" as const, text: content, cache_control: { type: "ephemeral", ttl: "1h" } };
}

/** Cases for thinking on and off, as each kind of server documents it. */
function thinkingCases(): OracleCase<AnyParams>[] {
  const table: [ThinkingFormat, SimpleStreamOptions, Partial<Model>, Record<string, unknown>][] = [
    ["openai", { reasoning: "low" }, {}, { reasoning_effort: "low" }],
    ["openai", {}, {}, {}],
    ["openai", {}, { thinkingLevelMap: { off: "none" } }, { reasoning_effort: "none" }],
    ["openai", {}, { thinkingLevelMap: { off: null } }, { reasoning_effort: "minimal" }],
    ["openai", { reasoning: "high" }, { thinkingLevelMap: { high: "default" } }, { reasoning_effort: "default" }],
    ["openai", { reasoning: "high" }, { reasoning: false }, {}],
    ["openrouter", { reasoning: "high" }, {}, { reasoning: { effort: "high" } }],
    ["openrouter", {}, {}, { reasoning: { effort: "none" } }],
    ["deepseek", { reasoning: "high" }, {}, { thinking: { type: "enabled" }, reasoning_effort: "high" }],
    ["deepseek", {}, {}, { thinking: { type: "disabled" } }],
    [
      "zai",
      { reasoning: "high" },
      {},
      { thinking: { type: "enabled", clear_thinking: false }, reasoning_effort: "high" },
    ],
    ["zai", {}, {}, { thinking: { type: "disabled" } }],
    ["qwen", { reasoning: "high" }, {}, { enable_thinking: true, reasoning_effort: "high" }],
    ["qwen", {}, {}, { enable_thinking: false }],
    [
      "qwen-chat-template",
      { reasoning: "high" },
      {},
      { chat_template_kwargs: { enable_thinking: true, preserve_thinking: true } },
    ],
    ["together", { reasoning: "high" }, {}, { reasoning: { enabled: true }, reasoning_effort: "high" }],
    ["together", {}, {}, { reasoning: { enabled: false } }],
    ["ant-ling", { reasoning: "high" }, {}, { reasoning: { effort: "high" } }],
    ["ant-ling", {}, {}, {}],
    [
      "baseten",
      {},
      { compat: { chatTemplateArgs: { enable_thinking: { $var: "thinking.enabled" } } } },
      { chat_template_args: { enable_thinking: false } },
    ],
    [
      "chat-template",
      { reasoning: "medium", thinkingBudgets: { medium: 5_000 }, maxTokens: 4_024 },
      {
        compat: {
          chatTemplateKwargs: {
            style: "plain",
            think: { $var: "thinking.enabled" },
            effort: { $var: "thinking.effort", omitWhenOff: true },
            budget: { $var: "thinking.budget" },
          },
        },
      },
      {
        max_completion_tokens: 4_024,
        chat_template_kwargs: { style: "plain", think: true, effort: "medium", budget: 3_000 },
      },
    ],
    [
      "chat-template",
      {},
      {
        compat: {
          chatTemplateKwargs: {
            think: { $var: "thinking.enabled" },
            effort: { $var: "thinking.effort", omitWhenOff: true },
          },
        },
      },
      { chat_template_kwargs: { think: false } },
    ],
  ];
  const strings: typeof table = [
    ["string-thinking", { reasoning: "high" }, {}, { thinking: "high" }],
    ["string-thinking", {}, {}, { thinking: "none" }],
    ["string-thinking", {}, { thinkingLevelMap: { off: "disabled" } }, { thinking: "disabled" }],
  ];
  const budgets = (["thinking_token_budget", "thinking_budget", "thinking_budget_tokens"] as const).flatMap(
    (thinkingTokenBudgetField): typeof table => [
      [
        "openai",
        { reasoning: "low", thinkingBudgets: { low: 700 } },
        { compat: { thinkingTokenBudgetField } },
        { reasoning_effort: "low", [thinkingTokenBudgetField]: 700 },
      ],
      ["openai", {}, { compat: { thinkingTokenBudgetField } }, {}],
    ],
  );
  const alias: (typeof table)[number] = [
    "openai",
    { reasoning: "low", thinkingBudgets: { low: 700 } },
    { compat: { supportsThinkingTokenBudget: true } },
    { reasoning_effort: "low", thinking_token_budget: 700 },
  ];
  return [...table, ...strings, ...budgets, alias].map(([thinkingFormat, options, changes, fields]) => ({
    name: `thinking for ${thinkingFormat}: ${JSON.stringify(fields)}`,
    context: { messages: [user("Hello")] },
    options,
    model: { ...changes, compat: { ...changes.compat, thinkingFormat } } as Partial<Model>,
    params: { ...base, ...fields, messages: hello },
  }));
}

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("$name", async ({ params, model: changes, ...conversation }) => {
    const compat = { ...openai, ...changes?.compat };
    const { message } = await expectSameRequest({
      ours: (url) => send(url, { ...conversation, model: { ...changes, compat } as Partial<Model> }),
      theirs: async (url) => {
        const completions = createSdk(url).chat.completions;
        const { choices } = await completions.stream(params as unknown as Params).finalChatCompletion();
        expect(choices[0]?.message.content).toBe("ok");
      },
      headers: ["authorization", "content-type"],
    });
    expect(message.diagnostics).toBeUndefined();
  });
});

const createSdk = (baseURL: string) => new OpenAI({ apiKey: "key", baseURL, maxRetries: 0 });

test("the vendor's SDK understands our server: text, calls, usage and reason", async () => {
  const content = [text("Let me see."), call("weather", { place: "Zürich" }, "a"), call("now", {}, "b")];
  const usage = { input: 100, output: 50, cacheRead: 30, reasoning: 20 };
  const server = await serve({ kind: "answer", answer: { content, usage } });
  const sdk = createSdk(server.url);
  const params = { ...base, messages: hello } as Params;
  const { choices, usage: counted, id } = await sdk.chat.completions.stream(params).finalChatCompletion();
  expect(id).toBe("answer-1");
  expect(choices[0]?.finish_reason).toBe("tool_calls");
  expect(choices[0]?.message.content).toBe("Let me see.");
  expect(choices[0]?.message.tool_calls).toMatchObject([
    sdkCall("a", "weather", '{"place":"Zürich"}'),
    sdkCall("b", "now", "{}"),
  ]);
  expect(counted).toMatchObject({
    prompt_tokens: 130,
    completion_tokens: 50,
    total_tokens: 180,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 20 },
  });
});

describe("recordings mean to us what they mean to the vendor's SDK", () => {
  const names = ["alibaba-tool-call", "deepseek-tool-call", "groq-tool-call", "openai-text", "xai-tool-call"];
  test.each(names)("%s", async (name) => {
    const reply = raw([...readRecording("openai-completions", name), "[DONE]"].map((line) => sse(line)));
    const server = await serve(reply, reply);
    const sdk = createSdk(server.url).chat.completions.stream({ ...base, messages: hello } as Params);
    let thoughts = "";
    sdk.on("chunk", ({ choices }) => {
      thoughts += (choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? "";
    });
    const expected = await sdk.finalChatCompletion();
    const ours = await ask(server);
    const said = expected.choices[0]!;
    expect(ours.content.flatMap((block) => (block.type === "text" ? block.text : [])).join("")).toBe(
      said.message.content ?? "",
    );
    expect(ours.content.flatMap((block) => (block.type === "thinking" ? block.thinking : [])).join("")).toBe(thoughts);
    expect(ours.content.flatMap((block) => (block.type === "toolCall" ? [asVendor(block)] : []))).toEqual(
      (said.message.tool_calls ?? []).map((made) =>
        made.type === "function"
          ? { id: made.id, name: made.function.name, args: JSON.parse(made.function.arguments) }
          : made,
      ),
    );
    expect(ours.responseId).toBe(expected.id);
    expect(ours.responseModel).toBe(expected.model);
    expect(ours.rawStopReason).toBe(said.finish_reason);
    expect(ours.stopReason).toBe({ stop: "stop", tool_calls: "toolUse" }[said.finish_reason as string]);
    const { usage } = expected;
    expect(ours.usage.input + ours.usage.cacheRead).toBe(usage!.prompt_tokens);
    expect(ours.usage.cacheRead).toBe(usage!.prompt_tokens_details?.cached_tokens ?? 0);
    expect(ours.usage.totalTokens).toBe(usage!.total_tokens);
  });

  test("a server that closes after its reason, without saying that this was all, has answered", async () => {
    const chunks = readRecording("openai-completions", "xai-tool-call").map((line) => sse(line));
    const server = await serve(raw(chunks));
    const ours = await ask(server);
    expect(ours.stopReason).toBe("toolUse");
    expect(ours.content).toEqual([
      { type: "thinking", thinking: "First, the user is", thinkingSignature: "reasoning_content" },
      { type: "toolCall", id: "call_55117580", name: "weather", arguments: { location: "San Francisco" } },
    ]);
    // Thinking is not part of xAI's completion tokens: 26 and 196.
    expect(ours.usage).toMatchObject({ input: 1, cacheRead: 290, output: 222, reasoning: 196, totalTokens: 513 });
  });
});

const asVendor = ({ id, name, arguments: args }: AssistantMessage["content"][number] & { type: "toolCall" }) => ({
  id,
  name,
  args,
});

const read = (chunks: unknown[], asked: Model = model) => {
  const { message, state } = readStream(openaiCompletions, asked, chunks);
  return { message, state };
};

const delta = (fields: object, finish_reason: string | null = null) => ({
  id: "r",
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const calls = (...pieces: object[]) => delta({ tool_calls: pieces });
const made = (name: string, args = "") => ({ function: { name, arguments: args } });
const anyId = expect.stringMatching(/\w/) as string;
/** A text, cut in front of some of its characters. */
const pieces = (whole: string, cuts: readonly number[]): string[] => {
  const ends = [...new Set(cuts.filter((cut) => cut > 0 && cut < whole.length))].sort((a, b) => a - b);
  return [...ends, whole.length].map((end, n) => whole.slice(n === 0 ? 0 : ends[n - 1], end));
};
const more = (args: string) => ({ function: { arguments: args } });

describe("tool calls survive what servers do to them", () => {
  const a = call("weather", { place: "Rome" }, "a");
  const b = call("clock", {}, "b");
  test.each<[string, object[], AssistantMessage["content"]]>([
    [
      "pieces of two calls that alternate",
      [
        calls({ index: 0, id: "a", ...made("weather") }, { index: 1, id: "b", ...made("clock") }),
        calls({ index: 1, ...more("{") }, { index: 0, ...more('{"place":') }),
        calls({ index: 0, ...more('"Rome"}') }, { index: 1, ...more("}") }),
      ],
      [a, b],
    ],
    [
      "no index at all",
      [
        calls({ id: "a", ...made("weather", '{"place"') }),
        calls(more(':"Rome"}')),
        calls({ id: "b", ...made("clock", "{}") }),
      ],
      [a, b],
    ],
    [
      "one index for all calls",
      [
        calls({ index: 0, id: "a", ...made("weather", '{"place":"Rome"}') }),
        calls({ index: 0, id: "b", ...made("clock", "{}") }),
      ],
      [a, b],
    ],
    [
      "id and name in every piece",
      ['{"place":', '"Rome"}'].map((args) => calls({ index: 0, id: "a", ...made("weather", args) })),
      [a],
    ],
    [
      "an id that comes late, and a name in pieces",
      [
        calls({ index: 0, ...made("wea") }),
        calls({ index: 0, id: "a", ...made("ther") }),
        calls({ index: 0, ...more('{"place":"Rome"}') }),
      ],
      [a],
    ],
    [
      "arguments as an object",
      [calls({ index: 0, id: "a", function: { name: "weather", arguments: { place: "Rome" } } })],
      [a],
    ],
    ["arguments that never come", [calls({ index: 0, id: "b", ...made("clock") })], [b]],
    ["arguments that say null", [calls({ index: 0, id: "b", ...made("clock", "null") })], [b]],
    [
      "arguments that say null in pieces",
      [calls({ index: 0, id: "b", ...made("clock", " nu") }), calls({ index: 0, ...more("ll\n") })],
      [b],
    ],
    [
      "id and name in every piece, also in one after the arguments",
      ['{"place":', '"Rome"}', "", "\n"].map((args) => calls({ index: 0, id: "a", ...made("weather", args) })),
      [a],
    ],
    [
      "a name in every piece, and text after the arguments",
      [
        calls({ index: 0, id: "a", ...made("weather", '{"place"') }),
        ...[':"Ro', 'me"}', "}", ""].map((args) => calls({ index: 0, ...made("weather", args) })),
      ],
      [a],
    ],
    [
      "a whole call that comes again",
      [1, 2].map(() => calls({ id: "a", ...made("weather", '{"place":"Rome"}') })),
      [a],
    ],
    [
      "a name that comes after the arguments",
      [calls({ index: 0, id: "a", ...more('{"place":"Rome"}') }), calls({ index: 0, ...made("weather") })],
      [a],
    ],
    [
      "entries that say nothing",
      [calls({}), calls({ index: 0, id: "b", ...made("clock", "{}") }, { function: null })],
      [b],
    ],
    [
      "one call in the field from before there were lists",
      [
        delta({ function_call: { name: "weather", arguments: "" } }),
        delta({ function_call: { arguments: '{"place":"Rome"}' } }),
      ],
      [{ ...a, id: anyId }],
    ],
    [
      "both fields, which say the same",
      [
        delta({
          tool_calls: [{ index: 0, id: "b", ...made("clock", "{}") }],
          function_call: { name: "clock", arguments: "{}" },
        }),
      ],
      [b],
    ],
  ])("%s", (_name, chunks, content) => {
    const { message } = read([...chunks, delta({}, "tool_calls")]);
    expect(message.content).toEqual(content);
  });

  const rome = '{"place":"Rome"}';
  const bern = '{"place":"Bern, {CH} \\"BE\\""}';
  test.each<[string, object[]]>([
    ["in one list without indexes", [calls({ id: "", ...made("weather", rome) }, { ...made("weather", bern) })]],
    [
      "in one list, all with index 0",
      [calls({ index: 0, ...made("weather", rome) }, { index: 0, ...made("weather", bern) })],
    ],
    ["one after the other", [calls({ id: "", ...made("weather", rome) }), calls(made("weather", bern))]],
    [
      "one after the other, all with index 0",
      [calls({ index: 0, ...made("weather", rome) }), calls({ index: 0, id: "", ...made("weather", bern) })],
    ],
    [
      "one after the other, in pieces",
      [
        calls({ index: 0, ...made("weather") }),
        ...[rome.slice(0, 5), rome.slice(5)].map((args) => calls({ index: 0, ...more(args) })),
        calls({ index: 0, ...made("weather") }),
        ...[bern.slice(0, 20), bern.slice(20)].map((args) => calls({ index: 0, ...more(args) })),
      ],
    ],
    [
      "with arguments that are objects",
      [rome, bern].map((args) => calls({ function: { name: "weather", arguments: JSON.parse(args) as unknown } })),
    ],
    ["that share one id", [rome, bern].map((args) => calls({ id: "x", ...made("weather", args) }))],
  ])("calls of the same tool stay apart: %s", (_name, chunks) => {
    const { message } = read([...chunks, delta({}, "tool_calls")]);
    expect(message.content).toEqual([{ ...a, id: anyId }, call("weather", { place: 'Bern, {CH} "BE"' }, anyId)]);
    const [first, second] = message.content.map((block) => block.type === "toolCall" && block.id);
    expect(first).not.toBe(second);
  });

  test("a call without arguments may stand twice in a list", () => {
    const { message } = read([calls(made("clock"), made("clock", "null")), delta({}, "tool_calls")]);
    expect(message.content).toEqual([
      { ...b, id: anyId },
      { ...b, id: anyId },
    ]);
  });

  test("however the calls of one stream are cut, every one of them is there", () => {
    const args = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.array(fc.string())));
    const cuts = fc.array(fc.nat(40), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(fc.tuple(args, cuts), { minLength: 1, maxLength: 4 }), fc.boolean(), (wanted, repeats) => {
        const chunks = wanted.flatMap(([value, at]) =>
          pieces(JSON.stringify(value), at).map((piece, n) =>
            calls({ index: 0, ...(n === 0 || repeats ? made("weather", piece) : more(piece)) }),
          ),
        );
        const { message } = read([...chunks, delta({}, "tool_calls")]);
        expect(message.content).toEqual(wanted.map(([value]) => call("weather", value, anyId)));
      }),
    );
  });

  test("calls without ids get one each, the same in every reading", () => {
    const chunks = [
      calls({ index: 0, id: "", ...made("clock", "{}") }, { index: 1, ...made("clock", "{}") }),
      delta({}, "stop"),
    ];
    const ids = read(chunks).message.content.map((block) => block.type === "toolCall" && block.id);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => id && /^call_\w{13}$/.test(id))).toBe(true);
    expect(read(chunks).message.content.map((block) => block.type === "toolCall" && block.id)).toEqual(ids);
  });

  test("two calls with one id become two calls with two ids", () => {
    const same = { id: "a", ...made("clock", "{}") };
    const { message } = read([calls({ index: 0, ...same }, { index: 1, ...same }), delta({}, "stop")]);
    const ids = message.content.map((block) => block.type === "toolCall" && block.id);
    expect(ids[0]).toBe("a");
    expect(ids[1]).not.toBe("a");
  });
});

describe("words and thinking", () => {
  test("that alternate are blocks of their own, in order, and a call ends both", () => {
    const { message } = read([
      delta({ content: "", reasoning_content: "A" }),
      delta({ content: "b", reasoning_content: "" }),
      delta({ content: "c" }),
      delta({ reasoning: "D" }),
      calls({ index: 0, id: "a", ...made("clock", "{}") }),
      delta({ content: "e" }, "tool_calls"),
    ]);
    expect(message.content).toEqual([
      thinking("A", "reasoning_content"),
      text("bc"),
      thinking("D", "reasoning"),
      call("clock", {}, "a"),
      text("e"),
    ]);
  });

  test("thinking in two fields is told once", () => {
    const { message } = read([delta({ reasoning: "Hm.", reasoning_content: "Hm." }, "stop")]);
    expect(message.content).toEqual([thinking("Hm.", "reasoning_content")]);
  });

  test("an answer that comes whole, as a message, is read like one in pieces", () => {
    const message = {
      role: "assistant",
      content: "Yes.",
      reasoning_content: "Hm.",
      tool_calls: [{ id: "a", ...made("clock", "{}") }],
    };
    const whole = { id: "r", choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
    const expected = [thinking("Hm.", "reasoning_content"), text("Yes."), call("clock", {}, "a")];
    const once = read([whole, "[DONE]"]);
    expect(once.message.content).toEqual(expected);
    expect(once.state).toEqual({ kind: "ended", reason: "toolUse" });
    expect(read([delta({ role: "assistant" }), { ...whole }, "[DONE]"]).message.content).toEqual(expected);
    const { content: _content, reasoning_content: _reasoning, ...rest } = message;
    const piecemeal = [delta({ reasoning_content: "Hm." }), delta({ content: "Yes." }), delta(rest)];
    expect(read([...piecemeal, whole, "[DONE]"]).message.content).toEqual(expected);
  });

  test("of several choices only the first is read", () => {
    const choice = (index: number | undefined, content: string, finish_reason: string | null = null) => ({
      ...(index !== undefined && { index }),
      delta: { content },
      finish_reason,
    });
    const several = read([
      { choices: [choice(1, "x"), choice(0, "a")] },
      { choices: [choice(1, "y", "length")] },
      { choices: [choice(0, "b", "stop")] },
    ]);
    expect(several.message.content).toEqual([text("ab")]);
    expect(several.state).toEqual({ kind: "stopped", reason: "stop" });
    expect(read([{ choices: [choice(undefined, "a"), choice(undefined, "b")] }]).message.content).toEqual([text("a")]);
  });

  test("content in parts is read part by part", () => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
      { type: "text", text: "Yes" },
      { type: "unknown" },
    ];
    const { message } = read([delta({ content: parts }), delta({ content: "." }, "stop")]);
    expect(message.content).toEqual([thinking("Hm.", "reasoning_content"), text("Yes.")]);
  });

  test("encrypted details go to the call they name, others to the thinking before", () => {
    const own = { type: "reasoning.encrypted", id: "a", data: "x" };
    const other = { type: "reasoning.encrypted", id: "rs_1", data: "y" };
    const { message } = read([
      delta({ reasoning: "Hm." }),
      delta({ content: "So." }),
      delta({ tool_calls: [{ index: 0, id: "a", ...made("clock", "{}") }], reasoning_details: [own, other] }),
      delta({}, "tool_calls"),
    ]);
    expect(message.content).toEqual([
      thinking("Hm.", JSON.stringify([other])),
      text("So."),
      { ...call("clock", {}, "a"), thoughtSignature: JSON.stringify(own) },
    ]);
  });

  test.each(["google", "vertex"])("the signature that %s adds to a call goes back with it", (server) => {
    const extra_content = { [server]: { thought_signature: "sig" } };
    const { message } = read([
      calls(
        { index: 0, id: "a", ...made("clock", "{}"), extra_content },
        { index: 1, id: "b", ...made("clock", "{}") },
      ),
      delta({}, "tool_calls"),
    ]);
    const encode = (asked: Model<"openai-completions">) => {
      const { payload } = openaiCompletions.encode(asked, { messages: [user("x"), message] }, {});
      return (payload["messages"] as { tool_calls?: object[] }[])[1];
    };
    const [a, b] = ["a", "b"].map((id) => ({ id, type: "function", function: { name: "clock", arguments: "{}" } }));
    expect(encode(model)).toEqual({ role: "assistant", content: null, tool_calls: [{ ...a, extra_content }, b] });
    expect(encode({ ...model, id: "another" })).toEqual({ role: "assistant", content: null, tool_calls: [a, b] });
  });

  const clock = { index: 0, id: "a", ...made("clock", "{}") };
  test.each<[string, object[], object]>([
    [
      "after its text",
      [delta({ reasoning_text: "H" }), delta({ reasoning_text: "m." }), delta({ reasoning_opaque: "o" }), calls(clock)],
      { reasoning_text: "Hm.", reasoning_opaque: "o" },
    ],
    [
      "with the call",
      [delta({ reasoning_text: "Hm." }), delta({ tool_calls: [clock], reasoning_opaque: "o" })],
      { reasoning_text: "Hm.", reasoning_opaque: "o" },
    ],
    ["without text", [delta({ tool_calls: [clock], reasoning_opaque: "o" })], { reasoning_opaque: "o" }],
  ])("Copilot's signature of thinking goes back with the answer: %s", (_name, chunks, expected) => {
    const { message } = read([...chunks, delta({}, "tool_calls")]);
    expect(message.content.at(-1)).toEqual(call("clock", {}, "a"));
    const { payload } = openaiCompletions.encode(model, { messages: [user("x"), message] }, {});
    const { role, content, tool_calls, ...thoughts } = (payload["messages"] as Record<string, unknown>[])[1]!;
    expect({ role, content, tool_calls }).toMatchObject({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a" }],
    });
    expect(thoughts).toEqual(expected);
  });

  test("details that only repeat the text are not kept", () => {
    const piece = (said: string) => ({
      reasoning: said,
      reasoning_details: [{ type: "reasoning.text", text: said, index: 0 }],
    });
    const { message } = read([delta(piece("H")), delta(piece("m.")), delta({}, "stop")]);
    expect(message.content).toEqual([thinking("Hm.", "reasoning")]);
  });

  test("thinking that is only encrypted is redacted", () => {
    const detail = { type: "reasoning.encrypted", data: "x", index: 0 };
    const { message } = read([delta({ reasoning_details: [detail] }), delta({ content: "Yes." }, "stop")]);
    expect(message.content).toEqual([{ ...thinking("", JSON.stringify([detail])), redacted: true }, text("Yes.")]);
  });
});

describe("how an answer ends", () => {
  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["max_tokens", "length"],
    ["tool_calls", "toolUse"],
    ["function_call", "toolUse"],
    ["model_context_window_exceeded", "length"],
    ["eos", "stop"],
    ["constructor", "stop"],
  ])("%s means %s", (raw, reason) => {
    const { message, state } = read([delta({ content: "x" }, raw), delta({}, raw), "[DONE]"]);
    expect(state).toEqual({ kind: "ended", reason });
    expect(message.rawStopReason).toBe(raw);
  });

  const counts = { prompt_tokens: 100, completion_tokens: 20 };
  test.each(["content_filter", "sensitive", "safety"])("%s is a refusal, and what it cost is still read", (raw) => {
    const { message, state } = read([delta({}, raw), { choices: [], usage: counts }, "[DONE]"]);
    expect(state).toMatchObject({ kind: "ended", refusal: { kind: "refused" } });
    expect(message.rawStopReason).toBe(raw);
    expect(message.usage).toMatchObject({ input: 100, output: 20 });
  });

  test("a refusal stands, whatever is said after it", () => {
    const { state } = read([delta({ content: "Well" }, "content_filter"), delta({}, "stop"), "[DONE]"]);
    expect(state).toMatchObject({ kind: "ended", refusal: { kind: "refused" } });
  });

  test.each([
    ["network_error", "network"],
    ["abort", "network"],
    ["insufficient_system_resource", "overloaded"],
    ["error", "overloaded"],
    ["model_context_window_exceeded", "context_overflow"],
  ])("%s is a failure: %s", (raw, kind) => {
    const { message, state } = read([delta({}, raw)]);
    expect(state).toMatchObject({ kind: "failed", failure: { kind } });
    expect(message.rawStopReason).toBe(raw);
  });

  test("null as a text is no reason to stop", () => {
    const { message, state } = read([delta({ content: "x" }, "null")]);
    expect(state).toEqual({ kind: "open" });
    expect(message.rawStopReason).toBeUndefined();
  });

  test("a refusal fails with the model's own words", () => {
    const said = [delta({ refusal: "I will " }), delta({ refusal: "not." })];
    const refusal = { kind: "refused", message: "I will not." };
    const { message, state } = read([...said, delta({}, "stop"), { choices: [], usage: counts }]);
    expect(state).toMatchObject({ kind: "stopped", refusal });
    expect(message.usage).toMatchObject({ input: 100, output: 20 });
    expect(read([...said, "[DONE]"]).state).toMatchObject({ kind: "ended", refusal });
  });

  test("the caller is told of a refusal and of what it cost", async () => {
    const said = [delta({ content: "Well" }), delta({}, "content_filter"), { choices: [], usage: counts }];
    const chunks = [...said.map((chunk) => sse(JSON.stringify(chunk))), sse("[DONE]")];
    const server = await serve(raw(chunks));
    const ours = await ask(server);
    expect(ours).toMatchObject({ stopReason: "error", failure: { kind: "refused" }, content: [text("Well")] });
    expect(ours.usage).toMatchObject({ input: 100, output: 20 });
  });

  test("white space around the last word of a stream means nothing", async () => {
    const server = await serve(raw([sse(JSON.stringify(delta({ content: "x" }))), sse(" [DONE] ")]));
    expect(await ask(server)).toMatchObject({ stopReason: "stop", content: [text("x")] });
  });

  test("a stream that says it is over without a reason has answered, if it said anything", () => {
    expect(read([delta({ content: "x" }), "[DONE]"]).state).toEqual({ kind: "ended", reason: "stop" });
    expect(read(["[DONE]"]).state).toEqual({ kind: "open" });
  });

  test.each([
    ["at the top", { error: { code: 502, message: "gone" } }],
    ["in the choice", { choices: [{ index: 0, delta: {}, error: { code: 502, message: "gone" } }] }],
    ["as the chunk itself", { object: "error", message: "gone", code: 502 }],
    ["in Groq's own field", { choices: [{ index: 0, delta: {} }], x_groq: { error: { code: 502, message: "gone" } } }],
  ])("an error %s is a failure", (_where, chunk) => {
    expect(read([chunk]).state).toMatchObject({ kind: "failed", failure: { kind: "overloaded", message: "gone" } });
  });

  test("an error that is only a text is told as it is", () => {
    expect(read([{ error: "gone" }]).state).toMatchObject({ kind: "failed", failure: { message: "gone" } });
    const groq = { ...delta({}, "stop"), x_groq: { error: "over capacity" } };
    expect(read([groq]).state).toMatchObject({
      kind: "failed",
      failure: { kind: "overloaded", message: "over capacity" },
    });
  });
});

describe("usage", () => {
  const counts = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  test.each<[string, object, object]>([
    ["in a chunk of its own", { choices: [], usage: counts }, { input: 100, output: 20 }],
    ["in the choice", { choices: [{ delta: {}, usage: counts }] }, { input: 100, output: 20 }],
    ["in Groq's own field", { choices: [], x_groq: { usage: counts } }, { input: 100, output: 20 }],
    [
      "with reads and writes of a cache",
      { usage: { ...counts, prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 } } },
      { input: 50, cacheRead: 30, cacheWrite: 20, totalTokens: 120 },
    ],
    [
      "with DeepSeek's word for cache reads",
      { usage: { ...counts, prompt_cache_hit_tokens: 30 } },
      { input: 70, cacheRead: 30 },
    ],
    ["with Kimi's word for cache reads", { usage: { ...counts, cached_tokens: 30 } }, { input: 70, cacheRead: 30 }],
    [
      "with thinking in the completion",
      { usage: { ...counts, completion_tokens_details: { reasoning_tokens: 15 } } },
      { output: 20, reasoning: 15 },
    ],
    [
      "with thinking beside the completion",
      { usage: { ...counts, total_tokens: 135, completion_tokens_details: { reasoning_tokens: 15 } } },
      { output: 35, reasoning: 15, totalTokens: 135 },
    ],
    ["that makes no sense", { usage: { prompt_tokens: "many", completion_tokens: -3 } }, { input: 0, output: 0 }],
    ["with more cached than there was", { usage: { prompt_tokens: 1, cached_tokens: 5 } }, { input: 0, cacheRead: 5 }],
  ])("%s", (_where, chunk, expected) => {
    expect(read([chunk]).message.usage).toMatchObject(expected);
  });
});

describe("nothing a server sends makes us throw", () => {
  const odd = fc.oneof(fc.jsonValue(), fc.string(), fc.constant(undefined));
  const name = fc.constantFrom("clock", "we", "ather", "");
  const piece = fc.record(
    {
      index: fc.oneof(fc.nat(3), odd),
      id: fc.oneof(fc.constantFrom("a", "b", ""), odd),
      function: fc.oneof(
        fc.record({ name: fc.oneof(name, odd), arguments: fc.oneof(fc.constantFrom("{", "}"), odd) }),
        odd,
      ),
    },
    { requiredKeys: [] },
  );
  const detail = fc.record({
    type: fc.constantFrom("reasoning.text", "reasoning.summary", "reasoning.encrypted", "other"),
    text: odd,
    signature: odd,
    id: odd,
  });
  const anyDelta = fc.record(
    {
      content: fc.oneof(
        fc.string(),
        fc.array(fc.oneof(fc.record({ type: fc.constantFrom("text", "thinking"), text: odd, thinking: odd }), odd)),
        odd,
      ),
      reasoning_content: odd,
      reasoning: odd,
      refusal: odd,
      tool_calls: fc.oneof(fc.array(piece), odd),
      function_call: odd,
      reasoning_details: fc.oneof(fc.array(detail), odd),
    },
    { requiredKeys: [] },
  );
  const reason = fc.oneof(fc.constantFrom("stop", "tool_calls", null), odd);
  const choice = fc.record(
    {
      index: odd,
      delta: anyDelta,
      message: anyDelta,
      finish_reason: reason,
      usage: odd,
      error: fc.option(odd, { freq: 9 }),
    },
    { requiredKeys: [] },
  );
  const chunk = fc.record(
    { id: odd, model: odd, usage: odd, choices: fc.oneof(fc.array(choice), odd) },
    { requiredKeys: [] },
  );

  test("and every block opens and closes once, whatever comes", () => {
    fc.assert(fc.property(fc.array(fc.oneof(chunk, odd, fc.constant("[DONE]"))), (chunks) => void read(chunks)));
  });

  test("not even 10,000 levels of it", () => {
    const deep: unknown = JSON.parse("[".repeat(10_000) + "]".repeat(10_000));
    const { message } = read([
      delta({ reasoning_details: [{ type: "reasoning.encrypted", data: deep }], content: deep }),
      calls({ index: 0, id: "a", function: { name: "clock", arguments: deep } }),
      delta({}, "tool_calls"),
    ]);
    expect(message.content).toMatchObject([{ type: "toolCall", arguments: {}, argumentsError: expect.any(String) }]);
  });
});

describe("ids of calls", () => {
  const long = `call_${"x".repeat(60)}`;
  const history = [
    user("x"),
    assistant({ ...model, provider: "other" }, [
      call("clock", {}, "call_1|fc_1"),
      call("clock", {}, "call_1|fc_2"),
      call("clock", {}, long),
      call("clock", {}, "AbC123xyz"),
    ]),
  ];
  const idsFor = (toolCallIdFormat: "openai" | "mistral" | "any") => {
    const asked = { ...model, compat: { ...openai, toolCallIdFormat } };
    const { payload } = openaiCompletions.encode(asked, { messages: history }, {});
    const messages = payload["messages"] as { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[];
    const ids = messages[1]!.tool_calls!.map(({ id }) => id);
    expect(messages.slice(2).map((message) => message.tool_call_id)).toEqual(ids);
    expect(new Set(ids).size).toBe(4);
    return ids;
  };

  test("are at most 40 plain characters for OpenAI, and the call's part of two", () => {
    const ids = idsFor("openai");
    expect(ids[0]).toBe("call_1");
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  });

  test("are nine letters and digits for Mistral; one that is so already stays", () => {
    const ids = idsFor("mistral");
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(ids[3]).toBe("AbC123xyz");
  });

  test("stay as they are where any will do", () => {
    expect(idsFor("any").slice(2)).toEqual([long, "AbC123xyz"]);
  });
});

test("a message that was marked for the cache is not marked in the next request", () => {
  const asked = { ...model, compat: { ...openai, cacheControlFormat: "anthropic" as const } };
  const history = [user("one"), assistant(asked, [text("two")]), user([{ type: "text", text: "three" }, image])];
  const encode = (messages: typeof history) =>
    openaiCompletions.encode(asked, { messages }, {}).payload["messages"] as { content: unknown }[];
  for (let count = 1; count <= history.length; count++) {
    const marked = encode(history.slice(0, count)).map(({ content }) =>
      JSON.stringify(content).includes("cache_control"),
    );
    expect(marked).toEqual(history.slice(0, count).map((_message, index) => index === count - 1));
  }
  // Messages are encoded once.
  const [before, after] = [encode(history), encode(history)];
  expect(after[1]).toBe(before[1]);
});

describe("what depends on the server", () => {
  const encode = (changes: Partial<Model<"openai-completions">>, options: SimpleStreamOptions = {}) => {
    const asked: Model = { ...model, ...changes };
    const context = { systemPrompt: "s", messages: [user("x")], tools: [clockTool] };
    return openaiCompletions.encode(asked, context, openaiCompletions.resolveOptions(asked, options));
  };

  test("the cache key goes to OpenAI always, to others only with a long retention, and never without caching", () => {
    const key = (baseUrl: string, options: SimpleStreamOptions, compat: OpenAICompletionsCompat = {}) =>
      encode({ baseUrl, compat }, { sessionId: "s", ...options }).payload["prompt_cache_key"];
    const home = "https://api.openai.com/v1";
    const other = "https://models.example/v1";
    expect(key(home, {})).toBe("s");
    expect(key(home, { cacheRetention: "none" })).toBeUndefined();
    expect(key(other, {})).toBeUndefined();
    expect(key(other, { cacheRetention: "long" })).toBe("s");
    expect(key(other, { cacheRetention: "long" }, { supportsLongCacheRetention: false })).toBeUndefined();
    expect(key("https://api.groq.com/openai/v1", { cacheRetention: "long" })).toBeUndefined();
  });

  test("a model's own flags win over its host's", () => {
    const baseUrl = "https://api.deepseek.com";
    expect(encode({ baseUrl, compat: {} }, { maxTokens: 9 }).payload).toMatchObject({
      max_tokens: 9,
      thinking: { type: "disabled" },
    });
    const compat: OpenAICompletionsCompat = { maxTokensField: "max_completion_tokens", thinkingFormat: "openai" };
    const { payload } = encode({ baseUrl, compat }, { maxTokens: 9 });
    expect(payload).toMatchObject({ max_completion_tokens: 9 });
    expect(payload).not.toHaveProperty("thinking");
    expect(payload).not.toHaveProperty("store");
  });

  test("session-affinity headers are sent where asked for, in the server's format", () => {
    const options = { sessionId: "s" };
    expect(encode({}, options).headers).toEqual({});
    expect(encode({ compat: { sendSessionAffinityHeaders: true } }, options).headers).toMatchObject({
      "x-session-affinity": "s",
    });
    expect(encode({ baseUrl: "https://openrouter.ai/api/v1", compat: {} }, options).headers).toEqual({
      "x-session-id": "s",
    });
  });

  test("options that cannot be sent are named in the answer's diagnostics", () => {
    const ignored = (changes: Partial<Model<"openai-completions">>, options: SimpleStreamOptions) =>
      encode(changes, options).notes.map(({ type, details }) => [type, details?.["option"]]);
    const mute = { compat: { ...openai, supportsReasoningEffort: false } };
    expect(ignored({}, { metadata: { user_id: "u" } })).toEqual([["option_ignored", "metadata"]]);
    expect(ignored(mute, { reasoning: "high" })).toEqual([["option_ignored", "reasoningEffort"]]);
    expect(ignored(mute, {})).toEqual([]);
    expect(ignored({ ...mute, thinkingLevelMap: { off: null } }, {})).toEqual([]);
    expect(ignored({}, { metadata: {}, reasoning: "high", temperature: 1, maxTokens: 9 })).toEqual([]);
  });

  test("sampling fields of the model, the level and the request come last, and the later replace the earlier", () => {
    const changes = {
      samplingParams: { temperature: 1, top_p: 0.95, top_k: 40 },
      samplingParamsByThinkingLevel: { off: { temperature: 0.7 }, high: { top_p: 0.5, top_k: 20 } },
    };
    expect(encode(changes, {}).payload).toMatchObject({ temperature: 0.7, top_p: 0.95, top_k: 40 });
    const options = { reasoning: "max", temperature: 0.1, samplingParams: { top_k: 1, store: true } } as const;
    expect(encode(changes, options).payload).toMatchObject({ temperature: 1, top_p: 0.5, top_k: 1, store: true });
    // The level that the model has, not the one that was asked for, and not the provider's word for it.
    const mapped = { ...changes, thinkingLevelMap: { low: null, medium: null, high: "deep" } };
    expect(encode(mapped, { reasoning: "low" }).payload).toMatchObject({ reasoning_effort: "deep", top_k: 20 });
  });

  test("the priority of vLLM is sent where it is set, also the highest", () => {
    expect(encode({ compat: { ...openai, vllmPriority: -1 } }, {}).payload).toMatchObject({ priority: -1 });
    expect(encode({ compat: { ...openai, vllmPriority: 0 } }, {}).payload).toMatchObject({ priority: 0 });
    expect(encode({}, {}).payload).not.toHaveProperty("priority");
  });

  test("a server that sends no stop reason has answered when its stream ends, unless the stream is damaged", async () => {
    const silent = { compat: { ...openai, supportsFinishReason: false } };
    const askSilent = async (chunks: Uint8Array[]) => await ask(await serve(raw(chunks)), {}, silent);
    const said = sse(JSON.stringify(delta({ content: "x" })));
    expect(await askSilent([said])).toMatchObject({ stopReason: "stop", content: [text("x")] });
    const called = sse(JSON.stringify(calls({ index: 0, id: "c", ...made("weather", '{"city":"Rome"}') })));
    expect(await askSilent([said, called])).toMatchObject({ stopReason: "toolUse" });
    expect(await askSilent([sse(JSON.stringify({ id: "r", choices: [] }))])).toMatchObject({ stopReason: "error" });
    expect(await askSilent([said, sse('{"choices": [')])).toMatchObject({ stopReason: "error" });
    const strict = await serve(raw([said]));
    expect(await ask(strict)).toMatchObject({ stopReason: "error" });
  });

  test("a blank system prompt is none", () => {
    const { payload } = openaiCompletions.encode(model, { systemPrompt: " \n", messages: [user("x")] }, {});
    expect(payload["messages"]).toEqual([{ role: "user", content: "x" }]);
  });

  test("a server that takes no tools gets none, and the answer says so", () => {
    const { payload, notes } = encode({ compat: { supportsTools: false } }, { toolChoice: "any" });
    expect(payload).not.toHaveProperty("tools");
    expect(payload).not.toHaveProperty("tool_choice");
    expect(notes.map(({ type }) => type)).toEqual(["tools_left_out"]);
  });

  test("a form of the answer is not sent to a server that is not known to enforce one", () => {
    const { payload, notes } = openaiCompletions.encode(model, { messages: [user("x")] }, { output: personOutput });
    expect(payload).not.toHaveProperty("response_format");
    expect(notes).toMatchObject([{ type: "option_ignored", details: { option: "output" } }]);
  });

  test.each([
    { type: "array", items: { type: "string" } },
    { type: "object", properties: { any: {} } },
  ])("a form that cannot be enforced is not sent: %j", (schema) => {
    const able = { ...model, compat: { supportsOutputFormat: true } };
    const { payload, notes } = openaiCompletions.encode(
      able,
      { messages: [user("x")] },
      { output: { name: "x", schema } },
    );
    expect(payload).not.toHaveProperty("response_format");
    expect(notes).toMatchObject([{ message: "output was not sent: its schema cannot be enforced." }]);
  });

  test("a strict tool goes out unstrict where it must, and says so when strictness was required", () => {
    const strictly = (strict: "prefer" | "require", compat: OpenAICompletionsCompat, open = false) => {
      const { parameters } = open
        ? { parameters: { type: "object", properties: {}, additionalProperties: { type: "string" } } }
        : closed(clockTool);
      const context = { messages: [user("x")], tools: [{ ...clockTool, parameters, strict }] };
      const { payload, notes } = openaiCompletions.encode({ ...model, compat }, context, {});
      const [tool] = payload["tools"] as { function: { strict?: boolean; parameters: object } }[];
      if (!tool?.function.strict) expect(tool?.function.parameters).toEqual(parameters);
      return { strict: tool?.function.strict, notes: notes.map(({ type }) => type) };
    };
    expect(strictly("require", {})).toEqual({ strict: true, notes: [] });
    expect(strictly("prefer", { supportsStrictMode: false })).toEqual({ strict: undefined, notes: [] });
    expect(strictly("require", { supportsStrictMode: false })).toEqual({
      strict: undefined,
      notes: ["strict_not_supported"],
    });
    expect(strictly("require", {}, true)).toEqual({ strict: undefined, notes: ["strict_not_supported"] });
  });

  test("another model's thinking and words stay apart", () => {
    const foreign = assistant({ ...model, provider: "other" }, [thinking("Hm.", "sig"), text("Done.")]);
    const { payload } = openaiCompletions.encode(model, { messages: [user("x"), foreign] }, {});
    expect(payload["messages"]).toEqual([
      { role: "user", content: "x" },
      { role: "assistant", content: "Hm.\n\nDone." },
    ]);
  });

  test("thinking alone is not a message, and unset thinking is left to the provider", () => {
    const context = { messages: [user("x"), assistant(model, [thinking("Hm.", "reasoning")]), user("y")] };
    const { payload } = openaiCompletions.encode(model, context, {});
    expect(payload["messages"]).toEqual([
      { role: "user", content: "x" },
      { role: "user", content: "y" },
    ]);
    expect(payload).not.toHaveProperty("reasoning_effort");
  });
});

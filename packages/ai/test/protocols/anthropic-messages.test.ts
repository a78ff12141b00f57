import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/message.ts";
import { anthropicMessagesDialect as dialect } from "../../src/testing/dialects/anthropic-messages.ts";
import { call, text, thinking } from "../../src/testing/script.ts";
import {
  assistant,
  clockTool,
  createModel,
  image,
  pixel,
  raw,
  readRecording,
  result,
  testProvider,
  toNamedEvents,
  type OracleCase,
  user,
  weatherTool,
} from "./kit.ts";
import { personOutput, strictPerson } from "./output-form.ts";

const claude = (baseUrl: string) =>
  createModel({ api: "anthropic-messages", provider: "anthropic", id: "claude-test", baseUrl });
const model = claude("");
const { serve, ask, send, expectSameRequest } = testProvider({ dialect, model: claude });

const cached = { type: "ephemeral" } as const;
const block = (content: string) => ({ type: "text" as const, text: content });
const lastBlock = (content: string) => ({ ...block(content), cache_control: cached });
const sdkTool = (tool: typeof weatherTool | typeof clockTool) => ({
  name: tool.name,
  description: tool.description,
  input_schema: tool.parameters as Anthropic.Tool.InputSchema,
  eager_input_streaming: true,
});
const off = { thinking: { type: "disabled" as const } };
const base = { model: "claude-test", max_tokens: 32_000, ...off };

type Params = Anthropic.MessageCreateParamsStreaming;

/** Without `stream`, which the SDK's caller does not set by hand here. */
const cases: OracleCase<Omit<Params, "stream">>[] = [
  {
    name: "a question",
    context: { messages: [user("Hello")] },
    params: { ...base, messages: [{ role: "user", content: [lastBlock("Hello")] }] },
  },
  {
    name: "a system prompt",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    params: { ...base, system: [lastBlock("Be brief.")], messages: [{ role: "user", content: [lastBlock("Hello")] }] },
  },
  {
    name: "no caching",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    options: { cacheRetention: "none" },
    params: { ...base, system: [block("Be brief.")], messages: [{ role: "user", content: [block("Hello")] }] },
  },
  {
    name: "a long cache",
    context: { messages: [user("Hello")] },
    options: { cacheRetention: "long" },
    params: {
      ...base,
      messages: [{ role: "user", content: [{ ...block("Hello"), cache_control: { type: "ephemeral", ttl: "1h" } }] }],
    },
  },
  {
    name: "temperature and a limit",
    context: { messages: [user("Hello")] },
    options: { temperature: 0.5, maxTokens: 100 },
    params: { ...base, max_tokens: 100, temperature: 0.5, messages: [{ role: "user", content: [lastBlock("Hello")] }] },
  },
  {
    name: "an image",
    context: { messages: [user([text("What is it?"), image])] },
    params: {
      ...base,
      messages: [
        {
          role: "user",
          content: [
            block("What is it?"),
            {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: pixel },
              cache_control: cached,
            },
          ],
        },
      ],
    },
  },
  {
    name: "tools, of which the last is the end of the cached prefix",
    context: { messages: [user("Weather?")], tools: [clockTool, weatherTool] },
    params: {
      ...base,
      tools: [sdkTool(clockTool), { ...sdkTool(weatherTool), cache_control: cached }],
      messages: [{ role: "user", content: [lastBlock("Weather?")] }],
    },
  },
  ...(["auto", "any", "none"] as const).map((type) => ({
    name: `tool choice ${type}`,
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: type },
    params: {
      ...base,
      tools: [{ ...sdkTool(weatherTool), cache_control: cached }],
      tool_choice: { type },
      messages: [{ role: "user" as const, content: [lastBlock("Weather?")] }],
    },
  })),
  {
    name: "a form of the answer",
    context: { messages: [user("Who?")] },
    model: { compat: { supportsStrictTools: true } },
    options: { output: personOutput },
    params: {
      ...base,
      output_config: { format: { type: "json_schema", schema: strictPerson } },
      messages: [{ role: "user", content: [lastBlock("Who?")] }],
    },
  },
  {
    name: "a demanded tool",
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: { name: "weather" } },
    params: {
      ...base,
      tools: [{ ...sdkTool(weatherTool), cache_control: cached }],
      tool_choice: { type: "tool", name: "weather" },
      messages: [{ role: "user", content: [lastBlock("Weather?")] }],
    },
  },
  {
    name: "calls and their results, in one message each",
    context: {
      messages: [
        user("Weather?"),
        assistant(model, [text("I'll look."), call("weather", { place: "Rome" }, "a"), call("clock", {}, "b")]),
        result("b", "clock", [text("noon")]),
        result("a", "weather", [text("sunny")], true),
        user("And now?"),
      ],
    },
    params: {
      ...base,
      messages: [
        { role: "user", content: [block("Weather?")] },
        {
          role: "assistant",
          content: [
            block("I'll look."),
            { type: "tool_use", id: "a", name: "weather", input: { place: "Rome" } },
            { type: "tool_use", id: "b", name: "clock", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: [block("sunny")], is_error: true },
            { type: "tool_result", tool_use_id: "b", content: [block("noon")] },
            lastBlock("And now?"),
          ],
        },
      ],
    },
  },
  {
    name: "an image in a result",
    context: {
      messages: [
        user("Look."),
        assistant(model, [call("camera", {}, "a")]),
        result("a", "camera", [text("here"), image]),
      ],
    },
    params: {
      ...base,
      messages: [
        { role: "user", content: [block("Look.")] },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "camera", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "a",
              content: [
                block("here"),
                { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
              ],
              cache_control: cached,
            },
          ],
        },
      ],
    },
  },
  {
    name: "an image in the result of a failed call, which follows it",
    context: {
      messages: [user("Look."), assistant(model, [call("camera", {}, "a")]), result("a", "camera", [image], true)],
    },
    params: {
      ...base,
      messages: [
        { role: "user", content: [block("Look.")] },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "camera", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: [block("(The images follow.)")], is_error: true },
            {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: pixel },
              cache_control: cached,
            },
          ],
        },
      ],
    },
  },
  {
    name: "its own thinking, signed and redacted",
    context: {
      messages: [
        user("Think."),
        assistant(model, [
          thinking("Hm.", "sig"),
          { type: "thinking", thinking: "", thinkingSignature: "opaque", redacted: true },
          text("Done."),
        ]),
        user("More."),
      ],
    },
    options: { reasoning: "medium" },
    params: {
      ...base,
      max_tokens: 32_000 + 8_192,
      thinking: { type: "enabled", budget_tokens: 8_192 },
      messages: [
        { role: "user", content: [block("Think.")] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "sig" },
            { type: "redacted_thinking", data: "opaque" },
            block("Done."),
          ],
        },
        { role: "user", content: [lastBlock("More.")] },
      ],
    },
  },
  {
    name: "adaptive thinking with an effort",
    context: { messages: [user("Think.")] },
    options: { reasoning: "xhigh" },
    model: { compat: { forceAdaptiveThinking: true }, thinkingLevelMap: { xhigh: "xhigh" } },
    params: {
      ...base,
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: "xhigh" },
      messages: [{ role: "user", content: [lastBlock("Think.")] }],
    },
  },
  {
    name: "a strict tool",
    context: { messages: [user("Weather?")], tools: [{ ...weatherTool, strict: "prefer" }] },
    model: { compat: { supportsStrictTools: true } },
    params: {
      ...base,
      tools: [{ ...sdkTool(weatherTool), strict: true, cache_control: cached }],
      messages: [{ role: "user", content: [lastBlock("Weather?")] }],
    },
  },
  {
    name: "the user id of the request",
    context: { messages: [user("Hello")] },
    options: { metadata: { user_id: "u-1", other: "ignored" } },
    params: { ...base, metadata: { user_id: "u-1" }, messages: [{ role: "user", content: [lastBlock("Hello")] }] },
  },
];

const createSdk = (baseURL: string) => new Anthropic({ apiKey: "key", baseURL, maxRetries: 0 });

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("$name", async ({ params, ...conversation }) => {
    await expectSameRequest({
      ours: (url) => send(url, conversation),
      theirs: async (url) => {
        const { content } = await createSdk(url).messages.stream(params).finalMessage();
        expect(content).toMatchObject([{ type: "text", text: "ok" }]);
      },
      headers: ["x-api-key", "anthropic-version", "content-type"],
      ignoresQuery: true,
    });
  });
});

describe("recordings mean to us what they mean to the vendor's SDK", () => {
  const names = [
    "anthropic-clear-thinking.1",
    "anthropic-json-tool.2",
    "anthropic-text",
    "anthropic-tool-no-args",
    "anthropic-refusal",
  ];
  test.each(names)("%s", async (name) => {
    const reply = raw(toNamedEvents(readRecording("anthropic-messages", name)));
    const server = await serve(reply, reply);
    const expected = await createSdk(server.url)
      .messages.stream({ ...base, messages: [{ role: "user", content: "x" }] })
      .finalMessage();
    const ours = await ask(server);
    expect(ours.content.map(asVendor)).toEqual(expected.content);
    expect(ours.responseId).toBe(expected.id);
    expect(ours.responseModel).toBe(expected.model);
    expect(ours.rawStopReason).toBe(expected.stop_reason);
    expect(ours.usage.input).toBe(expected.usage.input_tokens);
    expect(ours.usage.output).toBe(expected.usage.output_tokens);
    expect(ours.stopReason).toBe(
      { end_turn: "stop", tool_use: "toolUse", refusal: "error" }[expected.stop_reason as string],
    );
  });

  test("a message that starts twice is one message", async () => {
    const server = await serve(raw(toNamedEvents(readRecording("anthropic-messages", "duplicate-message-start"))));
    const ours = await ask(server);
    expect(ours.content).toEqual([text("Hello, World!")]);
    expect(ours.usage).toMatchObject({ input: 17, output: 227 });
    expect(ours.stopReason).toBe("stop");
  });
});

function asVendor(content: AssistantMessage["content"][number]): unknown {
  switch (content.type) {
    case "text":
      return block(content.text);
    case "thinking":
      return { type: "thinking", thinking: content.thinking, signature: content.thinkingSignature };
    case "toolCall":
      return { type: "tool_use", id: content.id, name: content.name, input: content.arguments };
  }
}

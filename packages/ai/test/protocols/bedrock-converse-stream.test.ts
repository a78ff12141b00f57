import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseStreamCommand,
  type ConverseStreamCommandInput,
  type ConverseStreamOutput,
  type Tool as SdkTool,
} from "@aws-sdk/client-bedrock-runtime";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { Context, Tool } from "../../src/context.ts";
import type { AssistantMessage, Message } from "../../src/message.ts";
import type { Model } from "../../src/model.ts";
import { bedrockConverseStream } from "../../src/protocols/bedrock-converse-stream/index.ts";
import type { BedrockOptions } from "../../src/protocols/bedrock-converse-stream/options.ts";
import type { AuthContext, Frame } from "../../src/protocols/protocol.ts";
import {
  awsEvent,
  awsMessage,
  bedrockConverseStreamDialect as dialect,
} from "../../src/testing/dialects/bedrock-converse-stream.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import { call, text, thinking } from "../../src/testing/script.ts";
import { AwsEventStreamFramer } from "../../src/transport/aws-event-stream.ts";
import type { HttpRequest } from "../../src/transport/http.ts";
import {
  answerOk,
  assistant,
  clockTool,
  collect,
  createModel,
  image,
  pixel,
  question,
  raw,
  readFrames,
  readRecording,
  result,
  testProvider,
  type OracleCase,
  user,
  weatherTool,
} from "./kit.ts";
import { personOutput, strictPerson } from "./output-form.ts";

const modelId = "anthropic.claude-sonnet-4-5-20250929-v1:0";

const claude = (baseUrl: string) =>
  createModel({
    api: "bedrock-converse-stream",
    provider: "amazon-bedrock",
    id: modelId,
    name: "Claude Sonnet 4.5",
    baseUrl,
  });
const model = claude("");
const { provider, serve, ask, send, expectSameRequest } = testProvider({ dialect, model: claude });

const sdkFor = (endpoint: string) =>
  new BedrockRuntimeClient({
    region: "us-east-1",
    endpoint,
    token: { token: "key" },
    authSchemePreference: ["httpBearerAuth"],
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });

async function askSdk(endpoint: string, input: ConverseStreamCommandInput): Promise<ConverseStreamOutput[]> {
  const { stream } = await sdkFor(endpoint).send(new ConverseStreamCommand(input));
  return await collect(stream!);
}

const point = { cachePoint: { type: "default" as const } };
const hour = { cachePoint: { type: "default" as const, ttl: "1h" as const } };
const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));
const sdkImage = { image: { format: "png" as const, source: { bytes: bytes(pixel) } } };
const said = (...content: ContentBlock[]) => ({ role: "user" as const, content });
const answered = (...content: ContentBlock[]) => ({ role: "assistant" as const, content });
const sdkTool = (tool: Tool): SdkTool => ({
  toolSpec: {
    name: tool.name,
    description: tool.description,
    inputSchema: { json: tool.parameters as Record<string, never> },
  },
});
const base = { modelId, inferenceConfig: { maxTokens: 32_000 } };
const nova = { id: "us.amazon.nova-2-lite-v1:0", name: "Nova 2 Lite (US)", maxTokens: 65_535 };
const opus = {
  id: "global.anthropic.claude-opus-4-7",
  name: "Claude Opus 4.7",
  maxTokens: 128_000,
  thinkingLevelMap: { xhigh: "xhigh", max: "max" },
};
const gpt = { id: "openai.gpt-5.6-sol", name: "GPT-5.6 Sol", thinkingLevelMap: { xhigh: "xhigh" } };
const llama = { id: "us.meta.llama4-scout-17b-instruct-v1:0", name: "Llama 4 Scout (US)", reasoning: false };

const weatherCall = call("weather", { place: "Rome" }, "a");
const weatherUse = { toolUse: { toolUseId: "a", name: "weather", input: { place: "Rome" } } };

interface BedrockCase extends OracleCase<ConverseStreamCommandInput> {
  extra?: Partial<BedrockOptions>;
}

const cases: BedrockCase[] = [
  {
    name: "a question",
    context: { messages: [user("Hello")] },
    params: { ...base, messages: [said({ text: "Hello" }, point)] },
  },
  {
    name: "a system prompt",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    params: { ...base, system: [{ text: "Be brief." }, point], messages: [said({ text: "Hello" }, point)] },
  },
  {
    name: "no caching",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    options: { cacheRetention: "none" },
    params: { ...base, system: [{ text: "Be brief." }], messages: [said({ text: "Hello" })] },
  },
  {
    name: "a long cache",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    options: { cacheRetention: "long" },
    params: { ...base, system: [{ text: "Be brief." }, hour], messages: [said({ text: "Hello" }, hour)] },
  },
  {
    name: "a long cache where the model keeps only a short one",
    context: { messages: [user("Hello")] },
    options: { cacheRetention: "long" },
    model: { id: "us.anthropic.claude-opus-4-1-20250805-v1:0" },
    params: {
      ...base,
      modelId: "us.anthropic.claude-opus-4-1-20250805-v1:0",
      messages: [said({ text: "Hello" }, point)],
    },
  },
  {
    name: "temperature and a limit",
    context: { messages: [user("Hello")] },
    options: { temperature: 0.5, maxTokens: 100 },
    params: {
      ...base,
      inferenceConfig: { maxTokens: 100, temperature: 0.5 },
      messages: [said({ text: "Hello" }, point)],
    },
  },
  {
    name: "an image",
    context: { messages: [user([text("What is it?"), image])] },
    params: { ...base, messages: [said({ text: "What is it?" }, sdkImage, point)] },
  },
  {
    name: "tools",
    context: { messages: [user("Weather?")], tools: [clockTool, weatherTool] },
    params: {
      ...base,
      toolConfig: { tools: [sdkTool(clockTool), sdkTool(weatherTool)] },
      messages: [said({ text: "Weather?" }, point)],
    },
  },
  ...(["auto", "any"] as const).map((choice) => ({
    name: `tool choice ${choice}`,
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: choice },
    params: {
      ...base,
      toolConfig: {
        tools: [sdkTool(weatherTool)],
        toolChoice: { [choice]: {} } as unknown as { auto: Record<string, never> },
      },
      messages: [said({ text: "Weather?" }, point)],
    },
  })),
  {
    name: "a demanded tool",
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: { name: "weather" } },
    params: {
      ...base,
      toolConfig: { tools: [sdkTool(weatherTool)], toolChoice: { tool: { name: "weather" } } },
      messages: [said({ text: "Weather?" }, point)],
    },
  },
  {
    name: "a form of the answer",
    context: { messages: [user("Who?")] },
    model: { compat: { supportsStrictMode: true } },
    options: { output: personOutput },
    params: {
      ...base,
      outputConfig: {
        textFormat: {
          type: "json_schema",
          structure: { jsonSchema: { name: "person", schema: JSON.stringify(strictPerson) } },
        },
      },
      messages: [said({ text: "Who?" }, point)],
    },
  },
  {
    name: "no tools wanted, and none called before",
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: "none" },
    params: { ...base, messages: [said({ text: "Weather?" }, point)] },
  },
  {
    name: "no tools wanted, but some called before",
    context: {
      messages: [user("Weather?"), assistant(model, [weatherCall]), result("a", "weather", [text("sunny")])],
      tools: [weatherTool],
    },
    options: { toolChoice: "none" },
    params: {
      ...base,
      toolConfig: { tools: [sdkTool(weatherTool)] },
      messages: [
        said({ text: "Weather?" }),
        answered(weatherUse),
        said({ toolResult: { toolUseId: "a", content: [{ text: "sunny" }] } }, point),
      ],
    },
  },
  {
    name: "calls of tools that are gone",
    context: { messages: [user("Weather?"), assistant(model, [weatherCall]), result("a", "weather", [text("sunny")])] },
    params: {
      ...base,
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "weather",
              description: "No longer available.",
              inputSchema: { json: { type: "object", properties: {} } },
            },
          },
        ],
      },
      messages: [
        said({ text: "Weather?" }),
        answered(weatherUse),
        said({ toolResult: { toolUseId: "a", content: [{ text: "sunny" }] } }, point),
      ],
    },
  },
  {
    name: "calls and their results, in one message each",
    context: {
      messages: [
        user("Weather?"),
        assistant(model, [text("I'll look."), weatherCall, call("clock", { "": 1, deep: [{ "": 2 }] }, "b")]),
        result("b", "clock", [text("noon")]),
        result("a", "weather", [text("sunny")], true),
        user("And now?"),
      ],
      tools: [weatherTool],
    },
    params: {
      ...base,
      toolConfig: { tools: [sdkTool(weatherTool)] },
      messages: [
        said({ text: "Weather?" }),
        answered({ text: "I'll look." }, weatherUse, {
          toolUse: { toolUseId: "b", name: "clock", input: { deep: [{}] } },
        }),
        said(
          { toolResult: { toolUseId: "a", content: [{ text: "sunny" }], status: "error" } },
          { toolResult: { toolUseId: "b", content: [{ text: "noon" }] } },
          { text: "And now?" },
          point,
        ),
      ],
    },
  },
  {
    name: "an image in a result, and behind the results where the call failed",
    context: {
      messages: [
        user("Look."),
        assistant(model, [call("camera", {}, "a"), call("camera", {}, "b")]),
        result("a", "camera", [text("broke"), image], true),
        result("b", "camera", [text("here"), image]),
      ],
      tools: [weatherTool],
    },
    params: {
      ...base,
      toolConfig: { tools: [sdkTool(weatherTool)] },
      messages: [
        said({ text: "Look." }),
        answered(
          { toolUse: { toolUseId: "a", name: "camera", input: {} } },
          { toolUse: { toolUseId: "b", name: "camera", input: {} } },
        ),
        said(
          { toolResult: { toolUseId: "a", content: [{ text: "broke" }], status: "error" } },
          { toolResult: { toolUseId: "b", content: [{ text: "here" }, sdkImage] } },
          { text: "Images of the failed call of camera:" },
          sdkImage,
          point,
        ),
      ],
    },
  },
  {
    name: "its own thinking, signed and redacted, and thinking by budget",
    context: {
      messages: [
        user("Think."),
        assistant(model, [
          thinking("Hm.", "sig"),
          { type: "thinking", thinking: "", thinkingSignature: "b3BhcXVl", redacted: true },
          thinking("Unsigned."),
          text("Done."),
        ]),
        user("More."),
      ],
    },
    options: { reasoning: "medium", temperature: 0.5 },
    params: {
      ...base,
      inferenceConfig: { maxTokens: 32_000 + 8_192 },
      additionalModelRequestFields: {
        thinking: { type: "enabled", budget_tokens: 8_192 },
        anthropic_beta: ["interleaved-thinking-2025-05-14"],
      },
      messages: [
        said({ text: "Think." }),
        answered(
          { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } },
          { reasoningContent: { redactedContent: bytes("b3BhcXVl") } },
          { text: "Unsigned." },
          { text: "Done." },
        ),
        said({ text: "More." }, point),
      ],
    },
  },
  {
    name: "adaptive thinking with an effort",
    context: { messages: [user("Think.")] },
    options: { reasoning: "xhigh", temperature: 0.5 },
    model: opus,
    params: {
      ...base,
      modelId: opus.id,
      additionalModelRequestFields: {
        thinking: {
          type: "adaptive",
          display: "summarized",
          block_binding: { prefix_mismatch_behavior: "drop_block" },
        },
        output_config: { effort: "xhigh" },
        anthropic_beta: ["thinking-binding-controls-2026-08-01"],
      },
      messages: [said({ text: "Think." }, point)],
    },
  },
  {
    name: "adaptive thinking where thinking is not bound to the prompt",
    context: { messages: [user("Think.")] },
    options: { reasoning: "minimal" },
    model: { id: "anthropic.claude-sonnet-4-6", name: "Claude Sonnet 4.6" },
    params: {
      ...base,
      modelId: "anthropic.claude-sonnet-4-6",
      additionalModelRequestFields: {
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "low" },
      },
      messages: [said({ text: "Think." }, point)],
    },
  },
  {
    name: "adaptive thinking in GovCloud",
    context: { messages: [user("Think.")] },
    options: { reasoning: "high" },
    extra: { region: "us-gov-west-1" },
    model: opus,
    params: {
      ...base,
      modelId: opus.id,
      additionalModelRequestFields: { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
      messages: [said({ text: "Think." }, point)],
    },
  },
  {
    name: "a demanded tool instead of thinking",
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: "any", reasoning: "high" },
    model: opus,
    params: {
      ...base,
      modelId: opus.id,
      toolConfig: { tools: [sdkTool(weatherTool)], toolChoice: { any: {} } },
      additionalModelRequestFields: { thinking: { type: "disabled" } },
      messages: [said({ text: "Weather?" }, point)],
    },
  },
  {
    name: "an application's inference profile, known by its name",
    context: { messages: [user("Hello")] },
    model: { id: "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc", name: "Claude Haiku 4.5" },
    params: {
      ...base,
      modelId: "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
      messages: [said({ text: "Hello" }, point)],
    },
  },
  {
    name: "Nova, thinking with some effort and caching only what is not a result",
    context: {
      systemPrompt: "Be brief.",
      messages: [
        user("Weather?"),
        assistant({ ...model, ...nova }, [thinking("[REDACTED]", "sig"), weatherCall]),
        result("a", "weather", [text("broken"), image], true),
      ],
      tools: [weatherTool],
    },
    options: { reasoning: "medium", maxTokens: 100, cacheRetention: "long" },
    model: nova,
    params: {
      modelId: nova.id,
      system: [{ text: "Be brief." }, point],
      inferenceConfig: { maxTokens: 100 },
      toolConfig: { tools: [sdkTool(weatherTool)] },
      additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } },
      messages: [
        said({ text: "Weather?" }, point),
        answered({ reasoningContent: { reasoningText: { text: "[REDACTED]" } } }, weatherUse),
        said({ toolResult: { toolUseId: "a", content: [{ text: "broken" }, sdkImage], status: "error" } }),
      ],
    },
  },
  {
    name: "Nova at its highest effort, which takes no limits",
    context: { messages: [user("Think.")] },
    options: { reasoning: "high", maxTokens: 100, temperature: 0.5 },
    model: nova,
    params: {
      modelId: nova.id,
      additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } },
      messages: [said({ text: "Think." }, point)],
    },
  },
  {
    name: "GPT, which reasons by effort and caches by itself",
    context: { systemPrompt: "Be brief.", messages: [user("Think.")] },
    options: { reasoning: "minimal" },
    model: gpt,
    params: {
      modelId: gpt.id,
      system: [{ text: "Be brief." }],
      additionalModelRequestFields: { reasoning: { effort: "low" } },
      messages: [said({ text: "Think." })],
    },
  },
  {
    name: "gpt-oss, which spells effort in its own way",
    context: { messages: [user("Think.")] },
    options: { reasoning: "high" },
    model: { id: "openai.gpt-oss-120b-1:0", name: "gpt-oss-120b" },
    params: {
      modelId: "openai.gpt-oss-120b-1:0",
      additionalModelRequestFields: { reasoning_effort: "high" },
      messages: [said({ text: "Think." })],
    },
  },
  {
    name: "Llama, which keeps words and tools apart",
    context: {
      messages: [
        user("Weather?"),
        assistant({ ...model, ...llama }, [text("I'll look."), weatherCall]),
        result("a", "weather", [text("sunny")]),
        user("And now?"),
      ],
      tools: [weatherTool],
    },
    model: llama,
    params: {
      modelId: llama.id,
      toolConfig: { tools: [sdkTool(weatherTool)] },
      messages: [
        said({ text: "Weather?" }),
        answered({ text: "I'll look." }),
        said({ text: "(continued)" }),
        answered(weatherUse),
        said({ toolResult: { toolUseId: "a", content: [{ text: "sunny" }] } }),
        answered({ text: "(continued)" }),
        said({ text: "And now?" }),
      ],
    },
  },
  {
    name: "a strict tool, whose objects are closed",
    context: { messages: [user("Weather?")], tools: [{ ...weatherTool, strict: "prefer" }] },
    model: { compat: { supportsStrictMode: true } },
    params: {
      ...base,
      toolConfig: {
        tools: [
          {
            toolSpec: {
              ...sdkTool(weatherTool).toolSpec!,
              inputSchema: { json: { ...weatherTool.parameters, additionalProperties: false } },
              strict: true,
            },
          },
        ],
      },
      messages: [said({ text: "Weather?" }, point)],
    },
  },
  {
    name: "labels for the logs",
    context: { messages: [user("Hello")] },
    extra: { requestMetadata: { team: "tau" } },
    params: { ...base, requestMetadata: { team: "tau" }, messages: [said({ text: "Hello" }, point)] },
  },
];

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("$name", async ({ params, extra, options, ...conversation }) => {
    await expectSameRequest({
      ours: (url) => send(url, { ...conversation, options: { ...options, ...extra } }),
      theirs: async (url) => expect(sdkMeaning(await askSdk(url, params)).content).toEqual([{ text: "ok" }]),
      headers: ["authorization", "content-type"],
    });
  });
});

/** The answer that a caller of the vendor's SDK would put together from its events. */
function sdkMeaning(events: readonly ConverseStreamOutput[]) {
  const blocks = new Map<
    number,
    { text?: string; thought?: string; signature?: string; name?: string; id?: string; input?: string }
  >();
  let stopReason: string | undefined;
  let usage: { inputTokens?: number | undefined; outputTokens?: number | undefined } | undefined;
  for (const event of events) {
    const index = event.contentBlockStart?.contentBlockIndex ?? event.contentBlockDelta?.contentBlockIndex;
    if (index !== undefined && !blocks.has(index)) blocks.set(index, {});
    const block = blocks.get(index ?? -1);
    const tool = event.contentBlockStart?.start?.toolUse;
    if (block && tool) Object.assign(block, { id: tool.toolUseId, name: tool.name, input: "" });
    const delta = event.contentBlockDelta?.delta;
    if (block && delta?.text !== undefined) block.text = (block.text ?? "") + delta.text;
    if (block && delta?.toolUse) block.input = (block.input ?? "") + (delta.toolUse.input ?? "");
    const thought = delta?.reasoningContent;
    if (block && thought?.text !== undefined) block.thought = (block.thought ?? "") + thought.text;
    if (block && thought?.signature !== undefined) block.signature = (block.signature ?? "") + thought.signature;
    stopReason = event.messageStop?.stopReason ?? stopReason;
    usage = event.metadata?.usage ?? usage;
  }
  return { content: [...blocks.values()], stopReason, usage };
}

function asVendor(block: AssistantMessage["content"][number]): unknown {
  switch (block.type) {
    case "text":
      return { text: block.text };
    case "thinking":
      return { thought: block.thinking, signature: block.thinkingSignature };
    case "toolCall":
      return { id: block.id, name: block.name, input: JSON.stringify(block.arguments) };
  }
}

const codec = new EventStreamCodec(
  (data) => (typeof data === "string" ? data : new TextDecoder().decode(data)),
  (data) => new TextEncoder().encode(data),
);

/** A recorded event in binary, framed by AWS's own codec. */
function framed(line: string): Uint8Array {
  const [[type, payload] = ["", {}]] = Object.entries(JSON.parse(line) as Record<string, unknown>);
  const header = (value: string) => ({ type: "string" as const, value });
  return codec.encode({
    headers: {
      ":event-type": header(type),
      ":content-type": header("application/json"),
      ":message-type": header("event"),
    },
    body: new TextEncoder().encode(JSON.stringify(payload)),
  });
}

const recordings = ["amazon-bedrock-reasoning", "amazon-bedrock-text", "amazon-bedrock-tool-call.1"];

describe("recordings mean to us what they mean to the vendor's SDK", () => {
  test.each(recordings)("%s", async (name) => {
    const chunks = readRecording("bedrock-converse-stream", name).map(framed);
    const reply = raw(chunks);
    const server = await serve(reply, reply);
    const expected = sdkMeaning(await askSdk(server.url, { ...base, messages: [said({ text: "x" })] }));
    const ours = await ask(server);
    expect(ours.content.map(asVendor)).toEqual(expected.content);
    expect(ours.rawStopReason).toBe(expected.stopReason);
    expect(ours.usage.input).toBe(expected.usage?.inputTokens);
    expect(ours.usage.output).toBe(expected.usage?.outputTokens);
    expect(ours.stopReason).toBe({ end_turn: "stop", tool_use: "toolUse" }[expected.stopReason!]);
  });

  test.each(recordings)("%s means the same as JSON, without the framing", (name) => {
    const lines = readRecording("bedrock-converse-stream", name);
    const binary = new AwsEventStreamFramer();
    const frames = lines.flatMap((line) => binary.push(framed(line)));
    const wrapped = lines.map((line): Frame => ({ data: JSON.parse(line) }));
    expect(readAll(wrapped)).toEqual(readAll(frames));
    expect(readAll(wrapped).state.kind).toBe("ended");
  });

  test.each(recordings)("%s means the same cut anywhere", (name) => {
    const stream = Buffer.concat(readRecording("bedrock-converse-stream", name).map(framed));
    const getFrames = (...chunks: Uint8Array[]) => {
      const framer = new AwsEventStreamFramer();
      return chunks.flatMap((chunk) => framer.push(chunk));
    };
    const whole = getFrames(stream);
    for (let at = 0; at < stream.length; at++) {
      expect(getFrames(stream.subarray(0, at), stream.subarray(at)).length).toBe(whole.length);
    }
    const bytewise = getFrames(...Array.from(stream, (byte) => Uint8Array.of(byte)));
    expect(readAll(bytewise)).toEqual(readAll(whole));
  });
});

/** Reads frames without a server. */
function readAll(frames: readonly Frame[]) {
  const { draft, events } = readFrames(bedrockConverseStream, model, frames);
  const { content, usage, rawStopReason } = draft.message;
  return { content, usage, rawStopReason, events: events.map(({ type }) => type), state: draft.state };
}

const event = (type: string, data: unknown): Frame => ({ event: type, data });
const delta = (contentBlockIndex: number, fields: object) =>
  event("contentBlockDelta", { contentBlockIndex, delta: fields });
const exception = (type: string, message = "words") => event("exception", { type, message });

describe("what a stream says", () => {
  test("every reason for stopping has a meaning, and unknown ones mean an ordinary stop", () => {
    const outcome = (stopReason: string) => {
      const { state, rawStopReason } = readAll([event("messageStop", { stopReason })]);
      expect(rawStopReason).toBe(stopReason);
      if (state.kind === "failed") return state.failure.kind;
      return state.kind === "open" ? "open" : (state.refusal?.kind ?? state.reason);
    };
    expect(
      [
        "end_turn",
        "stop_sequence",
        "tool_use",
        "max_tokens",
        "model_context_window_exceeded",
        "guardrail_intervened",
        "content_filtered",
        "malformed_tool_use",
        "malformed_model_output",
        "something_new",
      ].map((reason) => [reason, outcome(reason)]),
    ).toEqual([
      ["end_turn", "stop"],
      ["stop_sequence", "stop"],
      ["tool_use", "toolUse"],
      ["max_tokens", "length"],
      ["model_context_window_exceeded", "context_overflow"],
      ["guardrail_intervened", "refused"],
      ["content_filtered", "refused"],
      ["malformed_tool_use", "unknown"],
      ["malformed_model_output", "unknown"],
      ["something_new", "stop"],
    ]);
  });

  test("a window that is full after some text cut the answer off", () => {
    const stop = event("messageStop", { stopReason: "model_context_window_exceeded" });
    const { state } = readAll([delta(0, { text: "So" }), stop]);
    expect(state).toEqual({ kind: "stopped", reason: "length" });
  });

  test("exceptions are told apart", () => {
    const getKind = (frame: Frame) => {
      const { state } = readAll([frame]);
      return state.kind === "failed" ? state.failure.kind : undefined;
    };
    expect(getKind(exception("throttlingException"))).toBe("rate_limited");
    expect(getKind(exception("validationException"))).toBe("invalid_request");
    expect(getKind(exception("validationException", "Input is too long for requested model."))).toBe(
      "context_overflow",
    );
    expect(getKind(exception("modelStreamErrorException"))).toBe("overloaded");
    expect(getKind(exception("internalServerException"))).toBe("overloaded");
    expect(getKind(exception("serviceUnavailableException"))).toBe("overloaded");
    expect(getKind(exception("accessDeniedException"))).toBe("auth");
    expect(getKind(exception("somethingNewException"))).toBe("unknown");
    expect(getKind({ data: { throttlingException: { message: "as JSON" } } })).toBe("rate_limited");
    expect(getKind(event("exception", "not an object"))).toBe("unknown");
  });

  test("an exception of the vendor's framing is understood by the SDK and by us", async () => {
    const chunks = [awsEvent("messageStart", { role: "assistant" }), dialect.streamError("rate_limited", "too fast")];
    const reply = raw(chunks);
    const server = await serve(reply, reply);
    const asking = askSdk(server.url, { ...base, messages: [said({ text: "x" })] });
    await expect(asking).rejects.toMatchObject({ name: "ThrottlingException", message: "too fast" });
    const ours = await ask(server, { maxRetries: 0 });
    expect(ours.failure).toMatchObject({ kind: "rate_limited", message: "too fast" });
  });

  test("a ping means nothing to the SDK and to us", async () => {
    const frames = dialect.answer({ id: "a", model: "m", content: [text("Hello"), call("clock", {}, "b")] });
    const chunks = frames.flatMap((frame) => [dialect.ping, frame]);
    const reply = raw(chunks);
    const server = await serve(reply, reply);
    const theirs = sdkMeaning(await askSdk(server.url, { ...base, messages: [said({ text: "x" })] }));
    expect(theirs.content).toEqual([{ text: "Hello" }, { id: "b", name: "clock", input: "" }]);
    const ours = await ask(server);
    expect(ours.content).toEqual([text("Hello"), call("clock", {}, "b")]);
    expect(ours.stopReason).toBe("toolUse");
  });

  test("encrypted thinking is joined from pieces that were encoded one by one", () => {
    const whole = Buffer.from("an encrypted thought, in several pieces");
    const cuts = [whole.subarray(0, 1), whole.subarray(1, 3), whole.subarray(3, 9), whole.subarray(9)];
    const frames = cuts.map((cut) => delta(0, { reasoningContent: { redactedContent: cut.toString("base64") } }));
    const block = { type: "thinking", thinking: "", redacted: true, thinkingSignature: whole.toString("base64") };
    expect(readAll([...frames, event("contentBlockStop", { contentBlockIndex: 0 })]).content).toEqual([block]);
    expect(readAll([...frames, event("messageStop", { stopReason: "end_turn" })]).content).toEqual([block]);
    const damaged = delta(0, { reasoningContent: { redactedContent: "not base64=" } });
    expect(() => readAll([damaged, damaged, event("contentBlockStop", { contentBlockIndex: 0 })])).not.toThrow();
  });

  test("calls without an id each get one", () => {
    const opened = [0, 1].map((contentBlockIndex) =>
      event("contentBlockStart", { contentBlockIndex, start: { toolUse: { name: "clock" } } }),
    );
    const ids = readAll(opened).content.map((block) => block.type === "toolCall" && block.id);
    expect(ids).toEqual([expect.stringMatching(/^call_/), expect.stringMatching(/^call_/)]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test("tokens that were kept for an hour are counted apart", () => {
    const usage = {
      inputTokens: 1,
      outputTokens: 2,
      cacheReadInputTokens: 3,
      cacheWriteInputTokens: 50,
      cacheDetails: [
        { ttl: "1h", inputTokens: 40 },
        { ttl: "5m", inputTokens: 10 },
      ],
    };
    expect(readAll([event("metadata", { usage })]).usage).toMatchObject({
      input: 1,
      output: 2,
      cacheRead: 3,
      cacheWrite: 50,
      cacheWrite1h: 40,
    });
  });

  test("frames of the wrong shape mean nothing", () => {
    for (const data of [null, 1, "x", [], {}, { contentBlockIndex: "0", delta: 3 }, { delta: { toolUse: 1 } }]) {
      for (const type of ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "metadata"]) {
        expect(readAll([event(type, data), { data }]).content).toEqual([]);
      }
    }
    const { usage } = readAll([event("metadata", { usage: { inputTokens: Number.NaN, outputTokens: -1 } })]);
    expect(usage).toMatchObject({ input: 0, output: 0, totalTokens: 0 });
  });

  test("indexes out of order and used twice are blocks of their own", () => {
    const { content } = readAll([
      delta(3, { text: "third" }),
      event("contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "a", name: "clock" } } }),
      delta(0, { toolUse: { input: "{}" } }),
      event("contentBlockStop", { contentBlockIndex: 3 }),
      delta(3, { text: "again" }),
    ]);
    expect(content).toMatchObject([{ text: "third" }, { type: "toolCall", id: "a" }, { text: "again" }]);
  });
});

describe("any history becomes turns that Bedrock accepts", () => {
  interface WireBlock {
    text?: string;
    toolUse?: { toolUseId: string; name: string };
    toolResult?: { toolUseId: string; content: unknown[] };
  }

  const words = fc.constantFrom("", "  ", "Hello", "a\ud800b");
  const ids = fc.constantFrom("a", "b", "call|with/odd:letters", "x".repeat(100), "");
  const pictures = fc.constant(image);
  const content = fc.array(fc.oneof(words.map(text), pictures), { maxLength: 3 });
  const block = fc.oneof(
    words.map(text),
    fc.tuple(words, fc.option(fc.constant("sig"), { nil: undefined })).map(([said, sig]) => thinking(said, sig)),
    fc.constant({ type: "thinking" as const, thinking: "", thinkingSignature: "b3BhcXVl", redacted: true }),
    fc.tuple(fc.constantFrom("weather", "odd.name/of tool", ""), ids).map(([name, id]) => call(name, { "": 1 }, id)),
  );
  const histories = (asked: Model): fc.Arbitrary<Message[]> =>
    fc.array(
      fc.oneof(
        content.map(user),
        fc
          .tuple(fc.array(block, { maxLength: 4 }), fc.boolean())
          .map(([said, own]) => assistant(own ? asked : { ...asked, id: "other" }, said)),
        fc.tuple(ids, content, fc.boolean()).map(([id, said, failed]) => result(id, "weather", said, failed)),
      ),
      { maxLength: 8 },
    );

  test.each([model, { ...model, ...nova }, { ...model, ...llama }, { ...model, ...gpt }])("$name", (asked) => {
    fc.assert(
      fc.property(histories(asked), (messages) => {
        const { payload } = bedrockConverseStream.encode(asked, { messages }, {});
        const turns = payload["messages"] as { role: string; content: WireBlock[] }[];
        turns.forEach(({ role, content: blocks }, at) => {
          expect(role).toBe(at % 2 === 0 ? "user" : "assistant");
          expect(blocks.length).toBeGreaterThan(0);
          for (const { text: said, toolUse, toolResult } of blocks) {
            if (said !== undefined) expect(said.trim()).not.toBe("");
            if (said !== undefined) expect(said.isWellFormed()).toBe(true);
            if (toolUse) expect(toolUse.toolUseId).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
            if (toolUse) expect(toolUse.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
            if (toolResult) expect(toolResult.content.length).toBeGreaterThan(0);
          }
          const calls = blocks.flatMap(({ toolUse }) => (toolUse ? [toolUse.toolUseId] : []));
          const results = turns[at + 1]?.content.flatMap(({ toolResult }) =>
            toolResult ? [toolResult.toolUseId] : [],
          );
          if (role === "assistant") expect(results ?? []).toEqual(calls);
          if (calls.length > 0) expect(payload["toolConfig"]).toBeDefined();
          if (asked.id === llama.id) {
            const kinds = new Set(blocks.map(({ toolUse, toolResult }) => Boolean(toolUse ?? toolResult)));
            expect(kinds.size).toBe(1);
          }
        });
      }),
    );
  });
});

describe("tools that cannot be expressed degrade alone", () => {
  const encode = (context: Context, changes: Partial<Model> = {}) =>
    bedrockConverseStream.encode({ ...model, ...changes } as Model, context, {});

  test("a name that Bedrock rejects leaves one tool out, and is rewritten in the history", () => {
    const { payload, notes } = encode({
      messages: [user("x"), assistant(model, [call("mcp.server/do", {}, "1")])],
      tools: [{ ...clockTool, name: "mcp.server/do" }, weatherTool],
    });
    expect(notes).toMatchObject([{ type: "tool_left_out", details: { tool: "mcp.server/do" } }]);
    expect(payload["toolConfig"]).toMatchObject({ tools: [{ toolSpec: { name: "weather" } }] });
    expect(payload["messages"]).toMatchObject([{}, { content: [{ toolUse: { name: "mcp_server_do" } }] }, {}]);
  });

  test("a strict tool whose schema says too much is an ordinary one, with a note where strictness was required", () => {
    const limited = { type: "object", properties: { n: { type: "number", minimum: 1 } }, required: ["n"] };
    const tools: Tool[] = [
      { name: "a", description: "A", parameters: limited, strict: "prefer" },
      { name: "b", description: "B", parameters: limited, strict: "require" },
      { name: "c", description: "", parameters: { type: "object", properties: {} }, strict: "require" },
    ];
    const { payload, notes } = encode({ messages: [user("x")], tools }, { compat: { supportsStrictMode: true } });
    expect(payload["toolConfig"]).toEqual({
      tools: [
        { toolSpec: { name: "a", description: "A", inputSchema: { json: limited } } },
        { toolSpec: { name: "b", description: "B", inputSchema: { json: limited } } },
        {
          toolSpec: {
            name: "c",
            inputSchema: { json: { type: "object", properties: {}, additionalProperties: false } },
            strict: true,
          },
        },
      ],
    });
    expect(notes.map(({ type, message }) => [type, /schema of (\w)/.exec(message)?.[1]])).toEqual([
      ["strict_not_supported", "b"],
    ]);
  });

  test("at most twenty tools are strict, since more are rejected", () => {
    const parameters = { type: "object", properties: {} };
    const tools = Array.from({ length: 25 }, (_unused, index): Tool => ({
      name: `tool-${index}`,
      description: "x",
      parameters,
      strict: "prefer",
    }));
    const { payload } = encode({ messages: [user("x")], tools }, { compat: { supportsStrictMode: true } });
    const sent = (payload["toolConfig"] as { tools: { toolSpec: { strict?: boolean } }[] }).tools;
    expect(sent.filter(({ toolSpec }) => toolSpec.strict)).toHaveLength(20);
    expect(sent).toHaveLength(25);
  });

  test("a model without tools gets none", () => {
    const { payload, notes } = encode(
      { messages: [user("x")], tools: [clockTool] },
      { compat: { supportsTools: false } },
    );
    expect(payload["toolConfig"]).toBeUndefined();
    expect(notes).toMatchObject([{ type: "tools_left_out" }]);
  });
});

describe("where a request goes and how it is signed", () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-bedrock-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const catalogUrl = "https://bedrock-runtime.us-east-1.amazonaws.com";
  const keys = { AWS_ACCESS_KEY_ID: "AK", AWS_SECRET_ACCESS_KEY: "SK" };

  function authorize(given: {
    baseUrl?: string;
    id?: string;
    apiKey?: string;
    options?: BedrockOptions;
    env?: Record<string, string>;
  }): Promise<HttpRequest> {
    const asked = { ...claude(given.baseUrl ?? catalogUrl), id: given.id ?? "m" };
    const request: HttpRequest = {
      method: "POST",
      url: `${asked.baseUrl}/model/m/converse-stream`,
      headers: {},
      body: "{}",
    };
    const env: Record<string, string> = {
      AWS_SHARED_CREDENTIALS_FILE: join(folder, "no-credentials"),
      AWS_CONFIG_FILE: join(folder, "no-config"),
      AWS_EC2_METADATA_DISABLED: "true",
      ...given.env,
    };
    const auth: AuthContext<BedrockOptions> = {
      model: asked,
      options: given.options ?? {},
      apiKey: given.apiKey,
      env: (name) => env[name],
      clock: createFakeClock(),
    };
    return Promise.resolve(bedrockConverseStream.authorize(request, auth));
  }
  const route = async (given: Parameters<typeof authorize>[0]) => {
    const { url, headers } = await authorize({ ...given, env: { ...keys, ...given.env } });
    return [new URL(url).host, /Credential=AK\/\d+\/([^/]+)\/bedrock/.exec(headers["authorization"] ?? "")?.[1]];
  };

  test("an AWS host follows the region; any other is kept", async () => {
    const custom = "https://gateway.example.com/bedrock";
    const vpce = "https://vpce-1.bedrock-runtime.eu-west-3.vpce.amazonaws.com";
    expect(await route({})).toEqual(["bedrock-runtime.us-east-1.amazonaws.com", "us-east-1"]);
    expect(await route({ env: { AWS_REGION: "eu-west-1", AWS_DEFAULT_REGION: "x" } })).toEqual([
      "bedrock-runtime.eu-west-1.amazonaws.com",
      "eu-west-1",
    ]);
    expect(await route({ env: { AWS_REGION: "", AWS_DEFAULT_REGION: "eu-west-2" } })).toEqual([
      "bedrock-runtime.eu-west-2.amazonaws.com",
      "eu-west-2",
    ]);
    expect(await route({ options: { region: "ap-south-1" }, env: { AWS_REGION: "eu-west-1" } })).toEqual([
      "bedrock-runtime.ap-south-1.amazonaws.com",
      "ap-south-1",
    ]);
    expect(await route({ options: { region: "cn-north-1" } })).toEqual([
      "bedrock-runtime.cn-north-1.amazonaws.com.cn",
      "cn-north-1",
    ]);
    const fips = "https://bedrock-runtime-fips.us-east-1.amazonaws.com";
    expect(await route({ baseUrl: fips, options: { region: "us-west-2" } })).toEqual([
      "bedrock-runtime-fips.us-west-2.amazonaws.com",
      "us-west-2",
    ]);
    expect(await route({ baseUrl: custom, env: { AWS_REGION: "eu-west-1" } })).toEqual([
      "gateway.example.com",
      "eu-west-1",
    ]);
    expect(await route({ baseUrl: custom })).toEqual(["gateway.example.com", "us-east-1"]);
    expect(await route({ baseUrl: vpce })).toEqual([
      "vpce-1.bedrock-runtime.eu-west-3.vpce.amazonaws.com",
      "eu-west-3",
    ]);
  });

  test("an ARN carries its region", async () => {
    const id = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.anthropic.claude-opus-4-7";
    expect(await route({ id, env: { AWS_REGION: "eu-west-1" } })).toEqual([
      "bedrock-runtime.us-west-2.amazonaws.com",
      "us-west-2",
    ]);
  });

  test("a region that would change the host is refused", async () => {
    await expect(authorize({ apiKey: "key", options: { region: "x.example.com/#" } })).rejects.toThrow(/AWS region/);
  });

  test("a token is a bearer; what the caller names wins over the environment", async () => {
    const scheme = async (given: Parameters<typeof authorize>[0]) =>
      (await authorize(given)).headers["authorization"]?.replace(/ Credential=(\w+).*/, " $1");
    expect(await scheme({ apiKey: "from-env", env: keys })).toBe("Bearer from-env");
    expect(await scheme({ options: { bearerToken: "mine" }, apiKey: "from-env" })).toBe("Bearer mine");
    expect(await scheme({ options: { apiKey: "mine" }, apiKey: "mine", env: keys })).toBe("Bearer mine");
    expect(await scheme({ env: keys })).toBe("AWS4-HMAC-SHA256 AK");
    const credentials = { accessKeyId: "MINE", secretAccessKey: "SK" };
    expect(await scheme({ options: { credentials }, apiKey: "from-env", env: keys })).toBe("AWS4-HMAC-SHA256 MINE");
    await expect(scheme({ options: { profile: "work" }, apiKey: "from-env", env: keys })).rejects.toThrow(/"work"/);
  });

  test("without credentials the person is told what to set", async () => {
    const rejected = {
      name: "MissingCredentials",
      message: expect.stringMatching(/AWS_BEARER_TOKEN_BEDROCK.*AWS_PROFILE/),
    };
    await expect(authorize({})).rejects.toMatchObject(rejected);
  });

  test("a directory in place of a credentials file is a failure that names it", async () => {
    const env = { AWS_SHARED_CREDENTIALS_FILE: folder, AWS_CONFIG_FILE: folder };
    const message = await provider.stream(claude(catalogUrl), question, { env }).result();
    expect(message.failure).toEqual({
      kind: "auth",
      message: `AWS credentials could not be read from ${folder}: it is a directory, not a file.`,
    });
  });

  test("a signed request on the wire is the one that AWS's own signer would sign", async () => {
    const server = await serve(answerOk);
    const clock = createFakeClock();
    const credentials = { accessKeyId: "AK", secretAccessKey: "SK", sessionToken: "TOKEN" };
    const options = { credentials, region: "eu-west-1", clock, headers: { "x-extra": "added later" } };
    const message = await provider.stream(claude(server.url), { messages: [user("Grüße")] }, options).result();
    expect(message.errorMessage).toBeUndefined();
    const { path, headers, body } = server.requests[0]!;
    expect(headers["x-amz-security-token"]).toBe("TOKEN");
    expect(headers["accept"]).toBe("application/vnd.amazon.eventstream");
    const client = new BedrockRuntimeClient({ region: "eu-west-1", credentials });
    const scheme = { name: "sigv4" as const, signingName: "bedrock", signingRegion: "eu-west-1", properties: {} };
    const signer = await client.config.signer(scheme);
    const unsigned = { method: "POST", protocol: "http:", hostname: "127.0.0.1", path, query: {} };
    const signed = await signer.sign(
      { ...unsigned, headers: { host: headers["host"] }, body: JSON.stringify(body) } as Parameters<
        typeof signer.sign
      >[0],
      { signingDate: new Date(clock.now()), unsignableHeaders: new Set(["x-amz-content-sha256"]) } as object,
    );
    expect(headers["authorization"]).toBe(signed.headers["authorization"]);
  });
});

test("a payload that is not JSON is an error of the stream", async () => {
  const good = awsEvent("messageStart", { role: "assistant" });
  const chunks = [good, awsMessage({ ":event-type": "contentBlockDelta" }, "{not json")];
  const server = await serve(raw(chunks));
  const ours = await ask(server, { maxRetries: 0 });
  expect(ours.failure).toMatchObject({ kind: "network", message: expect.stringMatching(/damaged/) });
});

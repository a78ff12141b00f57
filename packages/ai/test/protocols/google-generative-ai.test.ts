import {
  FunctionCallingConfigMode,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
  ThinkingLevel,
} from "@google/genai";
import { describe, expect, test } from "vitest";
import type { AssistantMessage, ToolCall } from "../../src/message.ts";
import type { Model } from "../../src/model.ts";
import type { SimpleStreamOptions } from "../../src/options.ts";
import { googleGenerativeAi } from "../../src/protocols/google-generative-ai/index.ts";
import { sse } from "../../src/testing/dialects/dialect.ts";
import { googleGenerativeAiDialect as dialect } from "../../src/testing/dialects/google.ts";
import { assertGrammar } from "../../src/testing/provider-contract.ts";
import { call, text, thinking } from "../../src/testing/script.ts";
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
  readRecording,
  result,
  testProvider,
  type OracleCase,
  user,
  weatherTool,
} from "./kit.ts";
import { geminiPerson, personOutput } from "./output-form.ts";

const gemini = (serverUrl: string) =>
  createModel({
    api: "google-generative-ai",
    provider: "google",
    id: "gemini-2.5-flash",
    baseUrl: `${serverUrl}/v1beta`,
    maxTokens: 65_536,
  });

const levels = { off: null, minimal: null, low: "low", medium: "medium", high: "high", xhigh: null, max: null };
const third: Partial<Model> = { id: "gemini-3-pro-preview", thinkingLevelMap: levels };
const model = gemini("");
const thirdModel = { ...model, ...third } as Model;

const cannot = { cacheWrites: true, redactedThinking: true };
const { provider, serve, send, expectSameRequest } = testProvider({ dialect, model: gemini, cannot });

const off = { thinkingConfig: { thinkingBudget: 0 } };
const low = { thinkingConfig: { thinkingLevel: ThinkingLevel.LOW } };
const declared = (...tools: (typeof weatherTool | typeof clockTool)[]) => [
  {
    functionDeclarations: tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parametersJsonSchema: parameters,
    })),
  },
];
const said = (content: string) => ({ role: "user", parts: [{ text: content }] });
const sdkImage = { inlineData: { mimeType: "image/png", data: pixel } };

const cases: OracleCase<GenerateContentParameters>[] = [
  {
    name: "a question",
    context: { messages: [user("Hello")] },
    params: { model: model.id, contents: [said("Hello")], config: off },
  },
  {
    name: "a system prompt",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    params: {
      model: model.id,
      contents: [said("Hello")],
      config: { ...off, systemInstruction: { parts: [{ text: "Be brief." }] } },
    },
  },
  {
    name: "temperature and a limit",
    context: { messages: [user("Hello")] },
    options: { temperature: 0.5, maxTokens: 100 },
    params: { model: model.id, contents: [said("Hello")], config: { ...off, temperature: 0.5, maxOutputTokens: 100 } },
  },
  {
    name: "an image",
    context: { messages: [user([text("What is it?"), image])] },
    params: {
      model: model.id,
      contents: [{ role: "user", parts: [{ text: "What is it?" }, sdkImage] }],
      config: off,
    },
  },
  {
    name: "tools",
    context: { messages: [user("Weather?")], tools: [clockTool, weatherTool] },
    params: {
      model: model.id,
      contents: [said("Weather?")],
      config: { ...off, tools: declared(clockTool, weatherTool) },
    },
  },
  ...(["auto", "any", "none"] as const).map((choice) => ({
    name: `tool choice ${choice}`,
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: choice },
    params: {
      model: model.id,
      contents: [said("Weather?")],
      config: {
        ...off,
        tools: declared(weatherTool),
        toolConfig: {
          functionCallingConfig: {
            mode: {
              auto: FunctionCallingConfigMode.AUTO,
              any: FunctionCallingConfigMode.ANY,
              none: FunctionCallingConfigMode.NONE,
            }[choice],
          },
        },
      },
    },
  })),
  {
    name: "a demanded tool",
    context: { messages: [user("Weather?")], tools: [weatherTool, clockTool] },
    options: { toolChoice: { name: "weather" } },
    params: {
      model: model.id,
      contents: [said("Weather?")],
      config: {
        ...off,
        tools: declared(weatherTool, clockTool),
        toolConfig: {
          functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ["weather"] },
        },
      },
    },
  },
  {
    name: "a form of the answer, without tools",
    context: { messages: [user("Who?")] },
    options: { output: personOutput },
    params: {
      model: model.id,
      contents: [said("Who?")],
      config: { ...off, responseMimeType: "application/json", responseJsonSchema: geminiPerson },
    },
  },
  {
    name: "a form of the answer beside tools, which older models refuse",
    context: { messages: [user("Weather?")], tools: [weatherTool] },
    options: { output: personOutput },
    params: { model: model.id, contents: [said("Weather?")], config: { ...off, tools: declared(weatherTool) } },
  },
  {
    name: "strict tools, where the model can be held to them",
    context: { messages: [user("Weather?")], tools: [{ ...weatherTool, strict: "prefer" }] },
    model: third,
    params: {
      model: third.id!,
      contents: [said("Weather?")],
      config: {
        ...low,
        tools: declared(weatherTool),
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.VALIDATED } },
      },
    },
  },
  {
    name: "calls and their results, in one content each and without ids before Gemini 3",
    context: {
      messages: [
        user("Weather?"),
        assistant(model, [text("I'll look."), call("weather", { place: "Rome" }, "a"), call("clock", {}, "b")]),
        result("b", "clock", [text("noon")]),
        result("a", "weather", [text("no"), text("station")], true),
        user("And now?"),
      ],
    },
    params: {
      model: model.id,
      contents: [
        said("Weather?"),
        {
          role: "model",
          parts: [
            { text: "I'll look." },
            { functionCall: { name: "weather", args: { place: "Rome" } } },
            { functionCall: { name: "clock", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { name: "weather", response: { error: "no\nstation" } } },
            { functionResponse: { name: "clock", response: { output: "noon" } } },
            { text: "And now?" },
          ],
        },
      ],
      config: off,
    },
  },
  {
    name: "its own signed calls, with ids since Gemini 3",
    context: {
      messages: [
        user("Weather?"),
        assistant(thirdModel, [
          { ...call("weather", { place: "Rome" }, "a"), thoughtSignature: "c2ln" },
          call("clock", {}, "b"),
        ]),
        result("a", "weather", [text("sunny")]),
        result("b", "clock", [text("noon")]),
      ],
    },
    model: third,
    params: {
      model: third.id!,
      contents: [
        said("Weather?"),
        {
          role: "model",
          parts: [
            { functionCall: { id: "a", name: "weather", args: { place: "Rome" } }, thoughtSignature: "c2ln" },
            { functionCall: { id: "b", name: "clock", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "a", name: "weather", response: { output: "sunny" } } },
            { functionResponse: { id: "b", name: "clock", response: { output: "noon" } } },
          ],
        },
      ],
      config: low,
    },
  },
  {
    name: "another model's calls, of which the first gets the documented stand-in for a signature",
    context: {
      messages: [
        user("Weather?"),
        assistant(model, [
          { ...call("weather", { place: "Rome" }, "a|1"), thoughtSignature: "Zm9yZWlnbg==" },
          call("clock", {}, "b|2"),
        ]),
        result("a|1", "weather", [text("sunny")]),
        result("b|2", "clock", [text("noon")]),
      ],
    },
    model: third,
    params: {
      model: third.id!,
      contents: [
        said("Weather?"),
        {
          role: "model",
          parts: [
            {
              functionCall: { id: "a_1", name: "weather", args: { place: "Rome" } },
              thoughtSignature: "skip_thought_signature_validator",
            },
            { functionCall: { id: "b_2", name: "clock", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "a_1", name: "weather", response: { output: "sunny" } } },
            { functionResponse: { id: "b_2", name: "clock", response: { output: "noon" } } },
          ],
        },
      ],
      config: low,
    },
  },
  {
    name: "an image in a result, inside it since Gemini 3",
    context: {
      messages: [
        user("Look."),
        assistant(thirdModel, [{ ...call("camera", {}, "a"), thoughtSignature: "c2ln" }]),
        result("a", "camera", [text("here"), image]),
      ],
    },
    model: third,
    params: {
      model: third.id!,
      contents: [
        said("Look."),
        { role: "model", parts: [{ functionCall: { id: "a", name: "camera", args: {} }, thoughtSignature: "c2ln" }] },
        {
          role: "user",
          parts: [{ functionResponse: { id: "a", name: "camera", response: { output: "here" }, parts: [sdkImage] } }],
        },
      ],
      config: low,
    },
  },
  {
    name: "images in results, behind all results before Gemini 3",
    context: {
      messages: [
        user("Look."),
        assistant(model, [call("camera", {}, "a"), call("clock", {}, "b")]),
        result("a", "camera", [image]),
        result("b", "clock", [text("noon")]),
      ],
    },
    params: {
      model: model.id,
      contents: [
        said("Look."),
        {
          role: "model",
          parts: [{ functionCall: { name: "camera", args: {} } }, { functionCall: { name: "clock", args: {} } }],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { name: "camera", response: { output: "(The result is an image.)" } } },
            { functionResponse: { name: "clock", response: { output: "noon" } } },
            { text: "Images from camera:" },
            sdkImage,
          ],
        },
      ],
      config: off,
    },
  },
  {
    name: "its own thoughts and signed texts, each signature where it came",
    context: {
      messages: [
        user("Think."),
        assistant(model, [
          thinking("Hm.", "dGhvdWdodA=="),
          { ...text("Done."), textSignature: "dGV4dA==" },
          { ...text(""), textSignature: "ZW1wdHk=" },
        ]),
        user("More."),
      ],
    },
    options: { reasoning: "medium" },
    params: {
      model: model.id,
      contents: [
        said("Think."),
        {
          role: "model",
          parts: [
            { text: "Hm.", thought: true, thoughtSignature: "dGhvdWdodA==" },
            { text: "Done.", thoughtSignature: "dGV4dA==" },
            { text: "", thoughtSignature: "ZW1wdHk=" },
          ],
        },
        said("More."),
      ],
      config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 8_192 } },
    },
  },
  {
    name: "thoughts of another model, as text",
    context: {
      messages: [user("Think."), assistant(thirdModel, [thinking("Hm.", "c2ln"), text("Done.")]), user("More.")],
    },
    params: {
      model: model.id,
      contents: [said("Think."), { role: "model", parts: [{ text: "Hm." }, { text: "Done." }] }, said("More.")],
      config: off,
    },
  },
  {
    name: "a budget no larger than the model's most",
    context: { messages: [user("Think.")] },
    options: { reasoning: "high" },
    params: {
      model: model.id,
      contents: [said("Think.")],
      config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 } },
    },
  },
  {
    name: "the least thinking of a model that cannot be off",
    context: { messages: [user("Hello")] },
    model: { id: "gemini-2.5-pro" },
    params: {
      model: "gemini-2.5-pro",
      contents: [said("Hello")],
      config: { thinkingConfig: { thinkingBudget: 128 } },
    },
  },
  {
    name: "thinking by level since Gemini 3, the nearest one it has",
    context: { messages: [user("Think.")] },
    options: { reasoning: "minimal" },
    model: third,
    params: {
      model: third.id!,
      contents: [said("Think.")],
      config: { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW } },
    },
  },
  {
    name: "a history that begins with the model",
    context: { messages: [assistant(model, [text("Hi.")]), user("Hello"), user("Anyone?")] },
    params: {
      model: model.id,
      contents: [
        said("(The conversation before this point is not shown.)"),
        { role: "model", parts: [{ text: "Hi." }] },
        { role: "user", parts: [{ text: "Hello" }, { text: "Anyone?" }] },
      ],
      config: off,
    },
  },
];

const getParts = (chunks: GenerateContentResponse[]): Part[] =>
  chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);

const createSdk = (baseUrl: string) => new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl } });

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("$name", async ({ params, ...conversation }) => {
    await expectSameRequest({
      ours: (url) => send(url, conversation),
      theirs: async (url) => {
        const chunks = await collect(await createSdk(url).models.generateContentStream(params));
        expect(chunks.map((chunk) => chunk.text ?? "").join("")).toBe("ok");
      },
      headers: ["x-goog-api-key", "content-type"],
    });
  });
});

test("the vendor's SDK understands the dialect", async () => {
  const content = [
    thinking("Let me think about it.", "c2ln"),
    text("Looking it up."),
    { ...call("weather", { place: "Rome" }, "call-1"), thoughtSignature: "Y2FsbA==" },
  ];
  const usage = { input: 100, output: 50, cacheRead: 30, reasoning: 20 };
  const server = await serve(
    { kind: "answer", answer: { content, usage } },
    { kind: "raw", chunks: [dialect.streamError("overloaded", "too busy")], ending: "end" },
    { kind: "status", status: 429 },
  );
  const sdk = createSdk(server.url);
  const ask = async () =>
    collect(await sdk.models.generateContentStream({ model: "gemini-2.5-flash", contents: "Hello" }));
  const chunks = await ask();
  const parts = getParts(chunks);
  expect(
    parts
      .filter((part) => part.thought)
      .map((part) => part.text)
      .join(""),
  ).toBe("Let me think about it.");
  expect(chunks.map((chunk) => chunk.text ?? "").join("")).toBe("Looking it up.");
  expect(chunks.flatMap((chunk) => chunk.functionCalls ?? [])).toEqual([
    { id: "call-1", name: "weather", args: { place: "Rome" } },
  ]);
  expect(parts.flatMap((part) => part.thoughtSignature ?? [])).toEqual(["c2ln", "Y2FsbA=="]);
  expect(chunks.at(-1)?.usageMetadata).toEqual({
    promptTokenCount: 130,
    cachedContentTokenCount: 30,
    candidatesTokenCount: 30,
    thoughtsTokenCount: 20,
    totalTokenCount: 180,
  });
  expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe("STOP");
  await expect(ask()).rejects.toThrow(/too busy/);
  await expect(ask()).rejects.toThrow(/RESOURCE_EXHAUSTED/);
});

async function answerTo(frames: (object | string)[], changes: Partial<Model> = {}): Promise<AssistantMessage> {
  const server = await serve(raw(frames.map((frame) => sse(frame))));
  const asked = { ...gemini(server.url), ...changes } as Model;
  const stream = provider.stream(asked, question, { apiKey: "key", maxRetries: 0 });
  assertGrammar(await collect(stream));
  return await stream.result();
}

const parts = (...list: object[]) => ({ candidates: [{ content: { role: "model", parts: list }, index: 0 }] });
const finish = (finishReason: string, extra: object = {}) => ({ candidates: [{ finishReason, ...extra }] });
const stop = finish("STOP");
const calls = (message: AssistantMessage) =>
  message.content.filter((block): block is ToolCall => block.type === "toolCall");

describe("recordings mean to us what they mean to the vendor's SDK", () => {
  const names = ["google-reasoning", "google-text", "google-tool-call"];
  test.each(names)("%s", async (name) => {
    const lines = readRecording("google-generative-ai", name);
    const server = await serve({ kind: "raw", chunks: lines.map((line) => sse(line)), ending: "end" });
    const sdk = createSdk(server.url);
    const chunks = await collect(
      await sdk.models.generateContentStream({ model: "gemini-2.5-flash", contents: "x" }),
    ).finally(() => server.close());
    const ours = await answerTo(lines);
    const signature = getParts(chunks).find((part) => part.thoughtSignature)?.thoughtSignature;
    const theirText = chunks.map((chunk) => chunk.text ?? "").join("");
    const theirCalls = chunks.flatMap((chunk) => chunk.functionCalls ?? []);
    expect(ours.content.map((block) => (block.type === "text" ? block.text : "")).join("")).toBe(theirText);
    expect(calls(ours).map((made) => ({ name: made.name, args: made.arguments }))).toEqual(theirCalls);
    expect(signature).toBeDefined();
    expect(ours.content.map((block) => getSignature(block))).toEqual([signature]);
    const last = chunks.at(-1)!;
    expect(ours.rawStopReason).toBe(last.candidates?.[0]?.finishReason);
    expect(ours.stopReason).toBe(theirCalls.length > 0 ? "toolUse" : "stop");
    expect(ours.responseId).toBe(last.responseId);
    expect(ours.responseModel).toBe(last.modelVersion);
    const usage = last.usageMetadata!;
    expect(ours.usage).toMatchObject({
      input: usage.promptTokenCount,
      output: usage.candidatesTokenCount! + usage.thoughtsTokenCount!,
      reasoning: usage.thoughtsTokenCount,
      totalTokens: usage.totalTokenCount,
    });
  });

  test("calls whose arguments are streamed", async () => {
    const ours = await answerTo(readRecording("google-generative-ai", "google-stream-no-args-tool-call"));
    expect(ours.content[0]).toMatchObject({
      type: "thinking",
      thinking: expect.stringMatching(/^\*\*Processing User Requests\*\*/),
    });
    expect(calls(ours).map((made) => [made.name, made.arguments, made.argumentsError])).toEqual([
      ["read_theme", {}, undefined],
      ["read_screen", { id: "A" }, undefined],
      ["read_screen", { id: "B" }, undefined],
      ["read_screen", { id: "C" }, undefined],
    ]);
    expect(calls(ours)[0]?.thoughtSignature).toMatch(/^AY89a18a8/);
    expect(new Set(calls(ours).map(({ id }) => id)).size).toBe(4);
    expect(ours.stopReason).toBe("toolUse");
    expect(ours.usage).toMatchObject({ input: 249, output: 58 + 183, reasoning: 183, totalTokens: 490 });
  });
});

const getSignature = (block: AssistantMessage["content"][number]) =>
  block.type === "text"
    ? block.textSignature
    : block.type === "thinking"
      ? block.thinkingSignature
      : block.thoughtSignature;

describe("how an answer is read", () => {
  const stream = (...functionCalls: object[]) => functionCalls.map((functionCall) => parts({ functionCall }));

  test("streamed arguments spell one object, whatever is in them", async () => {
    const piece = (...partialArgs: object[]) => ({ partialArgs, willContinue: true });
    const ours = await answerTo([
      ...stream(
        { name: "edit", willContinue: true },
        piece({ jsonPath: "$.path", stringValue: 'a "b"\n', willContinue: true }),
        piece({ jsonPath: "$.path", stringValue: "\\ü🌍", willContinue: true }),
        piece({ jsonPath: "$.path", stringValue: "" }, { jsonPath: "$.edits[0].line", numberValue: 3.5 }),
        piece({ jsonPath: "$.edits[0].keep", boolValue: false }, { jsonPath: "$.edits[1].line", numberValue: -1 }),
        piece(
          { jsonPath: "$['odd key']['it\\'s']", nullValue: "NULL_VALUE" },
          { jsonPath: "$.grid[0][0]", numberValue: 1 },
        ),
        piece({ jsonPath: "$.grid[0][1]", numberValue: 2 }, { jsonPath: "$.grid[1][0]", stringValue: "x" }),
        piece({ jsonPath: "$.__proto__", stringValue: "data" }),
        {},
      ),
      stop,
    ]);
    const [made] = calls(ours);
    expect(made?.argumentsError).toBeUndefined();
    expect(JSON.stringify(made?.arguments)).toBe(
      JSON.stringify({
        path: 'a "b"\n\\ü🌍',
        edits: [{ line: 3.5, keep: false }, { line: -1 }],
        "odd key": { "it's": null },
        grid: [[1, 2], ["x"]],
        ["__proto__"]: "data",
      }),
    );
  });

  test.each([
    ["a path that is none", [{ jsonPath: "place", stringValue: "Rome" }]],
    [
      "a member that came before",
      [
        { jsonPath: "$.a.b", numberValue: 1 },
        { jsonPath: "$.c", numberValue: 1 },
        { jsonPath: "$.a.d", numberValue: 1 },
      ],
    ],
    ["a list with a gap", [{ jsonPath: "$.a[1]", numberValue: 1 }]],
    [
      "a list as an object",
      [
        { jsonPath: "$.a[0]", numberValue: 1 },
        { jsonPath: "$.a.b", numberValue: 1 },
      ],
    ],
  ])("streamed arguments with %s are an error of that call alone", async (_what, partialArgs) => {
    const ours = await answerTo([
      ...stream({ name: "bad", willContinue: true }, { partialArgs, willContinue: true }, {}, { name: "good" }),
      stop,
    ]);
    const [bad, good] = calls(ours);
    expect(bad?.arguments).toEqual({});
    expect(bad?.argumentsError).toMatch(/^The arguments of bad could not be read: /);
    expect(good?.argumentsError).toBeUndefined();
  });

  test("a streamed call that the answer leaves open is never executed", async () => {
    const ours = await answerTo([...stream({ name: "wipe", willContinue: true }), finish("MAX_TOKENS")]);
    expect(ours.stopReason).toBe("length");
    expect(calls(ours)[0]?.argumentsError).toMatch(/ended before they were complete/);
  });

  test("arguments that are too deep, or no object, are an error of that call alone", async () => {
    const deep = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"deep","args":{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}}}]}}]}`;
    const ours = await answerTo([
      deep,
      parts({ functionCall: { name: "list", args: [1] } }, { functionCall: { name: "fine", args: { a: 1 } } }),
      stop,
    ]);
    const [first, second, last] = calls(ours);
    expect(first?.argumentsError).toMatch(/nested deeper than 64 levels/);
    expect(second?.argumentsError).toMatch(/an object was expected/);
    expect(last).toMatchObject({ name: "fine", arguments: { a: 1 } });
    expect(last?.argumentsError).toBeUndefined();
  });

  test("calls without an id, or with one that is taken, get ids that no other answer has", async () => {
    const frames = (responseId: string) => [
      { ...parts({ functionCall: { name: "a" } }, { functionCall: { name: "a" } }), responseId },
      parts({ functionCall: { name: "a", id: "given" } }, { functionCall: { name: "a", id: "given" } }),
      stop,
    ];
    const ids = calls(await answerTo(frames("one"))).map(({ id }) => id);
    const again = calls(await answerTo(frames("one"))).map(({ id }) => id);
    const other = calls(await answerTo(frames("two"))).map(({ id }) => id);
    expect(again).toEqual(ids);
    expect(ids[2]).toBe("given");
    expect(new Set([...ids, ...other]).size).toBe(4 + 4 - 1);
  });

  test("a signature ends its part: what follows is a block of its own", async () => {
    const ours = await answerTo([
      parts({ text: "Hm", thought: true }),
      parts({ text: "…", thought: true, thoughtSignature: "b25l" }, { text: "One" }, { text: "" }),
      parts({ text: " two" }, { text: "", thoughtSignature: "dHdv" }, { text: "Three" }),
      parts({ functionCall: { name: "a" } }, { text: "", thoughtSignature: "dGhyZWU=" }),
      stop,
    ]);
    expect(ours.content).toMatchObject([
      { type: "thinking", thinking: "Hm…", thinkingSignature: "b25l" },
      { type: "text", text: "One two", textSignature: "dHdv" },
      { type: "text", text: "Three" },
      { type: "toolCall", name: "a" },
      { type: "text", text: "", textSignature: "dGhyZWU=" },
    ]);
  });

  test("what we do not show means nothing: drawings, code, unknown frames, nonsense", async () => {
    const ours = await answerTo([
      parts({ inlineData: { mimeType: "image/png", data: pixel } }, { executableCode: { code: "1" } }),
      { candidates: "x", usageMetadata: [1] },
      { candidates: [{ content: { parts: [null, 1, { functionCall: 7 }, { functionCall: {} }, { text: 3 }] } }] },
      "[1]",
      "null",
      parts({ text: "fine" }),
      stop,
    ]);
    expect(ours.content).toEqual([text("fine")]);
    expect(ours.stopReason).toBe("stop");
  });

  test.each(["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"])(
    "%s is a refusal",
    async (reason) => {
      const ours = await answerTo([parts({ text: "Well" }), finish(reason)]);
      expect(ours.failure?.kind).toBe("refused");
      expect(ours.rawStopReason).toBe(reason);
      expect(ours.content).toEqual([text("Well")]);
    },
  );

  test.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER"])(
    "%s is a failure that says so",
    async (reason) => {
      const ours = await answerTo([finish(reason, { finishMessage: "Words of the server." })]);
      expect(ours.stopReason).toBe("error");
      expect(ours.failure?.kind).toBe("unknown");
      expect(ours.errorMessage).toContain(reason);
      expect(ours.errorMessage).toContain("Words of the server.");
    },
  );

  test("an unknown reason is an ordinary stop, and its word is kept", async () => {
    const ours = await answerTo([parts({ text: "x" }), finish("SOMETHING_NEW")]);
    expect(ours.stopReason).toBe("stop");
    expect(ours.rawStopReason).toBe("SOMETHING_NEW");
  });

  test("a refused prompt is a refusal", async () => {
    const ours = await answerTo([{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }]);
    expect(ours.failure).toMatchObject({ kind: "refused" });
    expect(ours.rawStopReason).toBe("PROHIBITED_CONTENT");
  });

  test("usage after the last word still counts, and what is no number does not", async () => {
    const ours = await answerTo([
      parts({ text: "x" }),
      { ...stop, usageMetadata: { promptTokenCount: "many", candidatesTokenCount: -3 } },
      {
        usageMetadata: {
          promptTokenCount: 100,
          cachedContentTokenCount: 40,
          toolUsePromptTokenCount: 7,
          candidatesTokenCount: 20,
          thoughtsTokenCount: 5,
        },
      },
    ]);
    expect(ours.usage).toMatchObject({ input: 67, cacheRead: 40, output: 25, reasoning: 5, totalTokens: 132 });
  });

  test("a body that ends without a reason is not a complete answer", async () => {
    const ours = await answerTo([parts({ text: "Half" })]);
    expect(ours.failure?.kind).toBe("network");
  });
});

describe("tools that Gemini cannot take", () => {
  test("are left out one by one", async () => {
    const server = await serve(answerOk);
    const tools = [
      { name: "list", description: "", parameters: { type: "array" } },
      { name: "lost", description: "", parameters: { type: "object", properties: { a: { $ref: "#/$defs/gone" } } } },
      { name: "no spaces", description: "", parameters: { type: "object" } },
      weatherTool,
    ];
    const context = { messages: [user("Weather?")], tools };
    const message = await provider.streamSimple(gemini(server.url), context, { apiKey: "key" }).result();
    expect(message.diagnostics?.map(({ type, details }) => [type, details?.["tool"]])).toEqual([
      ["tool_left_out", "no spaces"],
      ["tool_left_out", "list"],
      ["tool_left_out", "lost"],
    ]);
    expect((server.requests[0]!.body as { tools: unknown }).tools).toEqual(declared(weatherTool));
  });

  test("before Gemini 2.5 go out in OpenAPI's terms, and without parameters when there are none", async () => {
    const server = await serve(answerOk);
    const asked = { ...gemini(server.url), id: "gemini-2.0-flash", reasoning: false };
    await provider
      .streamSimple(asked, { messages: [user("x")], tools: [weatherTool, clockTool] }, { apiKey: "k" })
      .result();
    expect((server.requests[0]!.body as { tools: unknown }).tools).toEqual([
      {
        functionDeclarations: [
          { name: "weather", description: weatherTool.description, parameters: weatherTool.parameters },
          { name: "clock", description: clockTool.description },
        ],
      },
    ]);
  });
});

test("options in Google's own terms are sent as they are", async () => {
  const server = await serve(answerOk, answerOk);
  const ask = (options: object) =>
    provider.stream(gemini(server.url), question, { apiKey: "key", ...options }).result();
  await ask({ thinking: { enabled: true, budgetTokens: -1 } });
  await ask({});
  const [dynamic, silent] = server.requests.map(
    ({ body }) => (body as { generationConfig?: unknown }).generationConfig,
  );
  expect(dynamic).toEqual({ thinkingConfig: { includeThoughts: true, thinkingBudget: -1 } });
  expect(silent).toBeUndefined();
});

describe("how much a model thinks", () => {
  const noOff = { off: null, minimal: "MINIMAL", low: null, medium: null, high: "HIGH" };
  test.each<[string, Partial<Model>, SimpleStreamOptions, unknown]>([
    ["gemini-2.5-flash-lite", {}, { reasoning: "minimal" }, { includeThoughts: true, thinkingBudget: 1_024 }],
    ["gemini-2.5-flash-lite", {}, {}, { thinkingBudget: 0 }],
    ["gemini-2.5-pro", {}, { reasoning: "high" }, { includeThoughts: true, thinkingBudget: 32_768 }],
    [
      "gemini-2.5-pro",
      {},
      { reasoning: "low", thinkingBudgets: { low: 1 } },
      { includeThoughts: true, thinkingBudget: 128 },
    ],
    ["deep-research-preview", {}, { reasoning: "high" }, { includeThoughts: true, thinkingBudget: -1 }],
    [
      "deep-research-preview",
      {},
      { reasoning: "high", thinkingBudgets: { high: 9 } },
      { includeThoughts: true, thinkingBudget: 9 },
    ],
    ["deep-research-preview", {}, {}, undefined],
    ["gemini-flash-latest", {}, { reasoning: "medium" }, { includeThoughts: true, thinkingLevel: "MEDIUM" }],
    ["gemini-flash-latest", {}, {}, { thinkingLevel: "LOW" }],
    ["gemma-4-31b-it", { thinkingLevelMap: noOff }, {}, { thinkingLevel: "MINIMAL" }],
    [
      "gemma-4-31b-it",
      { thinkingLevelMap: noOff },
      { reasoning: "medium" },
      { includeThoughts: true, thinkingLevel: "HIGH" },
    ],
    ["gemini-2.0-flash", { reasoning: false }, { reasoning: "high" }, undefined],
  ])("%s %j %j", (id, changes, options, expected) => {
    const asked = { ...model, id, ...changes } as Model;
    const { payload } = googleGenerativeAi.encode(asked, question, googleGenerativeAi.resolveOptions(asked, options));
    const config = payload["generationConfig"] as { thinkingConfig?: unknown } | undefined;
    expect(config?.thinkingConfig).toEqual(expected);
  });
});

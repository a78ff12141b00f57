import { type KnownApi, type Model, streamSimple } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hideParameters } from "./hide-parameters.ts";
import type { DroppedTool, PipelineInput, PipelineTool } from "./layer.ts";
import { expressibleTools } from "./schema.ts";

const apis: readonly KnownApi[] = [
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "azure-openai-responses",
  "openai-codex-responses",
  "google-generative-ai",
  "google-vertex",
  "mistral-conversations",
  "bedrock-converse-stream",
];

const readModelId = (api: string): Model => ({
  id: "test",
  name: "Test",
  api,
  provider: "test",
  baseUrl: "http://127.0.0.1:9",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000,
  maxTokens: 100,
});

const tool = (name: string, parameters: unknown = { type: "object", properties: {} }): PipelineTool => ({
  name,
  label: name,
  description: "",
  parameters: parameters as PipelineTool["parameters"],
  execute: async () => ({ content: [] }),
});

const filter = (tools: readonly PipelineTool[], model: PipelineInput["model"]) => {
  const reports: DroppedTool[] = [];
  const kept = expressibleTools(tools, { model, report: (one) => void reports.push(one) } as PipelineInput);
  return { kept, reports, names: kept.map(({ name }) => name) };
};

/** Finds what the protocol itself leaves out of a request, which is stopped before it is sent. */
const leftOut = async (model: Model, tools: PipelineTool[]) => {
  let wasEncoded = false;
  const answer = await streamSimple(
    model,
    { messages: [{ role: "user", content: "hi", timestamp: 1 }], tools },
    {
      apiKey: "fake-key",
      maxRetries: 0,
      onPayload: () => {
        wasEncoded = true;
        throw new Error("enough");
      },
    },
  ).result();
  expect(wasEncoded).toBe(true);
  return (answer.diagnostics ?? [])
    .filter(({ type }) => type === "tool_left_out")
    .map(({ details }) => details?.["tool"]);
};

describe.each(apis)("%s", (api) => {
  test("drops exactly the names that its protocol leaves out", async () => {
    const letters = fc.constantFrom(..."aZ0_-.: /é\n");
    const name = fc.oneof(
      fc.string({ unit: letters, minLength: 1, maxLength: 6 }),
      fc.constantFrom(...[63, 64, 65, 127, 128, 129].map((length) => "n".repeat(length))),
    );
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 8 }), async (names) => {
        const tools = names.map((one) => tool(one));
        const { reports } = filter(tools, readModelId(api));
        expect(reports.map((report) => report.name)).toEqual(await leftOut(readModelId(api), tools));
      }),
      { numRuns: 30 },
    );
  });

  test("keeps nothing that its protocol cannot encode, and what it keeps is as it was given", async () => {
    const circle: Record<string, unknown> = { type: "object" };
    circle["properties"] = { self: circle };
    let deep: Record<string, unknown> = { type: "string" };
    for (let at = 0; at < 70; at++) deep = { type: "object", properties: { in: deep } };
    const standard = { "~standard": { vendor: "x", jsonSchema: { input: () => ({ type: "object" }) } } };
    const good = [
      tool("plain"),
      tool("recursive", { type: "object", properties: { self: { $ref: "#" } } }),
      tool("standard", standard),
      // As those of arktype are.
      tool(
        "function",
        Object.assign(() => undefined, standard),
      ),
    ];
    const bad = [
      tool("circle", circle),
      tool("deep", deep),
      tool("big", { type: "object", properties: { n: { const: 1n } } }),
      tool("text", { type: "string" }),
      tool("list", []),
      tool("none", null),
      tool("mute", { "~standard": { vendor: "x" } }),
    ];
    const { kept, reports } = filter([...bad, ...good], readModelId(api));
    expect(kept).toEqual(good);
    expect(kept.every((one, at) => one === good[at])).toBe(true);
    expect(reports.map(({ name }) => name)).toEqual(bad.map(({ name }) => name));
    expect(reports.every(({ layer, reason }) => layer === 6 && reason.length > 0)).toBe(true);
    expect(await leftOut(readModelId(api), kept)).toEqual([]);
  });
});

describe("a tool is dropped alone", () => {
  test("with a reason that says what to do", () => {
    const { reports } = filter(
      [tool("a.b"), tool("x", { type: "array" }), tool("y", {})],
      readModelId("openai-responses"),
    );
    expect(reports.map(({ reason }) => reason)).toEqual([
      "Its name is not accepted by openai-responses, which takes at most 64 letters, digits, underscores and hyphens.",
      'Its parameters do not describe an object; give them "type": "object".',
      'Its parameters do not describe an object; give them "type": "object".',
    ]);
    expect(filter([tool("y", {})], readModelId("google-vertex")).names).toEqual(["y"]);
  });

  test("and all of them where the model takes none", () => {
    const { names, reports } = filter([tool("a"), tool("b")], {
      ...readModelId("openai-completions"),
      compat: { supportsTools: false },
    });
    expect(names).toEqual([]);
    expect(reports.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      "a: test does not take tools.",
      "b: test does not take tools.",
    ]);
  });

  test("but an API that is not built in is left to judge names itself", () => {
    expect(filter([tool("a.b c"), tool("x", { type: "string" })], readModelId("mine")).names).toEqual(["a.b c"]);
    expect(filter([tool("a")], readModelId("toString")).names).toEqual(["a"]);
  });
});

test("a parameter that needs another tool is shown only beside it, and the same tools give identical ones", () => {
  const properties = { path: { type: "string" }, anchors: { type: "boolean" } };
  const reader = { ...tool("look", { type: "object", properties }), parameterNeeds: { anchors: ["change"] } };
  const alone = hideParameters([reader]);
  expect(alone[0]!.parameters).toEqual({ type: "object", properties: { path: { type: "string" } } });
  expect(hideParameters([reader])[0]).toBe(alone[0]);
  expect(hideParameters([reader, tool("change")])[0]).toBe(reader);
});

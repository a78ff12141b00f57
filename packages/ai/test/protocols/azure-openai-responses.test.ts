import { AzureOpenAI } from "openai";
import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { azureOpenAIResponses } from "../../src/protocols/azure-openai-responses/index.ts";
import type { AzureOptions } from "../../src/protocols/azure-openai-responses/index.ts";
import { MissingCredentials } from "../../src/protocols/protocol.ts";
import { openaiResponsesDialect } from "../../src/testing/dialects/openai-responses.ts";
import { call, text } from "../../src/testing/script.ts";
import {
  answerOk,
  assistant,
  createModel,
  question,
  result,
  testProvider,
  type OracleCase,
  user,
  closed,
  weatherTool,
} from "./kit.ts";

const dialect = openaiResponsesDialect("azure-openai-responses");
const gpt = (baseUrl: string) =>
  createModel({ api: "azure-openai-responses", provider: "azure-openai-responses", id: "gpt-test", baseUrl });
const model = gpt("");
const { provider, serve, expectSameRequest } = testProvider({ dialect, model: gpt });

type Params = Parameters<OpenAI["responses"]["stream"]>[0];

const base = {
  store: false,
  include: ["reasoning.encrypted_content" as const],
  reasoning: { effort: "none" as const },
};
const asked = (content: string): OpenAI.Responses.ResponseInputItem => ({
  role: "user",
  content: [{ type: "input_text", text: content }],
});

const cases: OracleCase<Params>[] = [
  {
    name: "a question",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    params: { ...base, model: "gpt-test", input: [{ role: "developer", content: "Be brief." }, asked("Hello")] },
  },
  {
    name: "a question to a deployment with a name of its own",
    context: { messages: [user("Hello")] },
    options: { env: { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "gpt-test=my-gpt" } },
    params: { ...base, model: "my-gpt", input: [asked("Hello")] },
  },
  {
    name: "a session, kept by default and not for longer",
    context: { messages: [user("Hello")] },
    options: { sessionId: "s-1", cacheRetention: "long" },
    params: { ...base, model: "gpt-test", prompt_cache_key: "s-1", input: [asked("Hello")] },
  },
  {
    name: "an effort and a limit",
    context: { messages: [user("Think.")] },
    options: { reasoning: "low", maxTokens: 200 },
    params: {
      ...base,
      model: "gpt-test",
      reasoning: { effort: "low", summary: "auto" },
      max_output_tokens: 200,
      input: [asked("Think.")],
    },
  },
  {
    name: "a tool, its call and its result",
    context: {
      tools: [weatherTool],
      messages: [
        user("Weather?"),
        assistant(model, [call("weather", { place: "Rome" }, "call_a|fc_1")]),
        result("call_a|fc_1", "weather", [text("sunny")]),
      ],
    },
    params: {
      ...base,
      model: "gpt-test",
      tools: [{ type: "function", ...closed(weatherTool), strict: false }],
      input: [
        asked("Weather?"),
        { type: "function_call", id: "fc_1", call_id: "call_a", name: "weather", arguments: '{"place":"Rome"}' },
        { type: "function_call_output", call_id: "call_a", output: "sunny" },
      ],
    },
  },
];

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("$name", async ({ context, options, params }) => {
    await expectSameRequest({
      ours: (url) => {
        const env = { ...options?.env, AZURE_OPENAI_BASE_URL: `${url}/openai/v1` };
        return provider.streamSimple(model, context, { apiKey: "key", ...options, env });
      },
      theirs: async (url) => {
        const baseURL = `${url}/openai/v1`;
        const sdk = new AzureOpenAI({ apiKey: "key", apiVersion: "v1", baseURL, maxRetries: 0 });
        expect((await sdk.responses.stream(params).finalResponse()).output_text).toBe("ok");
      },
      headers: ["api-key", "authorization", "content-type"],
    });
  });
});

const authorize = (options: AzureOptions, env: Record<string, string>, baseUrl = "") =>
  azureOpenAIResponses.authorize(
    { method: "POST", url: "/responses", headers: {}, body: '{"model":"gpt-test","input":[]}' },
    { model: gpt(baseUrl), options, apiKey: "key", env: (name) => env[name], clock: systemClock },
  );

describe("the address comes from the options, then the environment, then the model", () => {
  const resource = "https://mine.openai.azure.com/openai/v1/responses?api-version=v1";
  const rows: { name: string; options?: AzureOptions; env?: Record<string, string>; baseUrl?: string; url: string }[] =
    [
      { name: "a resource", options: { azureResourceName: "mine" }, url: resource },
      { name: "a resource in the environment", env: { AZURE_OPENAI_RESOURCE_NAME: "mine" }, url: resource },
      {
        name: "a resource in the options, rather than in the environment",
        options: { azureResourceName: "mine" },
        env: { AZURE_OPENAI_RESOURCE_NAME: "theirs" },
        url: resource,
      },
      {
        name: "a base URL, rather than a resource",
        options: { azureResourceName: "theirs", azureBaseUrl: "https://mine.openai.azure.com" },
        url: resource,
      },
      {
        name: "a base URL in the environment, rather than a resource in the options",
        options: { azureResourceName: "theirs" },
        env: { AZURE_OPENAI_BASE_URL: "https://mine.openai.azure.com/" },
        url: resource,
      },
      {
        name: "a base URL in the options, rather than in the environment",
        options: { azureBaseUrl: " https://mine.openai.azure.com/openai " },
        env: { AZURE_OPENAI_BASE_URL: "https://theirs.openai.azure.com/" },
        url: resource,
      },
      { name: "the model's own base URL", baseUrl: "https://mine.openai.azure.com", url: resource },
      {
        name: "the environment, rather than the model",
        env: { AZURE_OPENAI_RESOURCE_NAME: "mine" },
        baseUrl: "https://theirs.openai.azure.com",
        url: resource,
      },
      {
        name: "the whole API address",
        options: { azureBaseUrl: "https://mine.openai.azure.com/openai/v1/" },
        url: resource,
      },
      {
        name: "the whole endpoint, with its query",
        options: { azureBaseUrl: "https://mine.openai.azure.com/openai/v1/responses?api-version=preview" },
        url: resource,
      },
      {
        name: "a root of Cognitive Services",
        options: { azureBaseUrl: "https://mine.cognitiveservices.azure.com" },
        url: "https://mine.cognitiveservices.azure.com/openai/v1/responses?api-version=v1",
      },
      {
        name: "a root of AI Foundry",
        options: { azureBaseUrl: "https://mine.services.ai.azure.com/" },
        url: "https://mine.services.ai.azure.com/openai/v1/responses?api-version=v1",
      },
      {
        name: "another path on Azure, as it is",
        options: { azureBaseUrl: "https://mine.openai.azure.com/openai/deployments/x" },
        url: "https://mine.openai.azure.com/openai/deployments/x/responses?api-version=v1",
      },
      {
        name: "a proxy elsewhere, as it is",
        options: { azureBaseUrl: "https://proxy.example/azure/" },
        url: "https://proxy.example/azure/responses?api-version=v1",
      },
      {
        name: "a host that only looks like Azure's, as it is",
        options: { azureBaseUrl: "https://openai.azure.com.example/" },
        url: "https://openai.azure.com.example/responses?api-version=v1",
      },
      {
        name: "an API version",
        options: { azureResourceName: "mine", azureApiVersion: "preview" },
        env: { AZURE_OPENAI_API_VERSION: "2025-04-01-preview" },
        url: "https://mine.openai.azure.com/openai/v1/responses?api-version=preview",
      },
      {
        name: "an API version in the environment",
        env: { AZURE_OPENAI_RESOURCE_NAME: "mine", AZURE_OPENAI_API_VERSION: "2025-04-01-preview" },
        url: "https://mine.openai.azure.com/openai/v1/responses?api-version=2025-04-01-preview",
      },
    ];
  test.each(rows)("$name", async ({ options = {}, env = {}, baseUrl, url }) => {
    const request = await authorize(options, env, baseUrl);
    expect(request.url).toBe(url);
    expect(request.headers).toEqual({ "api-key": "key" });
  });

  test.each([
    ["no address at all", {}, /AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME/],
    ["what is no address", { azureBaseUrl: "mine" }, /"mine" is not a valid base URL.*AZURE_OPENAI_BASE_URL/],
    ["a resource that is no name", { azureResourceName: "my resource" }, /AZURE_OPENAI_RESOURCE_NAME/],
  ] as const)("%s is said to be missing, with what to set", (_name, options, message) => {
    expect(() => authorize(options, {})).toThrow(MissingCredentials);
    expect(() => authorize(options, {})).toThrow(message);
  });

  test("a missing address is a failure of the stream that says what to set", async () => {
    // An empty value counts as unset, whatever the machine's own environment holds.
    const env = { AZURE_OPENAI_BASE_URL: "", AZURE_OPENAI_RESOURCE_NAME: "" };
    const message = await provider.streamSimple(model, question, { apiKey: "key", env, maxRetries: 0 }).result();
    expect(message.failure?.kind).toBe("auth");
    expect(message.errorMessage).toMatch(/Set AZURE_OPENAI_BASE_URL/);
  });
});

describe("the deployment comes from the options, then the environment, then the model", () => {
  const map = { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "other=x, gpt-test = mapped ,broken,=y,gpt-test=late" };
  test.each([
    ["the option", { azureDeploymentName: "chosen" }, map, "chosen"],
    ["the map", {}, map, "mapped"],
    ["no entry in the map", {}, { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "other=x,gpt-test=" }, "gpt-test"],
    ["nothing", {}, {}, "gpt-test"],
  ] as const)("%s", async (_name, options, env, deployment) => {
    const request = await authorize({ azureResourceName: "mine", ...options }, env);
    expect(JSON.parse(request.body)).toEqual({ model: deployment, input: [] });
  });

  test("a hook that asks for another model has the last word", async () => {
    const server = await serve(answerOk);
    const onPayload = (payload: unknown) => ({ ...(payload as object), model: "hooked" });
    const options = { apiKey: "key", azureDeploymentName: "chosen", azureBaseUrl: server.url, onPayload };
    await provider.stream(model, question, options).result();
    expect(server.requests[0]?.body).toMatchObject({ model: "hooked" });
  });
});

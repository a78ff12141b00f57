import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openaiCodexResponses } from "../../src/protocols/openai-codex-responses/index.ts";
import { openaiResponsesDialect } from "../../src/testing/dialects/openai-responses.ts";
import { call, text, thinking } from "../../src/testing/script.ts";
import {
  assistant,
  closed,
  createModel,
  question,
  result,
  testProvider,
  type OracleCase,
  user,
  weatherTool,
} from "./kit.ts";

const dialect = openaiResponsesDialect("openai-codex-responses");
/** A token as OpenAI issues them; the name makes its payload need base64url's own characters. */
const tokenFor = (claims: object) =>
  ["header", JSON.stringify(claims), "signature"].map((part) => Buffer.from(part).toString("base64url")).join(".");
const token = tokenFor({
  name: "Zoë ¿¿¿ >>>",
  "https://api.openai.com/auth": { chatgpt_account_id: "account-1" },
});

const gpt = (baseUrl: string) =>
  createModel({ api: "openai-codex-responses", provider: "openai-codex", id: "gpt-test", baseUrl });
const model = gpt("");
const { provider, serve, send, expectSameRequest } = testProvider({ dialect, model: gpt, apiKey: token });

type Params = Parameters<OpenAI["responses"]["stream"]>[0];

const base = {
  model: "gpt-test",
  instructions: "Be brief.",
  store: false,
  include: ["reasoning.encrypted_content" as const],
  reasoning: { effort: "none" as const },
  text: { verbosity: "low" as const },
  tool_choice: "auto" as const,
  parallel_tool_calls: true,
};
const asked = (content: string): OpenAI.Responses.ResponseInputItem => ({
  role: "user",
  content: [{ type: "input_text", text: content }],
});
const reasoningItem = { type: "reasoning" as const, id: "rs_1", summary: [], encrypted_content: "opaque" };

const cases: (OracleCase<Params> & { session?: string })[] = [
  {
    name: "a question, with the system prompt as instructions",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    params: { ...base, input: [asked("Hello")] },
  },
  {
    name: "a limit, which Codex does not take",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    options: { maxTokens: 100 },
    params: { ...base, input: [asked("Hello")] },
  },
  {
    name: "an effort",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    options: { reasoning: "minimal" },
    model: { thinkingLevelMap: { minimal: "low" } },
    params: { ...base, reasoning: { effort: "low", summary: "auto" }, input: [asked("Hello")] },
  },
  {
    name: "a session",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    options: { sessionId: "s-1", cacheRetention: "long" },
    session: "s-1",
    params: { ...base, prompt_cache_key: "s-1", input: [asked("Hello")] },
  },
  {
    name: "a demanded tool",
    context: { systemPrompt: "Be brief.", messages: [user("Weather?")], tools: [weatherTool] },
    options: { toolChoice: { name: "weather" } },
    params: {
      ...base,
      tools: [{ type: "function", ...closed(weatherTool), strict: false }],
      tool_choice: { type: "function", name: "weather" },
      input: [asked("Weather?")],
    },
  },
  {
    name: "its own reasoning, a call and its result",
    context: {
      systemPrompt: "Be brief.",
      messages: [
        user("Weather?"),
        assistant(model, [
          thinking("", JSON.stringify(reasoningItem)),
          call("weather", { place: "Rome" }, "call_a|fc_1"),
        ]),
        result("call_a|fc_1", "weather", [text("sunny")]),
      ],
    },
    params: {
      ...base,
      input: [
        asked("Weather?"),
        reasoningItem,
        { type: "function_call", id: "fc_1", call_id: "call_a", name: "weather", arguments: '{"place":"Rome"}' },
        { type: "function_call_output", call_id: "call_a", output: "sunny" },
      ],
    },
  },
];

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("$name", async ({ session, params, ...conversation }) => {
    const { request } = await expectSameRequest({
      ours: (url) => send(url, conversation),
      theirs: async (url) => {
        const sdk = new OpenAI({ apiKey: token, baseURL: `${url}/codex`, maxRetries: 0 });
        expect((await sdk.responses.stream(params).finalResponse()).output_text).toBe("ok");
      },
      headers: ["authorization", "content-type"],
    });
    expect(request.headers).toMatchObject({
      "chatgpt-account-id": "account-1",
      "openai-beta": "responses=experimental",
      originator: "tau",
    });
    expect(request.headers["session-id"]).toBe(session);
    expect(request.headers["x-client-request-id"]).toBe(session);
  });
});

test("without a system prompt there are still instructions, which Codex demands", () => {
  const { payload } = openaiCodexResponses.encode(model, question, {});
  expect(payload["instructions"]).toMatch(/\w/);
});

test.each([
  ["an API key", "sk-123"],
  ["a token without an account", tokenFor({ sub: "x" })],
  ["a token whose claims are not JSON", `a.${Buffer.from("no").toString("base64url")}.c`],
  ["a token that is not base64", "a.!!!.c"],
  ["a token that was cut", token.slice(0, token.lastIndexOf("."))],
])("%s is not a ChatGPT account, and no request is sent", async (_name, apiKey) => {
  const server = await serve();
  const message = await provider.streamSimple(gpt(server.url), question, { apiKey }).result();
  expect(message.failure?.kind).toBe("auth");
  expect(message.errorMessage).toMatch(/not a token of a ChatGPT account/);
  expect(server.requests).toHaveLength(0);
});

/** Requests to a local server, with answers as the services document them. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { completeSimple } from "@tau/ai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { callOtherModel } from "./call-model.ts";
import { listOtherModels, type OtherModel } from "./catalog.ts";

interface Request {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

type Reply = { status?: number; headers?: Record<string, string>; body: unknown } | "never";

const requests: Request[] = [];
let replies: Reply[] = [];
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk: Buffer) => (text += chunk.toString()));
  request.on("end", () => {
    requests.push({ path: request.url!, headers: request.headers, body: JSON.parse(text) });
    const reply = replies.shift()!;
    if (reply === "never") return;
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
  });
});
let baseUrl = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests.length = 0;
});

function call(provider: string, id: string, context: unknown, given: Reply[], signal = new AbortController().signal) {
  const model = listOtherModels().find((each) => each.provider === provider && each.id === id)!;
  replies = given;
  const complete: Parameters<typeof callOtherModel>[0] = (target, messages, options) =>
    completeSimple(target, messages, { ...options, apiKey: "a-secret-key" });
  return callOtherModel(complete, { ...model, baseUrl } as OtherModel, context, signal);
}

const png = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
const questions = {
  mood: { type: "choice", instructions: "How?", criteria: { good: "Good", bad: "Bad" } },
  urgency: { type: "score", instructions: "When?", criteria: ["later", "today"] },
  approved: { type: "bool", instructions: "Yes?", criteria: { true: "Yes", false: "No" } },
};
const state = { message: "Fine." };
const systemOneAnswers = {
  mood: { type: "choice", choice: "good", confidence: 0.6, probabilities: { good: 0.8, bad: 0.2 } },
  urgency: { type: "score", score: 0.25, confidence: 0.5, legend: {}, probabilities: { "0": 0.75, "1": 0.25 } },
  approved: { type: "noul", noul: 0.9 },
};
const answers = {
  mood: { type: "choice", choice: "good", probabilities: { good: 0.8, bad: 0.2 }, confidence: 0.6 },
  urgency: { type: "score", score: 0.25, confidence: 0.5 },
  approved: { type: "bool", probability: 0.9 },
};
const wireQuestions = { ...questions, approved: { ...questions.approved, type: "noul" } };
const usage = { input_tokens: 1_000_000, output_tokens: 10 };

test("System One answers typed questions, at the price of the catalogue", async () => {
  const body = { model: "jev", answers: systemOneAnswers, usage };
  const result = await call("openrouter", "typesafe/jev-1.13", { state, questions }, [{ body }]);
  expect(requests[0]).toMatchObject({
    path: "/base/systemone",
    headers: { authorization: "Bearer a-secret-key" },
    body: { model: "typesafe/jev-1.13", state, questions: wireQuestions },
  });
  expect(result).toMatchObject({ provider: "openrouter", model: "typesafe/jev-1.13", stopReason: "stop", answers });
  expect(result.usage).toMatchObject({ input: 1_000_000, output: 10 });
  expect(result.usage!.cost.total).toBeGreaterThan(0);
});

test("a gateway may say what it costs, and leave out the confidence", async () => {
  const { confidence: _confidence, ...mood } = systemOneAnswers.mood;
  const body = { answers: { ...systemOneAnswers, mood }, usage: { ...usage, cost: 0.5 } };
  const result = await call("openrouter", "typesafe/jev-1.13", { state, questions }, [{ body }]);
  expect(result.usage!.cost.total).toBe(0.5);
  expect(result).toMatchObject({ answers: { mood: { confidence: expect.closeTo(0.6) as number } } });
});

test.each<[what: string, provider: string, id: string, body: object, header: string | undefined]>([
  [
    "as assets",
    "typesafe",
    "jev-latest",
    { state: ["<image-1>", state], assets: { "<image-1>": { type: "image", format: "png", data_base64: "AAAA" } } },
    "true",
  ],
  [
    "in the state",
    "openrouter",
    "cloudflare/clef",
    { state: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }, state] },
    undefined,
  ],
])("System One takes images %s", async (_what, provider, id, body, header) => {
  const reply = { body: { answers: systemOneAnswers } };
  const result = await call(provider, id, { state, questions, images: [png] }, [reply]);
  expect([result.errorMessage, result.stopReason]).toEqual([undefined, "stop"]);
  expect(requests[0]!.body).toMatchObject(body);
  expect(requests[0]!.headers["typesafe-danger-zone-images"]).toBe(header);
});

test("Cloudflare runs its own models by their path, and those of others by their name", async () => {
  const own = { body: { success: true, result: { answers: systemOneAnswers, usage } } };
  const first = await call("cloudflare-workers-ai", "@cf/cloudflare/clef", { state, questions, images: [png] }, [own]);
  expect(first).toMatchObject({ stopReason: "stop", answers });
  expect(requests[0]).toMatchObject({
    path: "/base/run/@cf/cloudflare/clef",
    body: { state, images: ["data:image/png;base64,AAAA"], questions: wireQuestions },
  });
  const other = { body: { result: { state: "Completed", result: { answers: systemOneAnswers, usage } } } };
  const second = await call("cloudflare-workers-ai", "typesafe/jev", { state, questions }, [other]);
  expect(second).toMatchObject({ stopReason: "stop", answers });
  expect(requests[1]).toMatchObject({ path: "/base/run", body: { model: "typesafe/jev", input: { state } } });
  const failed = { body: { result: { state: "Failed", error: { code: "x", message: "all providers are busy" } } } };
  const third = await call("cloudflare-workers-ai", "typesafe/jev", { state, questions }, [failed]);
  expect([third.stopReason, third.errorMessage]).toEqual(["error", expect.stringContaining("all providers are busy")]);
});

test("OpenAI's Decisions get a list of questions and give a list of answers", async () => {
  const body = {
    model: "gpt-6-luna",
    answers: [
      { name: "approved", type: "predicate", probability: 0.9 },
      {
        name: "mood",
        type: "choice",
        choice: "good",
        confidence: 0.6,
        probabilities: [
          { value: "good", probability: 0.8 },
          { value: "bad", probability: 0.2 },
        ],
      },
      { name: "urgency", type: "score", score: 0.25, confidence: 0.5, probabilities: [] },
    ],
    usage,
  };
  const result = await call("openai", "gpt-6-luna", { state, questions, images: [png] }, [{ body }]);
  expect(result).toMatchObject({ stopReason: "stop", answers });
  expect(requests[0]).toMatchObject({
    path: "/base/decisions",
    body: {
      model: "gpt-6-luna",
      input: [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: "data:image/png;base64,AAAA" },
            { type: "input_text", text: '{"message":"Fine."}' },
          ],
        },
      ],
      questions: [
        { name: "mood", type: "choice", choices: [{ value: "good", description: "Good" }, { value: "bad" }] },
        { name: "urgency", type: "score", levels: [{ label: "0", description: "later" }, { label: "1" }] },
        { name: "approved", type: "predicate", instructions: expect.stringContaining("True: Yes") as string },
      ],
    },
  });
  const [approved, { choice: _choice, ...mood }] = body.answers as [object, Record<string, unknown>];
  const withoutChoice = { body: { ...body, answers: [approved, mood] } };
  expect((await call("openai", "gpt-6-luna", { state, questions }, [withoutChoice])).errorMessage).toMatch(/no choice/);
  const refused = { body: { answers: [{ name: "mood", type: "refusal" }], usage } };
  const { stopReason, errorMessage } = await call("openai", "gpt-6-luna", { state, questions }, [refused]);
  expect([stopReason, errorMessage]).toEqual(["error", expect.stringContaining("refused to answer")]);
});

test("OpenRouter draws images from texts and images", async () => {
  const body = {
    choices: [
      {
        message: {
          content: "Here.",
          images: [{ type: "image_url", image_url: { url: "data:image/webp;base64,BBBB" } }],
        },
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 7, cost: 0.04 },
  };
  const input = [{ type: "text", text: "A fox" }, png];
  const result = await call("openrouter", "google/gemini-2.5-flash-image", { input }, [{ body }]);
  expect(requests[0]).toMatchObject({
    path: "/base/chat/completions",
    body: {
      model: "google/gemini-2.5-flash-image",
      modalities: expect.arrayContaining(["image"]) as string[],
      stream: false,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "A fox" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          ],
        },
      ],
    },
  });
  expect(result).toMatchObject({
    stopReason: "stop",
    output: [
      { type: "text", text: "Here." },
      { type: "image", data: "BBBB", mimeType: "image/webp" },
    ],
    usage: { input: 5, output: 7, cost: { total: 0.04 } },
  });
});

const good: Reply = { body: { answers: systemOneAnswers, usage } };

test("a request that was limited is sent again", async () => {
  const busy: Reply = { status: 429, headers: { "retry-after": "0" }, body: { error: { message: "slow down" } } };
  const result = await call("typesafe", "jev-latest", { state, questions }, [busy, busy, good]);
  expect([result.stopReason, requests.length]).toEqual(["stop", 3]);
});

test.each<[what: string, reply: Reply, message: RegExp]>([
  ["a key that is refused", { status: 401, body: { error: { message: "bad key a-secret-key" } } }, /bad key …/],
  ["an answer that is not JSON", { body: "{" }, /could not be read/],
  ["an empty object", { body: {} }, /"mood" was not answered/],
  ["an answer to another question", { body: { answers: { other: {} } } }, /"mood" was not answered/],
  [
    "numbers that are none",
    { body: { answers: { ...systemOneAnswers, approved: { type: "noul", noul: "x" } } } },
    /no probability/,
  ],
])("%s is a result with an error", async (_what, reply, message) => {
  const result = await call("typesafe", "jev-latest", { state, questions }, [reply]);
  expect([result.stopReason, result.errorMessage]).toEqual(["error", expect.stringMatching(message)]);
});

test.each<[what: string, id: string, context: unknown, message: RegExp]>([
  ["no state", "typesafe/jev-1.13", { questions }, /needs a state/],
  ["no questions", "typesafe/jev-1.13", { state }, /needs questions/],
  [
    "a question without criteria",
    "typesafe/jev-1.13",
    { state, questions: { a: { type: "bool" } } },
    /"a" is not complete/,
  ],
  [
    "a text among the images",
    "cloudflare/clef",
    { state, questions, images: [{ type: "text", text: "x" }] },
    /belongs into the state/,
  ],
  ["no input", "google/gemini-2.5-flash-image", {}, /list of blocks/],
  ["blocks of another kind", "google/gemini-2.5-flash-image", { input: [{ type: "video" }] }, /A block is/],
])("%s is said before anything is sent", async (_what, id, context, message) => {
  const result = await call("openrouter", id, context, []);
  expect([result.stopReason, result.errorMessage]).toEqual(["error", expect.stringMatching(message)]);
  expect(requests).toEqual([]);
});

test("an abort ends a request", async () => {
  const abort = new AbortController();
  const result = call("typesafe", "jev-latest", { state, questions }, ["never"], abort.signal);
  await expect.poll(() => requests.length).toBe(1);
  abort.abort();
  expect((await result).stopReason).toBe("aborted");
});

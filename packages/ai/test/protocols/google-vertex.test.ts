import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GenerateContentParameters, GoogleGenAI, ThinkingLevel } from "@google/genai";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ToolCall } from "../../src/message.ts";
import type { GoogleVertexOptions } from "../../src/protocols/google-vertex/endpoint.ts";
import { resolveVertexBaseUrl } from "../../src/protocols/google-vertex/endpoint.ts";
import type { Protocol } from "../../src/protocols/protocol.ts";
import type { getProvider } from "../../src/registry.ts";
import { googleVertexDialect as dialect } from "../../src/testing/dialects/google.ts";
import { call, text, thinking } from "../../src/testing/script.ts";
import type { WireServer } from "../../src/testing/wire-server.ts";
import {
  answer,
  answerOk,
  assistant,
  clockTool,
  collect,
  createModel,
  image,
  pixel,
  question,
  result,
  testProvider,
  type OracleCase,
  user,
  weatherTool,
} from "./kit.ts";

const gemini = (baseUrl: string) =>
  createModel({
    api: "google-vertex",
    provider: "google-vertex",
    id: "gemini-3.1-pro-preview",
    baseUrl,
    thinkingLevelMap: { off: null, minimal: null, low: "low", medium: "medium", high: "high", xhigh: null, max: null },
    maxTokens: 65_536,
  });
const model = gemini("");
const cannot = { cacheWrites: true, redactedThinking: true };
const { provider, serve, send, expectSameRequest } = testProvider({ dialect, model: gemini, cannot });

/** The identity of a machine on Google Cloud, as its metadata server hands it out. */
let metadata: Server;
let hasIdentity = true;
let nothing: string;
beforeAll(async () => {
  nothing = mkdtempSync(join(tmpdir(), "vertex-"));
  metadata = createServer((request, response) => {
    const isToken = request.url?.includes("/service-accounts/default/token");
    response.writeHead(hasIdentity ? 200 : 404, {
      "metadata-flavor": "Google",
      "content-type": isToken ? "application/json" : "text/plain",
    });
    const token = { access_token: "token-of-the-machine", expires_in: 3_600, token_type: "Bearer" };
    response.end(isToken ? JSON.stringify(token) : "googleapis.com");
  });
  await new Promise<void>((resolve) => metadata.listen(0, "127.0.0.1", resolve));
  // The library reads the process's own environment.
  vi.stubEnv("GCE_METADATA_HOST", `127.0.0.1:${(metadata.address() as AddressInfo).port}`);
  vi.stubEnv("CLOUDSDK_CONFIG", nothing);
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", undefined);
  // A variable that only the library reads. Without a project it starts the machine's gcloud, for a second of processor time.
  vi.stubEnv("google_cloud_project", "project-of-the-machine");
});
afterAll(() => {
  vi.unstubAllEnvs();
  metadata.close();
  rmSync(nothing, { recursive: true });
});

const env = { GOOGLE_CLOUD_PROJECT: "my-project", GOOGLE_CLOUD_LOCATION: "us-central1" };

const low = { thinkingConfig: { thinkingLevel: ThinkingLevel.LOW } };
const said = (content: string) => ({ role: "user", parts: [{ text: content }] });
const sdkImage = { inlineData: { mimeType: "image/png", data: pixel } };

const cases: OracleCase<GenerateContentParameters>[] = [
  {
    name: "a question with a system prompt, a temperature and a limit",
    context: { systemPrompt: "Be brief.", messages: [user("Hello")] },
    options: { temperature: 0, maxTokens: 1 },
    params: {
      model: model.id,
      contents: [said("Hello")],
      config: { ...low, temperature: 0, maxOutputTokens: 1, systemInstruction: { parts: [{ text: "Be brief." }] } },
    },
  },
  {
    name: "thinking",
    context: { messages: [user("Think.")] },
    options: { reasoning: "xhigh" },
    params: {
      model: model.id,
      contents: [said("Think.")],
      config: { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH } },
    },
  },
  {
    name: "tools, calls, results and images",
    context: {
      tools: [weatherTool, clockTool],
      messages: [
        user([text("Look."), image]),
        assistant(model, [thinking("Hm."), { ...call("weather", { place: "Rome" }, "a"), thoughtSignature: "c2ln" }]),
        result("a", "weather", [text("sunny"), image]),
      ],
    },
    params: {
      model: model.id,
      contents: [
        { role: "user", parts: [{ text: "Look." }, sdkImage] },
        {
          role: "model",
          parts: [
            { text: "Hm.", thought: true },
            { functionCall: { id: "a", name: "weather", args: { place: "Rome" } }, thoughtSignature: "c2ln" },
          ],
        },
        {
          role: "user",
          parts: [{ functionResponse: { id: "a", name: "weather", response: { output: "sunny" }, parts: [sdkImage] } }],
        },
      ],
      config: {
        ...low,
        tools: [
          {
            functionDeclarations: [weatherTool, clockTool].map(({ name, description, parameters }) => ({
              name,
              description,
              parametersJsonSchema: parameters,
            })),
          },
        ],
      },
    },
  },
];

const createSdk = (baseUrl: string, credentials: object = { apiKey: "key" }) =>
  new GoogleGenAI({ vertexai: true, ...credentials, apiVersion: "v1", httpOptions: { baseUrl } });

describe("what we send is what the vendor's SDK sends", () => {
  test.each(cases)("with a key: $name", async ({ params, ...conversation }) => {
    const { request } = await expectSameRequest({
      ours: (url) => send(url, conversation),
      theirs: async (url) => collect(await createSdk(url).models.generateContentStream(params)),
      headers: ["x-goog-api-key"],
    });
    expect(request.headers["x-goog-api-key"]).toBe("key");
  });

  test.each(cases)("with the machine's credentials: $name", async ({ context, options, params }) => {
    const { request } = await expectSameRequest({
      ours: (url) => provider.streamSimple(gemini(url), context, { env, ...options }),
      theirs: async (url) => {
        const sdk = createSdk(url, { project: "my-project", location: "us-central1" });
        const chunks = await collect(await sdk.models.generateContentStream(params));
        expect(chunks.map((chunk) => chunk.text ?? "").join("")).toBe("ok");
      },
      headers: ["authorization"],
    });
    expect(request.headers["authorization"]).toBe("Bearer token-of-the-machine");
  });
});

test("the vendor's SDK passes on the streamed calls of the dialect, and we read them as they were meant", async () => {
  const args = { place: "Zürich", days: 3, deep: { list: [1, "two", null, true] } };
  const reply = answer(call("weather", args, "call-1"));
  const server = await serve(reply, reply);
  const chunks = await collect(
    await createSdk(server.url).models.generateContentStream({ model: model.id, contents: "x" }),
  );
  const pieces = chunks.flatMap((chunk) => chunk.functionCalls ?? []);
  expect(pieces[0]).toEqual({ id: "call-1", name: "weather", willContinue: true });
  expect(pieces.flatMap(({ partialArgs }) => partialArgs ?? []).map(({ jsonPath }) => jsonPath)).toContain(
    "$.deep.list[3]",
  );
  expect(pieces.at(-1)).toEqual({});
  const stream = provider.stream(gemini(server.url), question, { apiKey: "key" });
  const deltas = (await collect(stream)).flatMap((event) => (event.type === "toolcall_delta" ? event.delta : []));
  const [made] = (await stream.result()).content as ToolCall[];
  expect(made).toMatchObject({ id: "call-1", arguments: args });
  expect(JSON.parse(deltas.join(""))).toEqual(args);
  expect(deltas.length).toBeGreaterThan(5);
});

describe("where a request goes", () => {
  const cloud = "https://{location}-aiplatform.googleapis.com";
  const place = (baseUrl: string, options: GoogleVertexOptions) =>
    resolveVertexBaseUrl(gemini(baseUrl), options, (name) => options.env?.[name]);

  test.each([
    ["the region's host", cloud, { location: "europe-west4" }, "https://europe-west4-aiplatform.googleapis.com"],
    ["the environment's region", cloud, { env }, "https://us-central1-aiplatform.googleapis.com"],
    [
      "the options' region first",
      cloud,
      { env, location: "asia-east1" },
      "https://asia-east1-aiplatform.googleapis.com",
    ],
    ["the global host", cloud, { location: "global" }, "https://aiplatform.googleapis.com"],
    ["a continent's host", cloud, { location: "eu" }, "https://aiplatform.eu.rep.googleapis.com"],
    ["a host of one's own", "http://127.0.0.1:1/gateway/", { env }, "http://127.0.0.1:1/gateway"],
  ])("%s", (_name, baseUrl, options, expected) => {
    expect(place(baseUrl, options)).toBe(expected);
  });

  test("with a key alone, the global host", () => {
    expect(place(cloud, { apiKey: "key" })).toBe("https://aiplatform.googleapis.com");
    expect(place(cloud, { env: { ...env, GOOGLE_CLOUD_API_KEY: "key" } })).toBe("https://aiplatform.googleapis.com");
  });

  test("the place in the catalogue's address is filled in", async () => {
    const server = await serve(answerOk);
    const asked = gemini(server.url.replace("127.0.0.1", "{location}"));
    const options: GoogleVertexOptions = { project: "p", location: "127.0.0.1" };
    await provider.stream(asked, question, { ...options }).result();
    expect(server.requests[0]?.path).toContain("/v1/projects/p/locations/127.0.0.1/publishers/google/models/");
  });

  test("nowhere without a location, and the message says what to set", () => {
    expect(() => place(cloud, {})).toThrow(/GOOGLE_CLOUD_LOCATION/);
  });

  test.each([
    ["", "/v1/projects/my-project/locations/us-central1/publishers/google/models/"],
    ["/gateway/v1beta1", "/gateway/v1beta1/projects/my-project/locations/us-central1/publishers/google/models/"],
    ["/v1/projects/p/locations/l", "/v1/projects/p/locations/l/publishers/google/models/"],
  ])("a base URL that ends in %j says only what is missing", async (suffix, path) => {
    const server = await serve(answerOk);
    await provider.stream(gemini(server.url + suffix), question, { env }).result();
    expect(server.requests[0]?.path).toBe(`${path}${model.id}:streamGenerateContent?alt=sse`);
  });

  test("project and location may be given as options", async () => {
    const server = await serve(answerOk);
    const options: GoogleVertexOptions = { project: "p 1", location: "global" };
    await provider.stream(gemini(server.url), question, options).result();
    expect(server.requests[0]?.path).toContain("/projects/p%201/locations/global/publishers/");
  });
});

describe("what is missing is named", () => {
  const ask = (server: WireServer, settings: Record<string, string>) =>
    provider.stream(gemini(server.url), question, { env: settings, maxRetries: 0 }).result();

  test.each([
    ["a project", { GOOGLE_CLOUD_LOCATION: "global" }, /GOOGLE_CLOUD_PROJECT/],
    ["a location", { GCLOUD_PROJECT: "p" }, /GOOGLE_CLOUD_LOCATION/],
  ])("%s", async (_what, settings, message) => {
    const server = await serve();
    const { failure } = await ask(server, settings);
    expect(failure?.kind).toBe("auth");
    expect(failure?.message).toMatch(message);
    expect(server.requests).toEqual([]);
  });

  test("a credentials file that is not there, or is none", async () => {
    const broken = join(nothing, "broken.json");
    writeFileSync(broken, "{}");
    const server = await serve();
    for (const path of [join(nothing, "absent.json"), broken]) {
      const { failure } = await ask(server, { ...env, GOOGLE_APPLICATION_CREDENTIALS: path });
      expect(failure?.kind).toBe("auth");
      expect(failure?.message).toMatch(/GOOGLE_APPLICATION_CREDENTIALS/);
    }
  });

  test("any credentials at all", async () => {
    // The library and we both keep what was found before; fresh modules have found nothing yet. Because of the query, they
    // are never those that other tests share.
    vi.resetModules();
    const importFresh = async (path: string) => (await import(`${path}?fresh`)) as unknown;
    vi.stubEnv("METADATA_SERVER_DETECTION", "none");
    hasIdentity = false;
    try {
      const vertex = (await importFresh("../../src/protocols/google-vertex/index.ts")) as { googleVertex: Protocol };
      const registry = (await importFresh("../../src/registry.ts")) as { getProvider: typeof getProvider };
      const asked = registry.getProvider("google-vertex", () => Promise.resolve(vertex.googleVertex));
      const server = await serve();
      const { failure } = await asked.stream(gemini(server.url), question, { env }).result();
      expect(failure?.kind).toBe("auth");
      expect(failure?.message).toMatch(/gcloud auth application-default login/);
      expect(server.requests).toEqual([]);
    } finally {
      hasIdentity = true;
      vi.stubEnv("METADATA_SERVER_DETECTION", undefined);
    }
  });
});

/** Shared by the tests of all protocols: conversations, recorded answers, servers, and comparisons with an SDK. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Context } from "../../src/context.ts";
import type { AssistantMessageEventStream } from "../../src/event-stream.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../src/message.ts";
import type { KnownApi, Model } from "../../src/model.ts";
import type { ProviderStreamOptions, SimpleStreamOptions, StreamOptions } from "../../src/options.ts";
import { Draft } from "../../src/protocols/draft.ts";
import type { Frame, Protocol } from "../../src/protocols/protocol.ts";
import { getApiProvider } from "../../src/registry.ts";
import type { WireDialect } from "../../src/testing/dialects/dialect.ts";
import { sse } from "../../src/testing/dialects/dialect.ts";
import { assertGrammar, providerContract, type ProviderContractSetup } from "../../src/testing/provider-contract.ts";
import { text } from "../../src/testing/script.ts";
import {
  type RecordedRequest,
  startWireServer,
  type WireReply,
  type WireServer,
} from "../../src/testing/wire-server.ts";
import { emptyUsage } from "../../src/usage.ts";

/** A white pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
export const image = { type: "image" as const, data: pixel, mimeType: "image/png" };

export const weatherTool = {
  name: "weather",
  description: "The weather of a place",
  parameters: {
    type: "object",
    properties: { place: { type: "string", description: "A city" }, unit: { type: "string", enum: ["C", "F"] } },
    required: ["place"],
  },
};

export const clockTool = { name: "clock", description: "The time", parameters: { type: "object", properties: {} } };

/** A tool as OpenAI's protocols send it if it is not strict: an object that is closed at the top. */
export const closed = <T extends { parameters: object }>(tool: T) => ({
  ...tool,
  parameters: { ...tool.parameters, additionalProperties: false },
});

export const user = (content: UserMessage["content"]): UserMessage => ({ role: "user", content, timestamp: 1 });

/** A conversation for tests in which it does not matter. */
export const question: Context = { messages: [user("x")] };

/** An answer of `model`, so that its signatures are its own. */
export const assistant = (
  model: Model,
  content: AssistantMessage["content"],
  extra: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: "assistant",
  content,
  api: model.api,
  provider: model.provider,
  model: model.id,
  usage: emptyUsage(),
  stopReason: content.some((block) => block.type === "toolCall") ? "toolUse" : "stop",
  timestamp: 2,
  ...extra,
});

export const result = (
  toolCallId: string,
  toolName: string,
  content: ToolResultMessage["content"],
  isError = false,
): ToolResultMessage => ({ role: "toolResult", toolCallId, toolName, content, isError, timestamp: 3 });

/** A comparison: a conversation for us, and by hand what the vendor's SDK is asked to send for the same. */
export interface OracleCase<TParams> {
  name: string;
  context: Context;
  options?: SimpleStreamOptions;
  model?: Partial<Model>;
  params: TParams;
}

/** A model that can do everything, unless `fields` say otherwise. */
export const createModel = <TApi extends KnownApi>(
  fields: { api: TApi; provider: string; id: string; baseUrl: string } & Partial<Model<TApi>>,
): Model<TApi> => ({
  name: fields.id,
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 2.5 },
  contextWindow: 200_000,
  maxTokens: 64_000,
  ...fields,
});

/** The frames of a recorded stream, as text: one JSON document each. */
export function readRecording(api: string, name: string): string[] {
  const path = join(import.meta.dirname, "..", "recordings", api, `${name}.jsonl`);
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

/** Frames of JSON as events that are named by their type. */
export const toNamedEvents = (lines: readonly string[]): Uint8Array[] =>
  lines.map((line) => sse(line, (JSON.parse(line) as { type: string }).type));

/** A response of exactly these bytes. */
export const raw = (chunks: Uint8Array[]): WireReply => ({ kind: "raw", chunks, ending: "end" });

export const answer = (...content: Extract<WireReply, { kind: "answer" }>["answer"]["content"]): WireReply => ({
  kind: "answer",
  answer: { content },
});

export const answerOk = answer(text("ok"));

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

/** The part of a protocol that reads a response. */
type Reader<TState> = Pick<Protocol<StreamOptions, TState>, "start" | "step">;

/** Reads frames without a server. Nothing is closed that they leave open. */
export function readFrames<TState>(protocol: Reader<TState>, model: Model, frames: readonly Frame[]) {
  const draft = new Draft(model, 0);
  const state = protocol.start(draft);
  return { draft, events: frames.flatMap((frame) => protocol.step(state, frame)) };
}

/** Reads a whole stream of data without a server. Its events have to come in order. */
export function readStream<TState>(protocol: Reader<TState>, model: Model, stream: readonly unknown[]): Draft {
  const frames = stream.map((data) => ({ data }));
  const { draft, events } = readFrames(protocol, model, frames);
  draft.closeAll();
  events.push(...draft.take(), { type: "done", reason: "stop", message: draft.message });
  // A request that fails before the model spoke has no start.
  assertGrammar(draft.message.content.length > 0 ? events : events.slice(-1));
  return draft;
}

interface Setup<TApi extends KnownApi> extends Pick<ProviderContractSetup, "cannot"> {
  dialect: WireDialect;
  model: (serverUrl: string) => Model<TApi>;
  /** Default "key". */
  apiKey?: string;
}

/** Tests the contract of all providers, and gives what the other tests of this one need. */
export function testProvider<TApi extends KnownApi>({ dialect, model, cannot, apiKey = "key" }: Setup<TApi>) {
  const provider = getApiProvider(dialect.api)!;
  const serve = async (...replies: WireReply[]): Promise<WireServer> => {
    const server = await startWireServer(dialect, replies);
    onTestFinished(() => server.close());
    return server;
  };
  const options = { apiKey };
  for (const { name, run } of providerContract({ provider, dialect, model, options, ...(cannot && { cannot }) })) {
    test(name, run);
  }
  return {
    provider,
    /** A server that is closed after the test. */
    serve,
    /** The answer to a question, in the API's own options. */
    ask: (server: WireServer, more: ProviderStreamOptions = {}, changes: Partial<Model> = {}) =>
      provider.stream({ ...model(server.url), ...changes } as Model, question, { ...options, ...more }).result(),
    /** Sends a case. */
    send: (url: string, { context, options: more, model: changes }: Omit<OracleCase<unknown>, "params">) =>
      provider.streamSimple({ ...model(url), ...changes } as Model, context, { ...options, ...more }),
    expectSameRequest: (comparison: Comparison) => expectSameRequest(serve, comparison),
  };
}

interface Comparison {
  ours: (url: string) => AssistantMessageEventStream;
  /** Sends the same with the vendor's SDK. */
  theirs: (url: string) => Promise<unknown>;
  /** Names of the headers that have to be equal. */
  headers: string[];
  /** The reply that both get. Default: "ok". */
  reply?: WireReply;
  /** Compares paths without their queries. Default false. */
  ignoresQuery?: boolean;
}

/** Fails unless a server gets the same from us and from the vendor's SDK. Gives what we sent, and what it became. */
async function expectSameRequest(
  serve: (...replies: WireReply[]) => Promise<WireServer>,
  { ours, theirs, headers, reply = answerOk, ignoresQuery = false }: Comparison,
): Promise<{ request: RecordedRequest; message: AssistantMessage }> {
  const server = await serve(reply, reply);
  const message = await ours(server.url).result();
  expect(message.errorMessage).toBeUndefined();
  await theirs(server.url);
  const [request, expected] = server.requests;
  const getPath = ({ path }: RecordedRequest) => (ignoresQuery ? path.split("?")[0] : path);
  expect(request!.body).toEqual(expected!.body);
  expect(getPath(request!)).toBe(getPath(expected!));
  for (const header of headers) expect(request!.headers[header], header).toBe(expected!.headers[header]);
  return { request: request!, message };
}

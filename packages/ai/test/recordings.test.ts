/** Every recorded stream, through its protocol, cut into pieces in every way that a network may cut it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../src/message.ts";
import type { KnownApi, Model } from "../src/model.ts";
import { getApiProvider } from "../src/registry.ts";
import { sse } from "../src/testing/dialects/dialect.ts";
import { createFakeClock } from "../src/testing/fake-clock.ts";
import { startWireServer } from "../src/testing/wire-server.ts";
import { AwsEventStreamFramer } from "../src/transport/aws-event-stream.ts";
import { SseFramer } from "../src/transport/sse.ts";
import { readRecording } from "./protocols/kit.ts";

const directory = join(import.meta.dirname, "recordings");

/** By hand, from reading the recordings: what each says. */
const expected: Record<string, { stopReason: string; usage: [number, number]; text?: string; calls?: unknown[] }> =
  JSON.parse(readFileSync(join(import.meta.dirname, "recordings.expected.json"), "utf8"));

const recordings = readdirSync(directory).flatMap((api) =>
  readdirSync(join(directory, api)).map((file) => ({ api: api as KnownApi, name: file.replace(".jsonl", "") })),
);

test("there is an expectation for each recording and a recording for each expectation", () => {
  expect(recordings.map(({ api, name }) => `${api}/${name}`).sort()).toEqual(Object.keys(expected).sort());
});

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes as Uint8Array),
  (text) => new TextEncoder().encode(text),
);

/** The recording as the provider sent it: one chunk for each frame. Bedrock's frames are made by AWS's own code. */
function wireFrames(api: KnownApi, name: string): Uint8Array[] {
  return readRecording(api, name).map((line) => {
    if (api !== "bedrock-converse-stream") return sse(line);
    const [[event, data]] = Object.entries(JSON.parse(line)) as [[string, unknown]];
    const headers = { ":event-type": event, ":message-type": "event", ":content-type": "application/json" };
    return codec.encode({
      headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, { type: "string", value }])),
      body: new TextEncoder().encode(JSON.stringify(data)),
    } as Parameters<typeof codec.encode>[0]);
  });
}

const framerOf = (api: KnownApi) => (api === "bedrock-converse-stream" ? new AwsEventStreamFramer() : new SseFramer());

function frame(api: KnownApi, chunks: Iterable<Uint8Array>): unknown[] {
  const framer = framerOf(api);
  const frames: unknown[] = [];
  for (const chunk of chunks) frames.push(...framer.push(chunk));
  return [...frames, ...framer.end()];
}

const model = (api: KnownApi, baseUrl: string): Model => ({
  id: "recorded",
  name: "recorded",
  api,
  provider: "recorded",
  baseUrl,
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  contextWindow: 1_000_000,
  maxTokens: 1_000,
});

async function replay(api: KnownApi, chunks: Uint8Array[]): Promise<AssistantMessage> {
  const server = await startWireServer(api, [{ kind: "raw", chunks, ending: "end" }]);
  try {
    const options = { apiKey: "key", maxRetries: 0, clock: createFakeClock() };
    return await getApiProvider(api)!.stream(model(api, server.url), { messages: [] }, options).result();
  } finally {
    await server.close();
  }
}

describe.each(recordings)("$api/$name", ({ api, name }) => {
  const frames = wireFrames(api, name);
  const body = Buffer.concat(frames);

  test("says what it says", async () => {
    const message = await replay(api, frames);
    const { stopReason, usage, text, calls } = expected[`${api}/${name}`]!;
    expect(message.stopReason).toBe(stopReason);
    expect([message.usage.input + message.usage.cacheRead, message.usage.output]).toEqual(usage);
    const said = message.content.filter((block) => block.type === "text").map((block) => block.text);
    if (text !== undefined) expect(said.join("")).toBe(text);
    const called = message.content.filter((block) => block.type === "toolCall");
    expect(called.map(({ name: tool, arguments: args }) => [tool, args])).toEqual(calls ?? []);
  });

  test("gives the same frames wherever its bytes are cut", () => {
    const whole = frame(api, frames);
    expect(whole.length).toBeGreaterThan(0);
    expect(
      frame(
        api,
        [...body].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole);
    // Every byte of every frame, cut in two, with the frames around it.
    frames.forEach((middle, at) => {
      const near = [frames[at - 1], middle, frames[at + 1]].filter((one) => one !== undefined);
      const bytes = Buffer.concat(near);
      const start = at === 0 ? 0 : frames[at - 1]!.length;
      const together = JSON.stringify(frame(api, [bytes]));
      for (let cut = start; cut <= start + middle.length; cut++) {
        const cutFrames = frame(api, [bytes.subarray(0, cut), bytes.subarray(cut)]);
        if (JSON.stringify(cutFrames) !== together) expect.fail(`cut at byte ${cut} of frame ${at}`);
      }
    });
  });

  test("gives the same answer in pieces of any size", async () => {
    const whole = await replay(api, frames);
    for (const size of [1, 7, 64, 1_000].filter((one) => body.length / one < 3_000)) {
      const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_unused, at) =>
        body.subarray(at * size, (at + 1) * size),
      );
      expect(await replay(api, pieces)).toEqual(whole);
    }
  });

  test("cut short, it never passes half a call for a whole one", async () => {
    const whole = await replay(api, frames);
    const step = Math.max(1, Math.floor(body.length / 25));
    for (let end = 1; end < body.length; end += step) {
      const message = await replay(api, [body.subarray(0, end)]);
      const complete = message.stopReason !== "error";
      for (const block of message.content) {
        if (block.type !== "toolCall" || block.argumentsError !== undefined) continue;
        expect(whole.content).toContainEqual(expect.objectContaining({ name: block.name, arguments: block.arguments }));
      }
      // Only what closes the stream may be missing from an answer that counts as complete.
      if (complete) expect(message.stopReason).toBe(whole.stopReason);
    }
  });
});

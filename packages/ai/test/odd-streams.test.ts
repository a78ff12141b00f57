/** Streams that real servers send although no protocol describes them, over a real socket. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AssistantMessage } from "../src/message.ts";
import type { KnownApi } from "../src/model.ts";
import type { SimpleStreamOptions } from "../src/options.ts";
import { streamSimple } from "../src/stream.ts";
import { sse } from "../src/testing/dialects/dialect.ts";
import { createFakeClock } from "../src/testing/fake-clock.ts";
import { text } from "../src/testing/script.ts";
import { createModel, question } from "./protocols/kit.ts";

/** Asks a server that answers with whatever `respond` writes. */
async function ask(
  api: KnownApi,
  respond: (response: ServerResponse) => void,
  options: SimpleStreamOptions = {},
): Promise<AssistantMessage> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => respond(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const model = createModel({ api, provider: "p", id: "m", baseUrl });
  return await streamSimple(model, question, { apiKey: "key", maxRetries: 0, ...options }).result();
}

const write =
  (...chunks: (string | Uint8Array)[]) =>
  (response: ServerResponse) => {
    for (const chunk of chunks) response.write(chunk);
    response.end();
  };

const chat = (content: string, finish_reason: string | null) =>
  sse({ id: "r", choices: [{ index: 0, delta: { content }, finish_reason }] });
const gemini = (content: string, finishReason?: string) =>
  sse({ candidates: [{ content: { parts: [{ text: content }] }, ...(finishReason && { finishReason }) }] });

describe("a stop reason before the end", () => {
  test.each<[KnownApi, string, Uint8Array[], Uint8Array[]]>([
    ["openai-completions", "with every piece", [chat("One ", "stop")], [chat("two", "stop"), sse("[DONE]")]],
    ["openai-completions", "before the text", [chat("", "stop")], [chat("One two", null), chat("", "stop")]],
    [
      "openai-completions",
      "in a frame of its own",
      [chat("One ", null), chat("", "stop")],
      [chat("t", null), chat("wo", null), chat("", "stop")],
    ],
    ["google-generative-ai", "with every piece", [gemini("One ", "STOP")], [gemini("two", "STOP")]],
    ["google-generative-ai", "before the text", [gemini("", "STOP")], [gemini("One two"), gemini("", "STOP")]],
  ])("%s, %s: the rest is waited for", async (api, _where, before, after) => {
    const clock = createFakeClock();
    let response: ServerResponse | undefined;
    let seen = 0;
    const asking = ask(
      api,
      (opened) => {
        response = opened;
        for (const chunk of before) response.write(chunk);
      },
      { clock, onProviderStreamEvent: () => void seen++ },
    );
    await expect.poll(() => seen).toBe(before.length);
    // A reason in a frame of its own is believed after five seconds, one with content after thirty.
    await clock.advance(before.length > 1 ? 4_000 : 29_000);
    response!.write(after[0]!);
    await expect.poll(() => seen).toBe(before.length + 1);
    await clock.advance(4_000);
    for (const chunk of after.slice(1)) response!.write(chunk);
    response!.end();
    expect(await asking).toMatchObject({ stopReason: "stop", content: [text("One two")] });
  });
});

test("a connection that stays open after a last piece with its stop reason is given up", async () => {
  const clock = createFakeClock();
  let seen = 0;
  const options = { clock, onProviderStreamEvent: () => void seen++ };
  const asking = ask("openai-completions", (response) => response.write(chat("One", "stop")), options);
  await expect.poll(() => seen).toBe(1);
  await clock.advance(30_000);
  expect(await asking).toMatchObject({ stopReason: "stop", content: [text("One")] });
});

describe("an error outside of the events of a stream", () => {
  const tooLong = {
    code: 400,
    message: "the request exceeds the available context size",
    type: "invalid_request_error",
  };
  const overloaded = { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" };

  test("llama.cpp: in a field of its own, before or after text, is the failure", async () => {
    const error = `error: ${JSON.stringify(tooLong)}\n\n`;
    const failure = { kind: "context_overflow", message: tooLong.message };
    for (const before of [[], [chat("So", null)]]) {
      const message = await ask("openai-completions", write(...before, error, sse("[DONE]")));
      expect(message).toMatchObject({ stopReason: "error", failure });
    }
  });

  test("Google: bare JSON after text, even after a stop reason, is the failure", async () => {
    const error = JSON.stringify({ error: overloaded }, undefined, 2);
    for (const before of [[gemini("So")], [gemini("So"), gemini("", "STOP")]]) {
      const message = await ask("google-generative-ai", write(...before, error));
      expect(message).toMatchObject({ stopReason: "error", content: [text("So")], failure: { kind: "overloaded" } });
      expect(message.errorMessage).toBe(overloaded.message);
    }
  });

  test("text that is no error changes nothing", async () => {
    const message = await ask("google-generative-ai", write("hello\n", gemini("So", "STOP"), "bye: bye\n"));
    expect(message).toMatchObject({ stopReason: "stop", content: [text("So")] });
  });
});

test("Anthropic's counts of the prompt are kept if the end of the stream has zeros for them", async () => {
  const counts = { input_tokens: 40, cache_read_input_tokens: 30, cache_creation_input_tokens: 20, output_tokens: 1 };
  const zeros = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 7 };
  const message = await ask(
    "anthropic-messages",
    write(
      sse({ type: "message_start", message: { id: "a", usage: counts } }),
      sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "So" } }),
      sse({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: zeros }),
      sse({ type: "message_stop" }),
    ),
  );
  expect(message.usage).toMatchObject({ input: 40, cacheRead: 30, cacheWrite: 20, output: 7, totalTokens: 97 });
});

test("chat completions: an answer that is not streamed is read as one document", async () => {
  const tool_calls = [{ id: "a", type: "function", function: { name: "clock", arguments: "{}" } }];
  const message = { role: "assistant", reasoning_content: "Hm", content: "So", tool_calls };
  const usage = { prompt_tokens: 9, completion_tokens: 3 };
  const body = {
    id: "r",
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "tool_calls" }],
    usage,
  };
  const answer = await ask("openai-completions", write(JSON.stringify(body, undefined, 2)));
  expect(answer).toMatchObject({ stopReason: "toolUse", usage: { input: 9, output: 3 } });
  expect(answer.content).toMatchObject([{ thinking: "Hm" }, { text: "So" }, { id: "a", name: "clock", arguments: {} }]);
});

describe("events without a blank line between them", () => {
  const piece = (content: string, finish_reason: string | null = null) =>
    JSON.stringify({ id: "r", choices: [{ index: 0, delta: { content }, finish_reason }] });

  test("are read one by one", async () => {
    const body = ["", piece("One "), piece("two", "stop"), "[DONE]"].join("\ndata: ");
    const message = await ask("openai-completions", write(`${body}\n\n`));
    expect(message).toMatchObject({ stopReason: "stop", content: [text("One two")] });
  });

  test("an error after an event that was cut is the failure", async () => {
    const error = { error: { message: "No capacity", code: 503 } };
    const body = `data: ${piece("One")}\n\ndata: ${piece("two").slice(0, 20)}\ndata: ${JSON.stringify(error)}\n\n`;
    const message = await ask("openai-completions", write(body));
    expect(message).toMatchObject({ content: [text("One")], failure: { kind: "overloaded", message: "No capacity" } });
  });

  test("JSON over several lines is one document", async () => {
    const lines = JSON.stringify(JSON.parse(piece("One", "stop")), undefined, 1).replaceAll("\n", "\ndata: ");
    const message = await ask("openai-completions", write(`data: ${lines}\n\n`));
    expect(message).toMatchObject({ stopReason: "stop", content: [text("One")] });
  });
});

test.each([
  ["with text, an answer that was cut off", "So", { stopReason: "length", content: [text("So")] }],
  ["without, a prompt that is too long", "", { stopReason: "error", failure: { kind: "context_overflow" } }],
])("a full window at Anthropic is, %s", async (_what, said, expected) => {
  const message = await ask(
    "anthropic-messages",
    write(
      sse({ type: "message_start", message: { id: "a" } }),
      ...(said ? [sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: said } })] : []),
      sse({ type: "message_delta", delta: { stop_reason: "model_context_window_exceeded" } }),
      sse({ type: "message_stop" }),
    ),
  );
  expect(message).toMatchObject({ ...expected, rawStopReason: "model_context_window_exceeded" });
});

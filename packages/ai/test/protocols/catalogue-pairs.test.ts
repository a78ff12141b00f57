/** Requests to pairs of a provider and an API, with the catalogue's own models sent to a server on loopback. */
import { describe, expect, onTestFinished, test } from "vitest";
import { getModel } from "../../src/catalog/catalog.ts";
import type { KnownApi, Model } from "../../src/model.ts";
import type { SimpleStreamOptions } from "../../src/options.ts";
import { completeSimple } from "../../src/stream.ts";
import { text, thinking } from "../../src/testing/script.ts";
import { type RecordedRequest, startWireServer } from "../../src/testing/wire-server.ts";
import { image, user } from "./kit.ts";

const answer = { content: [thinking("Hm."), text("Hello.")] };

/** `path` is the part of the base URL after the host, which the server gets too. */
async function ask(model: Model, options: SimpleStreamOptions = {}) {
  const server = await startWireServer(model.api as KnownApi, [{ kind: "answer", answer }]);
  onTestFinished(() => server.close());
  const path = model.baseUrl === "" ? "" : new URL(model.baseUrl).pathname.replace(/\/$/, "");
  const target = model.baseUrl === "" ? model : { ...model, baseUrl: `${server.url}${path}` };
  const env = { AZURE_OPENAI_BASE_URL: `${server.url}/openai/v1`, ...options.env };
  const message = await completeSimple(
    target,
    { messages: [user("Hi")] },
    { apiKey: "fake-key", maxTokens: 500, maxRetries: 0, ...options, env },
  );
  return { message, request: server.requests[0] as RecordedRequest & { body: Record<string, unknown> } };
}

test("kimi-coding is asked over chat completions, with the fields that it takes", async () => {
  const { message, request } = await ask(getModel("kimi-coding", "k3"), { reasoning: "high" });
  expect(message).toMatchObject({ stopReason: "stop", provider: "kimi-coding" });
  expect(request.path).toBe("/coding/v1/chat/completions");
  expect(request.headers["authorization"]).toBe("Bearer fake-key");
  expect(request.body).toMatchObject({ model: "k3", max_tokens: 500, reasoning_effort: "high" });
  expect(request.body).not.toHaveProperty("store");
});

test("opencode-go is asked over Gemini's protocol, with the key in its header", async () => {
  const { message, request } = await ask(getModel("opencode-go", "gemini-4-argon"), { reasoning: "low" });
  expect(message).toMatchObject({ stopReason: "stop", provider: "opencode-go" });
  expect(request.path).toBe("/inference/go/google/v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse");
  expect(request.headers["x-goog-api-key"]).toBe("fake-key");
  expect(request.body).toMatchObject({ generationConfig: { maxOutputTokens: 500 } });
});

describe("azure over chat completions, whose models have no address", () => {
  test("is asked at the user's resource, with the name of the deployment", async () => {
    const { message, request } = await ask(getModel("azure", "deepseek-v4-pro"), {
      env: { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "deepseek-v4-pro=my-deepseek" },
    });
    expect(message).toMatchObject({ stopReason: "stop", provider: "azure" });
    expect(request.path).toBe("/openai/v1/chat/completions?api-version=v1");
    expect(request.headers["api-key"]).toBe("fake-key");
    expect(request.headers).not.toHaveProperty("authorization");
    expect(request.body).toMatchObject({ model: "my-deepseek" });
  });

  test("says which variables are missing if there is no resource", async () => {
    const message = await completeSimple(
      getModel("azure", "deepseek-v4-pro"),
      { messages: [user("Hi")] },
      { apiKey: "fake-key", env: { AZURE_OPENAI_BASE_URL: "", AZURE_OPENAI_RESOURCE_NAME: "" } },
    );
    expect(message.failure).toMatchObject({ kind: "auth", message: expect.stringContaining("AZURE_OPENAI_BASE_URL") });
  });

  test("is asked in the same way under the former id of the provider", async () => {
    const { request } = await ask({ ...getModel("azure", "deepseek-v4-pro"), provider: "azure-openai-responses" });
    expect(request.path).toBe("/openai/v1/chat/completions?api-version=v1");
    expect(request.headers["api-key"]).toBe("fake-key");
  });
});

test("headers of a model are sent once, whatever their case, in place of the provider's own", async () => {
  const nvidia = await ask(getModel("nvidia", "moonshotai/kimi-k2.6"));
  expect(nvidia.request.headers["nvcf-poll-seconds"]).toBe("3600");
  const copilot = getModel("github-copilot", "gpt-6.1-sol");
  expect(copilot.headers).toBeUndefined();
  const headers = { "Editor-Version": "mine/1", "USER-AGENT": "mine" };
  const { request } = await ask({ ...copilot, headers });
  expect(request.headers).toMatchObject({
    "editor-version": "mine/1",
    "user-agent": "mine",
    "copilot-integration-id": "vscode-chat",
  });
});

describe("input limits", () => {
  const limited = (inputLimits: Model["inputLimits"]) => ({
    ...getModel("anthropic", "claude-sonnet-5"),
    ...(inputLimits && { inputLimits }),
  });
  const send = async (model: Model, images: number[]) => {
    const server = await startWireServer("anthropic-messages", [{ kind: "answer", answer }]);
    onTestFinished(() => server.close());
    const messages = images.map((count) =>
      user([{ type: "text", text: "look" }, ...Array.from({ length: count }, () => image)]),
    );
    const message = await completeSimple(
      { ...model, baseUrl: server.url },
      { messages },
      { apiKey: "fake-key", maxRetries: 0 },
    );
    const body = JSON.stringify(server.requests[0]?.body ?? "");
    const count = (pattern: RegExp) => [...body.matchAll(pattern)].length;
    return { message, images: count(/"type":"image"/g), notes: count(/An image was left out/g), body };
  };

  test("leave out the oldest images, a quarter of the limit at once", async () => {
    expect(await send(limited({ images: { maxPerRequest: 8 } }), [4, 4])).toMatchObject({ images: 8, notes: 0 });
    const { images, notes, body } = await send(limited({ images: { maxPerRequest: 8 } }), [4, 5]);
    expect([images, notes]).toEqual([7, 2]);
    expect(body.indexOf("An image was left out")).toBeLessThan(body.indexOf('"type":"image"'));
  });

  test("leave out further images of one message", async () => {
    expect(await send(limited({ images: { maxPerMessage: 2 } }), [3, 2])).toMatchObject({ images: 4, notes: 1 });
  });

  test("end a request that is too long before it is sent, as a context overflow", async () => {
    const { message, body } = await send(limited({ maxRequestBytes: 300 }), [3]);
    expect(message.failure).toMatchObject({
      kind: "context_overflow",
      message: expect.stringContaining("at most 300 bytes"),
    });
    expect(body).toBe('""');
  });
});

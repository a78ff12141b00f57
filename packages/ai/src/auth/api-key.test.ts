import { expect, onTestFinished, test } from "vitest";
import { completeSimple, getModel } from "../index.ts";
import { startWireServer, text } from "../testing/index.ts";
import { findEnvKeys } from "./env-keys.ts";

/** The credentials that the server gets with these variables. */
async function sendWith(env: Record<string, string>, apiKey?: string) {
  const server = await startWireServer("anthropic-messages", [{ kind: "answer", answer: { content: [text("Hi")] } }]);
  onTestFinished(() => server.close());
  const model = { ...getModel("anthropic", "claude-opus-4-5"), baseUrl: server.url };
  const empty = { ANTHROPIC_OAUTH_TOKEN: "", ANTHROPIC_AUTH_TOKEN: "", ANTHROPIC_API_KEY: "" };
  const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 0 }] };
  await completeSimple(model, context, { env: { ...empty, ...env }, ...(apiKey !== undefined && { apiKey }) });
  const { authorization, "x-api-key": key } = server.requests[0]!.headers;
  return { authorization, key };
}

test("ANTHROPIC_AUTH_TOKEN is sent as a bearer token, and has precedence over a key", async () => {
  const token = "token-of-a-gateway-1";
  const expected = { authorization: `Bearer ${token}`, key: undefined };
  expect(await sendWith({ ANTHROPIC_AUTH_TOKEN: token })).toEqual(expected);
  expect(await sendWith({ ANTHROPIC_AUTH_TOKEN: token, ANTHROPIC_API_KEY: "sk-ant-api-1" })).toEqual(expected);
  // Also if the caller looked it up.
  expect(await sendWith({ ANTHROPIC_AUTH_TOKEN: token }, token)).toEqual(expected);
});

test("other keys are sent as before, also beside a token", async () => {
  const key = "sk-ant-api-1";
  expect(await sendWith({ ANTHROPIC_API_KEY: key })).toEqual({ authorization: undefined, key });
  expect(await sendWith({ ANTHROPIC_AUTH_TOKEN: "token-1" }, key)).toEqual({ authorization: undefined, key });
  expect(findEnvKeys("anthropic", () => "set")).toContain("ANTHROPIC_AUTH_TOKEN");
});

/** The id of a session is chosen by the caller, and some protocols put it into a header. */
import { validateHeaderValue } from "node:http";
import { expect, test } from "vitest";
import type { KnownApi } from "../../src/model.ts";
import { protocols } from "../../src/protocols/index.ts";
import { createModel, question } from "./kit.ts";

const apis: KnownApi[] = [
  "openai-responses",
  "openai-codex-responses",
  "openai-completions",
  "anthropic-messages",
  "mistral-conversations",
];

test.each(apis)("%s sends any session id in a way that a server accepts", async (api) => {
  const protocol = await protocols[api]();
  const model = createModel({ api, provider: "p", id: "m", baseUrl: "http://localhost" });
  const compat = { ...model.compat, sendSessionAffinityHeaders: true };
  const seen = new Set<string>();
  const ids = ["会话-1", "会话-2", "two\r\nlines", "half \ud83d of a pair", "x".repeat(10_000)];
  for (const sessionId of ids) {
    const { headers, payload } = protocol.encode({ ...model, compat }, question, { sessionId });
    for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
    expect(JSON.stringify(headers).length).toBeLessThan(1_000);
    expect(JSON.stringify(payload)).not.toContain("\\ud83d");
    seen.add(JSON.stringify(headers));
  }
  expect(seen.size).toBe(ids.length);
});

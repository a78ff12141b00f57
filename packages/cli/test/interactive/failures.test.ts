/** Tests the display of requests that fail. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { createModelWorkspace, run, text, textReply } from "../kit.ts";
import { openApp } from "./kit.ts";

const error = (status: number, fields: object, headers: Record<string, string> = {}): WireReply => ({
  kind: "status",
  status,
  headers,
  body: JSON.stringify({ error: fields }),
});
const overloaded = error(529, { type: "overloaded_error", message: "Overloaded" });
const limited = error(429, { code: "rate_limit_exceeded", message: "Slow down." }, { "retry-after": "0" });
const tooLong = error(400, { code: "context_length_exceeded", message: "The prompt is too long." });
const unpaid = error(429, { code: "insufficient_quota", message: "You exceeded your current quota" });
const empty: WireReply = { kind: "answer", answer: { content: [] } };

const settings = { retry: { baseDelayMs: 1 } };

const count = (screen: string, words: string) => screen.split(words).length - 1;

test("a busy provider is asked until it answers, and nothing is left of its refusals", async () => {
  const refusals = Array.from({ length: 9 }, (_, index) => (index % 2 === 0 ? overloaded : limited));
  const app = await openApp([...refusals, textReply("All is well.")], { settings, message: "Hi" });
  await app.sees("All is well.");
  await expect.poll(app.screen).not.toContain("Trying again");
  expect(await app.everything()).not.toMatch(/Error|Overloaded|Slow down/);
  expect(app.server.requests).toHaveLength(10);
});

test("while a busy provider is waited for, one line says why, and Escape ends the run", async () => {
  const app = await openApp([overloaded, overloaded, overloaded], {
    settings: { retry: { baseDelayMs: 60_000 } },
    message: "Hi",
  });
  await app.sees(/Trying again in 60 s \(attempt 1\): HTTP 529: Overloaded/);
  expect(count(await app.screen(), "Overloaded")).toBe(1);
  app.press("escape");
  await app.sees("Error: HTTP 529: Overloaded");
  await expect.poll(app.screen).not.toContain("Trying again");
});

test("the text of an answer that was cut is replaced by the next attempt", async () => {
  const cut: WireReply = { kind: "cut", answer: { content: [text("The quick brown fox")] }, frames: 2 };
  const whole = textReply("The quick brown fox jumps over the lazy dog.");
  const app = await openApp([cut, cut, whole], { settings, message: "Hi" });
  await app.sees("lazy dog");
  const everything = await app.everything();
  expect(count(everything, "The quick")).toBe(1);
  expect(everything).not.toContain("Error");
  expect(app.server.requests).toHaveLength(3);
});

test("a failure that is not about load is tried three times", async () => {
  const cut: WireReply = { kind: "cut", answer: { content: [text("Half")] }, frames: 1 };
  const app = await openApp([cut, cut, cut, cut, textReply("Never.")], { settings, message: "Hi" });
  await app.sees("Error: ");
  expect(count(await app.everything(), "Error: ")).toBe(1);
  expect(app.server.requests).toHaveLength(4);
});

test("a number of retries that somebody set applies to a busy provider too", async () => {
  const app = await openApp([overloaded, overloaded, overloaded], {
    settings: { retry: { baseDelayMs: 1, maxRetries: 1 } },
    message: "Hi",
  });
  await app.sees("Error: HTTP 529: Overloaded");
  expect(app.server.requests).toHaveLength(2);
});

test("a conversation that does not fit after compaction says what to do", async () => {
  const app = await openApp(
    Array.from({ length: 9 }, () => tooLong),
    { settings, message: "Hi", columns: 200 },
  );
  await app.sees(/Begin a new one with \/new, or choose a model with a larger context window with \/model\./);
  expect(count(await app.everything(), "The prompt is too long.")).toBe(1);
});

test("an account without credit names the page of its provider, and the command for another model", async () => {
  const app = await openApp([unpaid], {
    settings: { ...settings, defaultModel: "openai/small" },
    message: "Hi",
    columns: 160,
    prepare: async ({ agentDir, server }) => {
      const models = [{ id: "small" }];
      const openai = { baseUrl: server.url, apiKey: "key-0123456789", api: "openai-completions", models };
      await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { openai } }));
    },
  });
  await app.sees("Billing: https://platform.openai.com/settings/organization/billing");
  await app.sees("To continue with another model: /model");
});

test("an empty answer says so", async () => {
  const app = await openApp([empty], { settings, message: "Hi" });
  await app.sees("The answer is empty. Ask again, or choose another model with /model.");
});

test("print mode gives up on a busy provider after three more attempts, and says what to do about an account", async () => {
  const workspace = await createModelWorkspace([overloaded, overloaded, limited, overloaded, textReply("Never.")]);
  const written = { defaultModel: "acme/small", ...settings };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(written));
  const { err } = await run(workspace, ["-p", "Hi"]);
  expect(workspace.server.requests).toHaveLength(4);
  expect(err).toMatch(/\(3 of 3\): .*\ntau: HTTP 529: Overloaded\n$/);
  const poor = await createModelWorkspace([unpaid]);
  expect((await run(poor, ["-p", "Hi"])).err).toBe(
    "tau: HTTP 429: You exceeded your current quota\n  To use another model: --model\n",
  );
});

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ModelWorkspace } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

const run = (app: OpenedApp, command: string) => {
  app.type(command);
  app.press("escape", "enter");
};

test("/fast asks OpenAI for the faster service and says what it costs; other providers have none", async () => {
  let agentDir = "";
  const prepare = async (workspace: ModelWorkspace) => {
    ({ agentDir } = workspace);
    const path = join(agentDir, "models.json");
    const { providers } = JSON.parse(await readFile(path, "utf8")) as { providers: object };
    const openai = { baseUrl: workspace.server.url, apiKey: "fake-key-0123456789" };
    await writeFile(path, JSON.stringify({ providers: { ...providers, openai } }));
  };
  const app = await openApp([], { prepare, columns: 200 });
  run(app, "/model openai/gpt-6.1-sol");
  await app.sees(/gpt-6.1-sol( · \w+)?$/m);
  run(app, "/fast");
  await app.sees("gpt-6.1-sol costs 2 times as much: $4 for a million tokens in, $20 for a million out.");
  const read = async () => JSON.parse(await readFile(join(agentDir, "settings.json"), "utf8")) as object;
  expect(await read()).toMatchObject({ serviceTier: "priority" });
  run(app, "/fast off");
  await app.sees("Fast answers are off.");
  expect(await read()).not.toHaveProperty("serviceTier");
  run(app, "/fast maybe");
  await app.sees("Use /fast, /fast on or /fast off.");
  const other = await openApp([], { columns: 200 });
  run(other, "/fast");
  await other.sees("acme has no faster service");
});

/** Tests the beginning of the conversation, and the display of a budget. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text, type WireReply } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { openApp } from "./kit.ts";

test("the header names the model and the context files, those of the project as seen from it", async () => {
  const app = await openApp([], {
    prepare: async ({ agentDir, directory }) => {
      await writeFile(join(agentDir, "AGENTS.md"), "For all projects.");
      await writeFile(join(directory, "AGENTS.md"), "For this project.");
    },
  });
  const header = (await app.screen()).split("\n\n")[0]!.replaceAll(/\n +/g, " ").replaceAll("\n", "");
  expect(header).toContain("τ tau 1.2.3 Model: acme/small Context: ");
  expect(header).toMatch(/AGENTS\.md, AGENTS\.md$/);
});

test("the header follows the model and, after a reload, the context files", async () => {
  const app = await openApp([]);
  expect(await app.screen()).not.toContain("Context:");
  app.type("/model large");
  app.press("escape", "enter");
  await app.sees("Model: acme/large");
  await mkdir(join(app.directory, ".git"), { recursive: true });
  await writeFile(join(app.directory, "AGENTS.md"), "For this project.");
  app.type("/reload");
  app.press("escape", "enter");
  await app.sees("Context: AGENTS.md");
});

test("what is left of a budget becomes less during a run, and the next run has all of it again", async () => {
  const waiting = toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" });
  const app = await openApp([waiting, textReply("Done.")], {
    // Nothing real is waited for, which would take a part of the time.
    settings: { budgets: { turns: 5 }, features: { undo: false } },
    args: ["--timeout", "100"],
    columns: 120,
  });
  await app.sees("left: 5 turns, 100 s");
  app.type("go");
  app.press("enter");
  await app.sees("left: 4 turns, 100 s");
  app.advance(40_000);
  await app.sees("left: 4 turns, 60 s");
  await writeFile(join(app.directory, "go"), "");
  await app.sees("Done.");
  await app.sees("left: 5 turns, 100 s");
});

test("without a budget nothing is said of one", async () => {
  const app = await openApp([textReply("Hi.")], { message: "hello" });
  await app.sees("Hi.");
  expect(await app.screen()).not.toContain("left:");
});

test("tokens, cost and context are new after each answer of a run, while its tools still run", async () => {
  const answer = (content: ReturnType<typeof call | typeof text>, input: number): WireReply => ({
    kind: "answer",
    answer: { content: [content], usage: { input, output: 500 } },
  });
  const wait = (file: string) => call("bash", { command: `until [ -e ${file} ]; do sleep 0.02; done` });
  const app = await openApp([answer(wait("one"), 6_000), answer(wait("two"), 12_000), answer(text("Done."), 13_000)], {
    columns: 120,
    prepare: async ({ agentDir }) => {
      const path = join(agentDir, "models.json");
      const file = JSON.parse(await readFile(path, "utf8")) as { providers: { acme: { models: object[] } } };
      const cost = { input: 10, output: 100, cacheRead: 0, cacheWrite: 0 };
      file.providers.acme.models = file.providers.acme.models.map((model) => ({ ...model, cost }));
      await writeFile(path, JSON.stringify(file));
    },
  });
  app.type("go");
  app.press("enter");
  await app.sees("● bash until [ -e one ]");
  await app.sees(/↑6\.0k ↓500 \$0\.110 10\.2%\/64k/);
  await writeFile(join(app.directory, "one"), "");
  await app.sees("● bash until [ -e two ]");
  await app.sees(/↑18k ↓1\.0k \$0\.280 19\.5%\/64k/);
  expect(await app.screen()).toContain("to stop");
  await writeFile(join(app.directory, "two"), "");
  await app.sees("Done.");
});

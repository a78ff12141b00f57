import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ModelWorkspace, textReply } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

/** A third model, and prices. */
async function addModel({ agentDir }: ModelWorkspace): Promise<void> {
  const path = join(agentDir, "models.json");
  const file = JSON.parse(await readFile(path, "utf8")) as { providers: { acme: { models: object[] } } };
  const cost = { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 };
  file.providers.acme.models.push({ id: "third", name: "Third", contextWindow: 9_000, maxTokens: 1_000, cost });
  await writeFile(path, JSON.stringify(file));
}

const run = (app: OpenedApp, command: string) => {
  app.type(command);
  app.press("escape", "enter");
};

const readSettings = async ({ agentDir }: ModelWorkspace) =>
  JSON.parse(await readFile(join(agentDir, "settings.json"), "utf8")) as {
    enabledModels?: string[];
    defaultThinkingLevel?: string;
  };

test("/model shows prices and context, and which providers have a key", async () => {
  const app = await openApp([], { prepare: addModel, columns: 120 });
  run(app, "/model");
  await app.sees(/acme\/third +Third · 9(\.0)?k context · \$3 in, \$15 out per million/);
  await app.sees(/Configured: acme\. Without a key: .*anthropic/);
});

test("Ctrl-P goes to the next model and Shift-Ctrl-P to the one before", async () => {
  const app = await openApp([], { prepare: addModel, args: ["--models", "acme/small,acme/large,acme/third"] });
  app.press("ctrlP");
  await app.sees(/large( · \w+)?$/m);
  app.press("ctrlP");
  await app.sees(/third$/m);
  app.press("shiftCtrlP");
  await app.sees(/large( · \w+)?$/m);
  app.press("shiftCtrlP");
  await app.sees(/small$/m);
  app.press("shiftCtrlP");
  await app.sees(/third$/m);
});

test("/scoped-models chooses and orders the models of Ctrl-P, and Ctrl-S keeps them", async () => {
  const app = await openApp([], { prepare: addModel });
  run(app, "/scoped-models");
  await app.sees("Models to cycle through");
  app.type("third");
  app.press("enter");
  await app.sees("1 chosen");
  app.press("ctrlU");
  await app.sees(/→ ✓ acme\/third[\s\S]*acme\/small/);
  app.type("small");
  app.press("enter", "ctrlU");
  await app.sees(/✓ acme\/third[\s\S]*✓ acme\/small/);
  app.press("down", "altUp");
  await app.sees(/→ ✓ acme\/small[\s\S]*✓ acme\/third/);
  app.press("ctrlS");
  await app.sees("Saved: acme/small, acme/third");
  expect((await readSettings(app)).enabledModels).toEqual(["acme/small", "acme/third"]);
  app.press("ctrlP");
  await app.sees(/third$/m);
  app.press("ctrlP");
  await app.sees(/small$/m);
  run(app, "/scoped-models");
  await app.sees(/✓ acme\/small[\s\S]*✓ acme\/third/);
  app.press("ctrlA", "ctrlS");
  await app.sees("Saved: all models.");
  expect((await readSettings(app)).enabledModels).toBeUndefined();
});

test("Escape leaves the models as they are", async () => {
  const app = await openApp([], { prepare: addModel });
  run(app, "/scoped-models");
  await app.sees("Models to cycle through");
  app.press("enter", "escape");
  await expect.poll(app.screen).not.toContain("Models to cycle through");
  expect((await readSettings(app)).enabledModels).toBeUndefined();
});

test("Ctrl-S in the list of models makes one the default of new sessions, and the list says so", async () => {
  const app = await openApp([], { prepare: addModel, columns: 120 });
  run(app, "/model");
  await app.sees("ctrl+s makes a model the default of new sessions.");
  await app.sees(/acme\/small +default · Small/);
  app.type("third");
  await app.sees(/→ acme\/third +Third/);
  app.press("ctrlS");
  await app.sees(/→ acme\/third +default · Third/);
  expect(await readSettings(app)).toMatchObject({ defaultModel: "acme/third" });
  app.press("ctrlU");
  await app.sees(/acme\/small +Small/);
  // What the session uses is another choice.
  app.press("escape");
  await app.sees(/small$/m);
});

test("Ctrl-S in /thinking makes a level the one that new sessions with the model begin with", async () => {
  const app = await openApp([], { args: ["--model", "acme/large"] });
  run(app, "/thinking");
  await app.sees("ctrl+s makes a level the one that new sessions with acme/large begin with.");
  await app.sees(/→ medium +new sessions begin with it/);
  app.press("down", "ctrlS");
  await app.sees(/→ high +new sessions begin with it/);
  expect(await readSettings(app)).toMatchObject({ modelThinkingLevels: { "acme/large": "high" } });
  expect((await readSettings(app)).defaultThinkingLevel).toBeUndefined();
  app.press("escape");
  // The session keeps its level.
  await app.sees("large · medium");
  // The level of all models would not be used for this one.
  app.press("shiftTab", "shiftTab");
  await expect.poll(app.screen).not.toContain("large · medium");
  app.press("ctrlS");
  await app.sees(/New sessions with acme\/large start with the thinking level/);
  expect((await readSettings(app)).defaultThinkingLevel).toBeUndefined();
});

test("the model that was used last in the directory is the first of the list", async () => {
  const app = await openApp([textReply("Yes."), textReply("Again.")], { prepare: addModel, columns: 120 });
  run(app, "/model third");
  await app.sees(/9\.0k +third$/m);
  run(app, "hello");
  await app.sees("Yes.");
  run(app, "/new");
  await expect.poll(app.screen).not.toContain("Yes.");
  run(app, "/model small");
  await app.sees(/64k +small$/m);
  run(app, "/model");
  await app.sees(/acme\/third +last used here · Third[^]*acme\/small[^]*acme\/large/);
});

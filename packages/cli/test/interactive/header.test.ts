/** What the conversation begins with, and what is left of a budget. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
    settings: { budgets: { turns: 5 } },
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

/** Taking files back in the terminal: `/undo`, and the offers of `/tree` (Escape twice) and `/fork`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

/** Two prompts, each of which writes a file. */
async function openConversation(settings: { features?: Record<string, boolean> } = {}): Promise<OpenedApp> {
  const app = await openApp(
    [
      toolReply("bash", { command: "echo one > one.txt" }),
      textReply("First answer."),
      toolReply("write", { path: "two.txt", content: "two\n" }),
      textReply("Second answer."),
    ],
    { settings, rows: 40 },
  );
  for (const [question, answer] of [
    ["first question", "First answer."],
    ["second question", "Second answer."],
  ] as const) {
    app.type(question);
    app.press("enter");
    await app.sees(answer);
    // Until a run is over, it cannot be taken back, and what is typed becomes a part of it.
    if (!settings.features) await expect.poll(() => countKept(app)).toBe(question.startsWith("first") ? 1 : 2);
  }
  return app;
}

function findHistory(agentDir: string): string | undefined {
  const files = existsSync(join(agentDir, "undo")) ? readdirSync(join(agentDir, "undo"), { recursive: true }) : [];
  const file = files.map(String).find((name) => /sessions\/[^/]+\.json$/.test(name));
  return file === undefined ? undefined : join(agentDir, "undo", file);
}

/** Counts the prompts that can be taken back. */
function countKept({ agentDir }: OpenedApp): number {
  const path = findHistory(agentDir);
  const history = path === undefined ? "" : readFileSync(path, "utf8");
  return history.split('"after"').length - 1;
}

const listFiles = (app: OpenedApp) => ["one.txt", "two.txt"].filter((name) => existsSync(join(app.directory, name)));

test("/undo shows the difference and asks, and /redo does it again", async () => {
  const app = await openConversation();
  app.type("/undo");
  app.press("escape", "enter");
  await app.sees("Take back the files and the conversation");
  await app.sees("Remove two.txt");
  await app.sees("-two");
  expect(listFiles(app)).toEqual(["one.txt", "two.txt"]);
  app.press("enter");
  await app.sees("The user took back what was done to the files: “second question”");
  expect(listFiles(app)).toEqual(["one.txt"]);
  app.type("/redo");
  app.press("escape", "enter");
  await app.sees("Do it again");
  app.press("enter");
  await app.sees("did again what was taken back");
  expect(readFileSync(join(app.directory, "two.txt"), "utf8")).toBe("two\n");
});

test("Escape twice opens the tree, which offers to take the files back with the conversation", async () => {
  const app = await openConversation();
  app.press("escape", "escape");
  await app.sees("Session tree");
  app.type("first question");
  await app.sees("→");
  app.press("enter");
  await app.sees("Summarise the branch that you leave?");
  app.press("enter");
  await app.sees("The conversation and the files (2 files)");
  await app.sees("Take back: “first question”");
  app.press("down", "enter");
  await app.sees("2 files written.");
  expect(listFiles(app)).toEqual([]);
  await app.sees(/─\n ?first question/);
});

test("/fork offers it too, and Escape there forks nothing", async () => {
  const app = await openConversation();
  app.type("/fork");
  app.press("escape", "enter");
  await app.sees("Fork before which message?");
  app.press("enter");
  await app.sees("Only the conversation");
  app.press("escape");
  await expect.poll(app.screen).not.toContain("Only the conversation");
  expect(listFiles(app)).toEqual(["one.txt", "two.txt"]);
  app.type("/fork");
  app.press("escape", "enter");
  await app.sees("Fork before which message?");
  app.press("enter");
  await app.sees("Only the conversation");
  app.press("enter");
  await app.sees(/─\n ?second question/);
  expect(listFiles(app)).toEqual(["one.txt", "two.txt"]);
});

test("turned off, the tree asks nothing about files", async () => {
  const app = await openConversation({ features: { undo: false } });
  app.type("/tree");
  app.press("escape", "enter");
  await app.sees("Session tree");
  app.press("up", "enter");
  await app.sees("Summarise the branch that you leave?");
  app.press("enter");
  await expect.poll(app.screen).not.toContain("Session tree");
  expect(await app.everything()).not.toContain("Only the conversation");
});

test("/diff shows what the session did in a pager, which Escape closes, and the list of files stays", async () => {
  const app = await openConversation();
  app.type("/diff");
  app.press("escape", "enter");
  await app.sees("This session changed 2 files (2 prompts):");
  await app.sees(/Lines 1 to \d+ of \d+/);
  await app.sees("+two");
  app.press("escape");
  await expect.poll(app.screen).not.toContain("Escape closes");
  expect(await app.everything()).toContain("two.txt  +1 -0, created");
  app.type("next question");
  await app.sees("next question");
});

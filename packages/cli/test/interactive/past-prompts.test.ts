import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { textReply } from "../kit.ts";
import { openApp } from "./kit.ts";

const line = (text: string, cwd: string) => `${JSON.stringify({ text, cwd, at: "2026-11-18T10:00:00.000Z" })}\n`;

test("Up shows the prompts of earlier sessions: those of this directory first, then those of others", async () => {
  const app = await openApp([], {
    prepare: ({ agentDir, directory: cwd }) =>
      writeFile(
        join(agentDir, "history.jsonl"),
        line("older, here", cwd) + line("newer, here", cwd) + line("elsewhere", "/other"),
      ),
  });
  await expect
    .poll(async () => {
      // Back to what is typed first, since the file may not be read yet.
      app.press("down", "down", "down", "up");
      return await app.screen();
    })
    .toContain("newer, here");
  app.press("up");
  await app.sees("older, here");
  app.press("up");
  await app.sees("elsewhere");
});

test("a prompt that was sent is kept for the next session, without the keys in it", async () => {
  const app = await openApp([textReply("I see.")], { env: { DEPLOY_TOKEN: "abcdefghij0123456789" } });
  app.type("deploy with abcdefghij0123456789");
  app.press("enter");
  await app.sees("I see.");
  const read = () => readFile(join(app.agentDir, "history.jsonl"), "utf8").catch(() => "");
  await expect.poll(read).toContain("deploy with [secret]");
  expect(await read()).not.toContain("abcdefghij");
});

test("Ctrl-R finds a prompt by its words and puts it into the editor", async () => {
  const app = await openApp([], {
    prepare: ({ agentDir, directory: cwd }) =>
      writeFile(
        join(agentDir, "history.jsonl"),
        line("fix the parser\nand its tests", "/other") + line("write a poem", cwd) + line("write a poem", cwd),
      ),
  });
  await app.sees("small");
  app.press("ctrlR");
  await app.sees("Earlier prompts");
  const list = await app.screen();
  expect(list.indexOf("write a poem")).toBeLessThan(list.indexOf("fix the parser and its tests"));
  expect(list.split("write a poem")).toHaveLength(2);
  app.type("parser");
  await expect.poll(app.screen).not.toContain("write a poem");
  app.press("enter");
  await app.sees("and its tests");
  await expect.poll(app.screen).not.toContain("Earlier prompts");
});

test("nothing is kept if the setting says so", async () => {
  const app = await openApp([textReply("I see.")], { settings: { promptHistory: false } });
  app.type("between us");
  app.press("enter");
  await app.sees("I see.");
  await app.app.stop();
  await expect(readFile(join(app.agentDir, "history.jsonl"))).rejects.toThrow("ENOENT");
});

test("without any, Ctrl-R says so", async () => {
  const app = await openApp([]);
  await app.sees("small");
  app.press("ctrlR");
  await app.sees("There are no earlier prompts.");
});

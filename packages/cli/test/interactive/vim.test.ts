/** The keys of vim in the terminal. */
import { SettingsManager } from "@tau/config/settings";
import { expect, test } from "vitest";
import { textReply } from "../kit.ts";
import { openApp } from "./kit.ts";

test("the mode is in the status line, and what is edited in normal mode is sent", async () => {
  const app = await openApp([textReply("Done.")], { settings: { editorMode: "vim" } });
  await app.sees("INSERT");
  app.type("say hi again");
  app.press("escape");
  await app.sees("NORMAL");
  app.type("bdb");
  await app.sees("say again");
  app.type("v");
  await app.sees("VISUAL");
  app.press("escape", "enter");
  await app.sees("Done.");
  expect(await app.everything()).toContain("say again");
  await app.sees("INSERT");
});

test("Ctrl-R does again what u took back, and searches prompts in insert mode", async () => {
  const app = await openApp([], { settings: { editorMode: "vim" } });
  app.type("one two");
  app.press("escape");
  app.type("db");
  await expect.poll(() => app.screen()).not.toContain("one two");
  app.type("u");
  await app.sees("one two");
  app.press("ctrlR");
  await expect.poll(() => app.screen()).not.toContain("one two");
});

test("without the setting no mode is shown, and turning it off ends it", async () => {
  const app = await openApp([], { settings: { editorMode: "vim" } });
  await app.sees("INSERT");
  app.app.applySettings(SettingsManager.inMemory({}).get());
  await expect.poll(() => app.screen()).not.toContain("INSERT");
  app.type("dd");
  await app.sees("dd");
});

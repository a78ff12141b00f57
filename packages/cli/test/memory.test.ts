/** Memory in the terminal: the offer after a correction, and `/memory`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openApp } from "./interactive/kit.ts";
import { textReply } from "./kit.ts";

test("memory is offered after a correction, turned on in the settings, and /memory shows it", async () => {
  const app = await openApp([textReply("I use npm."), textReply("I use pnpm.")]);
  app.type("which package manager?");
  app.press("enter");
  await app.sees("I use npm.");
  // What is sent during a run is no prompt of its own.
  await expect.poll(() => app.app.view.live.run).toBeUndefined();
  app.type("No, never use npm here.");
  app.press("enter");
  await app.sees("tau can remember corrections and decisions");
  app.press("enter");
  await app.sees("Memory is on: /memory shows what is remembered.");
  const settings = readFileSync(join(app.agentDir, "settings.json"), "utf8");
  expect(JSON.parse(settings)).toMatchObject({ memory: { backend: "local" } });
  app.type("/memory");
  app.press("escape", "enter");
  await app.sees(/Memory is on\. 0 facts of this project in/);
});

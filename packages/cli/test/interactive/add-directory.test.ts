import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../kit.ts";
import { openApp } from "./kit.ts";

test("/add-dir adds a directory, asks whether its instructions are trusted, and lists what there is", async () => {
  const library = await temporaryDirectory();
  const app = await openApp([], {
    columns: 200,
    prepare: async () => {
      await writeFile(join(library, "AGENTS.md"), "Rules.");
      await writeFile(join(library, "grammar.txt"), "");
    },
  });
  expect(dirname(library)).toBe(dirname(app.directory));
  app.type("/add-dir /");
  app.press("enter");
  await app.sees("/ cannot be added to the workspace: it contains everything on this machine.");
  app.type(`/add-dir ../${basename(library)}`);
  app.press("enter");
  await app.sees(`It is about ${join(library, "AGENTS.md")}`);
  app.press("down", "enter");
  await app.sees("This directory is trusted now.");
  app.type("/add-dir");
  app.press("escape", "enter");
  await app.sees(`- ${library}`);
  app.type("@gramm");
  await app.sees(join(library, "grammar.txt"));
  expect(await app.screen()).not.toContain("hooks");
});

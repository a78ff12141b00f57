/** The examples of docs/extensions.md that have an interface, on a terminal. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openApp, type OpenedApp } from "../interactive/kit.ts";
import { textReply, toolReply } from "../kit.ts";

const open = (name: string, replies: Parameters<typeof openApp>[0] = []) =>
  openApp(replies, {
    args: ["-e", join(import.meta.dirname, "page", `${name}.example.ts`)],
    settings: { sandbox: { mode: "off" } },
    rows: 30,
  });

const enter = (app: OpenedApp, text: string): void => {
  app.type(text);
  app.press("escape", "enter");
};

test("smallest: a command that answers", async () => {
  const app = await open("smallest");
  enter(app, "/hello terminal");
  await app.sees("Hello terminal!");
});

test("dialogs: one after the other, in the place of the editor", async () => {
  const app = await open("dialogs");
  enter(app, "/report");
  await app.sees(/What is it\?\s+.*a defect\s+.*a wish/);
  app.press("enter");
  await app.sees(/In a few words\? \(\d+ s\)/);
  app.press("escape");
  await app.sees("Nothing is sent.");
});

test("widgets: above and below the editor, in the footer, in the header and as the footer", async () => {
  const app = await open("widgets");
  await app.sees(/Our project[\s\S]*Remember the change log\.[\s\S]*open for 0 min[\s\S]*build: green/);
  enter(app, "/footer");
  await app.sees(/small on main \| build: green/);
});

test("overlay: it has the keys until something is picked", async () => {
  const app = await open("overlay");
  enter(app, "/colour");
  await app.sees(/Which colour\?/);
  app.press("down", "enter");
  await app.sees("You picked green.");
  expect(await app.screen()).not.toContain("Which colour?");
});

test("renderers: messages, entries, tools and Markdown", async () => {
  const app = await open("renderers", [toolReply("ls", { path: "." }), textReply("All rights (c) ours.")]);
  enter(app, "/weather");
  await app.sees(/☀ 21 °C/);
  enter(app, "Look.");
  await app.sees(/📁 \.[\s\S]*All rights © ours\./u);
  app.press("ctrlO");
  await app.sees("measured just now");
});

test("an editor: Tab indents, and what is typed is sent", async () => {
  const app = await open("editor", [textReply("I see.")]);
  await app.sees("tab indents");
  app.type("a");
  app.press("tab");
  app.type("b");
  await app.sees("a  b");
  app.press("enter");
  await app.sees("I see.");
});

test("cancelling: a session with changes is left only if the user is sure", async () => {
  const app = await open("cancel", [textReply("Hello.")]);
  execFileSync("git", ["init", "--quiet"], { cwd: app.directory });
  writeFileSync(join(app.directory, "new.txt"), "");
  enter(app, "Hi.");
  await app.sees("Hello.");
  enter(app, "/new");
  await app.sees("There are changes that are not committed.");
  app.press("down", "enter");
  await expect.poll(app.screen).not.toContain("There are changes");
  expect(await app.screen()).toContain("Hello.");
});

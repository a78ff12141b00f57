/** The status line and notifications of the user's own, and lines for instructions. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openApp } from "./kit.ts";

test("a template stands below the editor, and an unusual mode stays in sight", async () => {
  const statusLine = "model {model}[ on {branch}][ at {thinking}] {mode}";
  const app = await openApp([], { settings: { statusLine, policy: { permissionMode: "ask" } } });
  await app.sees("model small on main");
  const lines = (await app.screen()).trimEnd().split("\n");
  expect(lines.slice(-2)).toEqual(["model small on main ask", "ask"]);
});

test("a command prints the status line from JSON, with colors and nothing else", async () => {
  const command = String.raw`model=$(sed 's/.*"display_name":"\([^"]*\)".*/\1/'); printf '\033[32mit is %s\033[0m\033[2J\033]0;owned\007\nsecond\n' "$model"`;
  const app = await openApp([], { settings: { statusLine: { type: "command", command } } });
  await app.sees(/it is \S+/);
  await app.sees("second");
  expect(await app.screen()).not.toMatch(/owned/);
});

test("where the command fails, the usual lines stay and the user is told once", async () => {
  const app = await openApp([], { settings: { statusLine: { command: "exit 3" } } });
  await app.sees("The command of the setting statusLine failed");
  await app.sees("small");
});

test("a project cannot set either of them", async () => {
  const app = await openApp([], {
    args: ["--approve"],
    prepare: async ({ directory: cwd }) => {
      await mkdir(join(cwd, ".tau"), { recursive: true });
      const settings = { statusLine: "owned {model}", notify: "touch owned" };
      await writeFile(join(cwd, ".tau/settings.json"), JSON.stringify(settings));
    },
  });
  await app.sees("small");
  expect(await app.screen()).not.toContain("owned small");
});

test("#text adds a line to the instructions that are chosen, and other texts are messages", async () => {
  const app = await openApp([]);
  app.type("#Use tabs");
  app.press("enter");
  await app.sees("Add the line to which instructions?");
  app.press("enter");
  await app.sees("Added to AGENTS.md.");
  app.type("# Second");
  app.press("enter");
  await app.sees("Add the line to which instructions?");
  app.press("down", "enter");
  await expect.poll(() => readFile(join(app.agentDir, "AGENTS.md"), "utf8").catch(() => "")).toBe("- Second\n");
  expect(await readFile(join(app.directory, "AGENTS.md"), "utf8")).toBe("- Use tabs\n");
  app.type("#Third");
  app.press("enter");
  await app.sees("Add the line to which instructions?");
  app.press("escape");
  await app.sees("#Third");
});

/** More places that show what comes from elsewhere: nothing of it controls the terminal. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text, thinking } from "@tau/ai/testing";
import { SessionManager } from "@tau/harness";
import { builtInThemes, type ThemeDefinition } from "@tau/tui";
import { expect, test } from "vitest";
import { writeExtension } from "../extension-kit.ts";
import { textReply } from "../kit.ts";
import { countSeen, findIntruders, hostileStrings, named, withoutColors } from "./hostile-strings.ts";
import { openApp, type OpenedApp, type OpenOptions } from "./kit.ts";

const size = { columns: 160, rows: 60 };
const getBytes = (app: OpenedApp) => app.terminal.writes.join("");
const forget = (app: OpenedApp) => app.terminal.writes.splice(0);

/** Presses a key until so many of the words were drawn; each frame is drawn before the next key. */
async function seeAll(app: OpenedApp, key: string, minCount = hostileStrings.length): Promise<void> {
  while (countSeen(getBytes(app)) < minCount) {
    const before = app.terminal.writes.length;
    let looks = 0;
    // At the end of what is listed so far a key draws nothing: it is pressed again when more may have come.
    const press = () => {
      if (app.terminal.writes.length === before && looks++ % 50 === 0) app.terminal.sendInput(key);
      return app.terminal.writes.length;
    };
    await expect.poll(press, { interval: 4 }).toBeGreaterThan(before);
  }
  expect(findIntruders(getBytes(app))).toEqual([]);
}

async function run(app: OpenedApp, command: string): Promise<void> {
  app.type(command);
  app.press("escape", "enter");
}

const pageDown = "\x1b[6~";
const pageUp = "\x1b[5~";

test("labels in the session tree", async () => {
  const app = await openApp([], {
    ...size,
    args: ["-c"],
    prepare: async ({ agentDir, directory }) => {
      const manager = await SessionManager.create(directory, undefined, { agentDir });
      for (const name of named) {
        const id = await manager.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
        await manager.appendLabelChange(id, name);
      }
      await manager.close();
    },
  });
  await run(app, "/tree");
  await app.sees("Session tree");
  await seeAll(app, pageUp, 230);
});

test("directories of sessions", async () => {
  const app = await openApp([], {
    ...size,
    prepare: async ({ agentDir, directory }) => {
      for (const name of named) {
        const cwd = join(directory, name.replaceAll(/[/\0]/g, "_").slice(0, 60));
        const manager = await SessionManager.create(cwd, join(agentDir, "sessions", "others"), { agentDir });
        await manager.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
        await manager.close();
      }
    },
  });
  await run(app, "/resume");
  await app.sees("Sessions of this directory");
  app.press("tab");
  await app.sees("Sessions of all directories");
  // Until they are listed, a key draws nothing.
  await app.sees("Hello");
  await seeAll(app, pageDown);
});

test("descriptions of skills, and names of themes", async () => {
  const definition = builtInThemes[0] as ThemeDefinition;
  const themes = named.map((name, index) => ({ path: `/${index}.json`, definition: { ...definition, name } }));
  const app = await openApp([], {
    ...size,
    themes,
    prepare: async ({ agentDir }) => {
      for (const [index, name] of named.entries()) {
        const directory = join(agentDir, "skills", `s${index}s`);
        await mkdir(directory, { recursive: true });
        const lines = ["---", `name: s${index}s`, `description: ${JSON.stringify(name)}`, "---", "Do it."];
        await writeFile(join(directory, "SKILL.md"), lines.join("\n"));
      }
    },
  });
  app.type("/skill:s");
  await app.sees("skill:s0s");
  // At most a hundred commands are suggested.
  await seeAll(app, "\x1b[B", 95);
  app.press("escape", "ctrlC");
  app.advance(1_000);

  forget(app);
  await run(app, "/theme");
  await app.sees("made from the colors");
  await seeAll(app, pageDown);
});

test("a conversation in full screen", async () => {
  const all = named.join("\n\n");
  const app = await openApp(
    [
      { kind: "answer", answer: { content: [thinking(all), text(all), ...named.map((name) => call(`tool ${name}`))] } },
      textReply("Done."),
    ],
    { ...size, settings: { tuiMode: "fullscreen" } },
  );
  forget(app);
  app.terminal.sendInput(`\x1b[200~${all}\x1b[201~`);
  app.press("enter");
  await app.sees("Done.");
  for (const name of named) app.notify(name);
  await seeAll(app, pageUp);
});

/** An extension that shows all of them. */
const extension = `const strings = ${JSON.stringify(named)};
  const all = strings.join(" ");
  const command = (name, handler) => tau.registerCommand(name, { handler: async (args, ctx) => await handler(ctx.ui) });
  for (const [index, text] of strings.entries())
    tau.registerCommand("x" + index + "x", { description: text, handler: async () => {} });
  command("notices", (ui) => {
    for (const text of strings) ui.notify(text);
  });
  command("widgets", (ui) => {
    for (const [index, text] of strings.entries()) ui.setWidget("w" + index, [text]);
  });
  command("titles", (ui) => {
    for (const text of strings) ui.setTitle(text);
  });
  command("statuses", (ui) => ui.setStatus("one", all));
  command("fail", () => { throw new Error(all); });
  command("dialogs", async (ui) => {
    await ui.select(all, strings);
    await ui.confirm(all, all);
    await ui.input(all, all);
  });`;

async function openWithExtension(options: OpenOptions): Promise<OpenedApp> {
  return await openApp([], {
    ...options,
    prepare: async (workspace) => {
      await writeExtension(workspace, "sample", extension);
      await writeExtension(workspace, named[60]!.replaceAll(/[/\0]/g, "_"), "");
    },
  });
}

/** Text of extensions may have colors. */
async function expectHarmless(app: OpenedApp, minCount: number): Promise<void> {
  await expect.poll(() => countSeen(getBytes(app))).toBeGreaterThanOrEqual(minCount);
  expect(findIntruders(withoutColors(getBytes(app)))).toEqual([]);
  forget(app);
}

test("notices, widgets, statuses and errors of an extension, its name, and its commands", async () => {
  const app = await openWithExtension({ columns: 160, rows: 280 });
  forget(app);
  await run(app, "/notices");
  await expectHarmless(app, hostileStrings.length);
  await run(app, "/widgets");
  await expectHarmless(app, hostileStrings.length);
  await run(app, "/statuses");
  await expectHarmless(app, 10);
  await run(app, "/fail");
  await expectHarmless(app, 50);
  await run(app, "/extensions");
  await app.sees("c60c");
  await expectHarmless(app, 1);
});

test("titles, dialogs and descriptions of commands of an extension", async () => {
  const app = await openWithExtension(size);
  forget(app);
  await run(app, "/titles");
  const isTitle = (write: string) => write.startsWith("\x1b]0;");
  const getTitles = () => app.terminal.writes.filter(isTitle);
  await expect.poll(() => getTitles().length).toBe(hostileStrings.length);
  expect(getTitles().flatMap((title) => findIntruders(title.slice(4, -2)))).toEqual([]);

  forget(app);
  app.type("/x");
  await app.sees("x0x");
  await seeAll(app, "\x1b[B", 40);
  app.press("escape", "ctrlC");
  app.advance(1_000);

  forget(app);
  await run(app, "/dialogs");
  await expectHarmless(app, 50);
  for (let dialog = 0; dialog < 2; dialog++) {
    app.press("escape");
    // The title is on the screen already.
    await expectHarmless(app, 5);
  }
});

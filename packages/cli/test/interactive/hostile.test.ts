/** Nothing that comes from elsewhere controls the terminal, wherever it is shown. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@tau/harness";
import { call, text, thinking } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { type ModelWorkspace, textReply, toolReply } from "../kit.ts";
import { findIntruders, countSeen, hostileStrings, named } from "./hostile-strings.ts";
import { openApp, type OpenedApp } from "./kit.ts";

const size = { columns: 160, rows: 60 };
const all = named.join("\n\n");
const getBytes = (app: OpenedApp) => app.terminal.writes.join("");

/** So many of the words were drawn, by default all, and nothing that controls a terminal. */
async function expectHarmless(app: OpenedApp, minCount = hostileStrings.length): Promise<void> {
  await expect.poll(() => countSeen(getBytes(app))).toBeGreaterThanOrEqual(minCount);
  expect(findIntruders(getBytes(app))).toEqual([]);
}

/** Forgets what was drawn before. */
const forget = (app: OpenedApp) => app.terminal.writes.splice(0);

/** Goes through a list, page by page: each is drawn before the next one is asked for. */
async function page(app: OpenedApp): Promise<void> {
  while (countSeen(getBytes(app)) < 200) {
    const before = app.terminal.writes.length;
    app.terminal.sendInput("\x1b[6~");
    await expect.poll(() => app.terminal.writes.length).toBeGreaterThan(before);
  }
  expect(findIntruders(getBytes(app))).toEqual([]);
}

async function run(app: OpenedApp, command: string): Promise<void> {
  app.type(command);
  app.press("escape", "enter");
}

/** Makes a text a valid file name. */
const toFileName = (text: string) => Buffer.from(text.replaceAll(/[/\0]/g, "_")).subarray(0, 200);
const samples = [...hostileStrings.keys()].filter((index) => index % 5 === 0);

test("there are at least 200 strings, and the check finds each of them", () => {
  expect(hostileStrings.length).toBeGreaterThanOrEqual(200);
  expect(hostileStrings.filter((string) => findIntruders(`a${string}b`).length === 0)).toEqual([]);
});

test("answers, thinking, names of tools, their output, their errors, and errors of the provider", async () => {
  const app = await openApp(
    [
      {
        kind: "answer",
        answer: {
          content: [
            thinking(all),
            text(all),
            text(`\`\`\`\n${all}\n\`\`\`\n\n| a |\n| - |\n| ${named.join(" |\n| ")} |`),
          ],
        },
      },
      {
        kind: "answer",
        answer: {
          content: [
            ...named.map((name) => call(`tool ${name}`, { path: name })),
            call("bash", { command: "cat hostile.txt" }),
          ],
        },
      },
      textReply("Next."),
      { kind: "status", status: 400, body: JSON.stringify({ error: { message: all } }) },
    ],
    size,
  );
  await writeFile(join(app.directory, "hostile.txt"), named.join("\n"));
  app.terminal.sendInput(`\x1b[200~${all}\x1b[201~`);
  app.press("enter");
  await expectHarmless(app);
  await expect.poll(app.screen).not.toContain("to stop");

  forget(app);
  app.press("ctrlO");
  app.type("tools");
  app.press("enter");
  await app.sees("Next.");
  await expectHarmless(app);

  forget(app);
  app.type("fail");
  app.press("enter");
  await expectHarmless(app, 50);

  forget(app);
  app.type("!cat hostile.txt");
  app.press("enter");
  await expectHarmless(app, 50);
});

test("notices, the queue and the branch", async () => {
  const waiting = toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" });
  const app = await openApp([waiting, textReply("Done."), textReply("Again.")], {
    ...size,
    branch: hostileStrings.join(""),
    message: "wait",
  });
  for (const notice of named) app.notify(notice);
  await expectHarmless(app);
  await app.sees("Running bash");
  forget(app);
  app.terminal.sendInput(`\x1b[200~${named.slice(0, 60).join("\n")}\x1b[201~`);
  app.press("altEnter");
  await app.sees("later:");
  app.type("/queue ");
  app.press("enter");
  await app.sees("Queued messages");
  expect(findIntruders(getBytes(app))).toEqual([]);
  app.press("escape");
  await writeFile(join(app.directory, "go"), "");
  await app.sees("Again.");
  expect(findIntruders(getBytes(app))).toEqual([]);
});

test("models, templates, files and values of settings", async () => {
  const app = await openApp([], {
    ...size,
    settings: { externalEditor: named.join(" ") },
    prepare: async ({ agentDir, directory, server }) => {
      const models = [
        { id: "small", name: "Small" },
        ...named.map((name) => ({ id: name, name, contextWindow: 1000, maxTokens: 100 })),
      ];
      const acme = { baseUrl: server.url, api: "openai-completions", apiKey: "acme-key-0123456789", models };
      await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
      await mkdir(join(agentDir, "prompts"));
      await Promise.all(
        samples.flatMap((index) => {
          const name = toFileName(named[index]!);
          const below = (folder: string) => Buffer.concat([Buffer.from(`${folder}/`), name]);
          const description = JSON.stringify(named[index]);
          return [
            writeFile(below(directory), "x"),
            writeFile(join(agentDir, "prompts", `p${index}p.md`), `---\ndescription: ${description}\n---\nHi`),
          ];
        }),
      );
    },
  });
  await run(app, "/model");
  await app.sees("acme/");
  await page(app);
  app.press("escape");
  await expect.poll(app.screen).toMatch(/─\n\n─/);

  forget(app);
  // Names with bytes below the blank are not offered at all.
  const offered = samples.filter((index) => [...hostileStrings[index]!].every((character) => character >= " "));
  expect(offered.length).toBeGreaterThan(5);
  for (const index of offered) {
    app.type(`@c${index}c`);
    await expect.poll(async () => (await app.screen()).split(`c${index}c`).length).toBeGreaterThan(2);
    app.press("escape", "ctrlC");
    app.advance(1_000);
  }
  expect(findIntruders(getBytes(app))).toEqual([]);

  forget(app);
  app.type("/p");
  await app.sees("p0p");
  for (let count = 0; count < samples.length; count++) {
    const before = app.terminal.writes.length;
    app.press("down");
    await expect.poll(() => app.terminal.writes.length).toBeGreaterThan(before);
  }
  expect(findIntruders(getBytes(app))).toEqual([]);
  app.press("escape", "ctrlC");
  app.advance(1_000);

  forget(app);
  await run(app, "/settings");
  await app.sees("Settings");
  app.type("externalEditor");
  await app.sees("c0c");
  expect(findIntruders(getBytes(app))).toEqual([]);
});

async function addSessions({ agentDir, directory }: ModelWorkspace): Promise<void> {
  for (const name of named) {
    const manager = await SessionManager.create(directory, undefined, { agentDir });
    await manager.appendMessage({ role: "user", content: name, timestamp: 1 });
    await manager.close();
  }
}

test("sessions and their names", async () => {
  const app = await openApp([], { ...size, prepare: addSessions });
  await run(app, "/resume");
  await app.sees("Sessions of this directory");
  await page(app);
  app.press("escape");
  await expect.poll(app.screen).not.toContain("Sessions of this directory");
  forget(app);
  for (const index of samples.filter((_unused, count) => count % 3 === 0)) {
    await app.rename(named[index]!);
    await app.sees(`c${index}c`);
  }
  expect(findIntruders(getBytes(app))).toEqual([]);
});

test("questions of the policy", async () => {
  const short = samples.filter((index) => hostileStrings[index]!.length < 100);
  const path = `/etc/${short.map((index) => named[index]!.replaceAll("\0", "")).join("/")}`;
  const app = await openApp([toolReply("read", { path }), textReply("Done.")], {
    ...size,
    message: "go",
    // The bell that a question rings is not harmful.
    settings: { terminal: { notifications: "off" } },
  });
  await app.sees("Allow this?");
  await expectHarmless(app, short.length);
  app.advance(500);
  app.press("enter");
  await app.sees("Done.");
  expect(findIntruders(getBytes(app))).toEqual([]);
});

test("a question of the policy shows characters that cannot be seen", async () => {
  const path = "/etc/my\u00adfile\u{e0041}\u3164";
  const app = await openApp([toolReply("read", { path }), textReply("Done.")], { ...size, message: "go" });
  await app.sees("Allow this?");
  await app.sees("/etc/my\\u{ad}file\\u{e0041}\\u{3164}");
});

/** Small things that tell a person what is going on, and what is theirs. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { type ModelWorkspace, run, textReply, toolReply } from "../kit.ts";
import { openApp } from "./kit.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const spinner = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

/** A model that sees images. */
async function withImages({ agentDir, directory, server }: ModelWorkspace): Promise<void> {
  const models = [{ id: "small", name: "Small", contextWindow: 64_000, maxTokens: 4_000, input: ["text", "image"] }];
  const acme = { baseUrl: server.url, api: "openai-completions", apiKey: "acme-key-0123456789", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  await writeFile(join(directory, "picture.png"), Buffer.from(png, "base64"));
}

describe("own messages", () => {
  test.each(["none", "16color", "truecolor"] as const)("have a mark before their first line: %s", async (mode) => {
    const app = await openApp([textReply("Hi.")], { mode, settings: { theme: "light" } });
    app.terminal.sendInput("\x1b[200~first\nsecond\x1b[201~");
    app.press("enter");
    await app.sees("Hi.");
    expect(await app.screen()).toMatch(/^› first\n {2}second$/m);
    expect(await app.screen()).not.toMatch(/^› ?Hi/m);
  });

  test("have it with any space at the sides, and with all of a long text", async () => {
    const app = await openApp([textReply("Hi.")], { settings: { outputPad: 0 } });
    app.terminal.sendInput(`\x1b[200~${"word ".repeat(30)}end\x1b[201~`);
    app.press("enter");
    await app.sees("Hi.");
    const own = (await app.screen()).split("\n").filter((line) => line.includes("word"));
    expect(own.map((line) => line.slice(0, 2))).toEqual(["› ", "  "]);
    expect(own.join(" ").match(/word/g)).toHaveLength(30);
  });
});

test("code is drawn without its fences", async () => {
  const app = await openApp([textReply("Run this:\n\n```sh\necho 1\n```\n\nThat is all.")], { message: "how?" });
  await app.sees("That is all.");
  const screen = await app.screen();
  expect(screen).toMatch(/^ Run this:\n\n {3}echo 1\n\n That is all\.$/m);
  expect(screen).not.toContain("```");
});

test("the first screen has one line about keys, if it is one of the first", async () => {
  const hint = "/ for commands · @ for files · ! for the shell · escape stops a run";
  const app = await openApp([], { showsHint: true, columns: 120 });
  await app.sees(hint);
  const later = await openApp([]);
  expect(await later.screen()).not.toContain(hint);
});

test("print mode does not count as a start of the terminal", async () => {
  const { agentDir, directory, server } = await openApp([textReply("Hi.")]);
  await run({ agentDir, directory }, ["-p", "hello"]);
  expect(server.requests).toHaveLength(1);
  expect(await readdir(agentDir)).not.toContain("terminal-state.json");
});

describe("Ctrl-C during a run", () => {
  test("stops it, and a second one leaves", async () => {
    const app = await openApp([toolReply("bash", { command: "sleep 600" })], { message: "go" });
    await app.sees("Running bash");
    app.press("ctrlC");
    await app.sees("Stopped. ctrl+c again leaves tau.");
    await expect.poll(() => app.app.view.live.run).toBeUndefined();
    app.advance(2_000);
    app.press("ctrlC");
    await app.ended;
  });

  test("keeps what is typed, and says that the second one empties the editor", async () => {
    const app = await openApp([toolReply("bash", { command: "sleep 600" })], { message: "go" });
    await app.sees("Running bash");
    app.type("a thought");
    app.press("ctrlC");
    await app.sees("Stopped. ctrl+c again empties the editor.");
    expect(app.app.draft).toBe("a thought");
    app.press("ctrlC");
    await expect.poll(() => app.app.draft).toBe("");
  });

  test("stops a command of the user too", async () => {
    const app = await openApp([]);
    app.type("!sleep 600");
    app.press("enter");
    await app.sees("Running sleep 600");
    app.press("ctrlC");
    await app.sees("(stopped)");
  });
});

test("nothing that moves is left on the screen when the user leaves during a run", async () => {
  const app = await openApp([toolReply("bash", { command: "sleep 600" })], { message: "go" });
  await app.sees("Running bash");
  await app.sees(spinner);
  app.press("ctrlD");
  await app.ended;
  const left = await app.everything();
  expect(left).toContain("● bash sleep 600");
  expect(left).not.toMatch(spinner);
  expect(left).not.toContain("to stop");
});

describe("an image that is not drawn is named once", () => {
  test("in a message of the user, and while that waits", async () => {
    const app = await openApp(
      [toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" }), textReply("Seen.")],
      {
        prepare: withImages,
        message: "begin",
        program: { readClipboardImage: async () => ({ type: "image", data: png, mimeType: "image/png" }) },
      },
    );
    await app.sees("Running bash");
    app.press("ctrlV");
    await app.sees("[image 1]");
    app.type("look");
    app.press("enter");
    await app.sees(/^ next: \[image 1\] look$/m);
    await writeFile(join(app.directory, "go"), "");
    await app.sees("Seen.");
    expect((await app.screen()).match(/image/gi)).toHaveLength(1);
  });

  test("in the result of a tool", async () => {
    const app = await openApp(
      [{ kind: "answer", answer: { content: [call("read", { path: "picture.png" })] } }, textReply("Seen.")],
      { prepare: withImages, message: "look" },
    );
    await app.sees("Seen.");
    expect((await app.screen()).match(/image\/png/g)).toHaveLength(1);
    expect(await app.screen()).not.toContain("1 line");
  });
});

test("/export and /bug write to the agent directory if no path is given", async () => {
  const app = await openApp([textReply("Hi.")], { message: "hello" });
  await app.sees("Hi.");
  const before = await readdir(app.directory);
  for (const command of ["/export", "/bug It hangs."]) {
    app.type(command);
    app.press("escape", "enter");
    await app.sees(command === "/export" ? ".html" : ".bug.json");
  }
  const exports = join(app.agentDir, "exports");
  const names = (await readdir(exports)).toSorted();
  expect(names).toEqual([`tau-session-${app.app.sessionId}.bug.json`, `tau-session-${app.app.sessionId}.html`]);
  expect(await readFile(join(exports, names[1]!), "utf8")).toContain("<!doctype html>");
  expect(await readdir(app.directory)).toEqual(before);
});

test("what is typed into the list of the first start chooses nothing by accident", async () => {
  const app = await openApp([], {
    prepare: async ({ agentDir, server }) => {
      const models = [{ id: "small", name: "small", contextWindow: 64_000, maxTokens: 4_000 }];
      const acme = { baseUrl: server.url, api: "openai-completions", models };
      await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
      await writeFile(join(agentDir, "settings.json"), "{}");
    },
  });
  await app.sees("Which model do you want to use?");
  app.type("acm");
  app.press("enter");
  await app.sees("Enter again chooses acme.");
  expect(await app.screen()).toContain("Which model do you want to use?");
  app.type("x");
  await expect.poll(app.screen).not.toContain("Enter again");
  app.press("enter");
  expect(await app.screen()).toContain("Which model do you want to use?");
  for (let index = 0; index < 4; index++) app.terminal.sendInput("\x7f");
  app.type("acm");
  await app.sees("→ acme");
  app.press("enter", "enter");
  await app.sees("Paste the key for acme");
});

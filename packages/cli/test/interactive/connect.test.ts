/** The first start without a model, `/login` and `/logout`. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ModelWorkspace, textReply } from "../kit.ts";
import { type OpenedApp, openApp } from "./kit.ts";

const key = "typed-key-0123456789";

/** A provider that needs a key, and no settings. */
async function withoutKey({ agentDir, server }: ModelWorkspace): Promise<void> {
  const models = ["small", "large"].map((id) => ({ id, name: id, contextWindow: 64_000, maxTokens: 4_000 }));
  const acme = { baseUrl: server.url, api: "openai-completions", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  await writeFile(join(agentDir, "settings.json"), "{}");
}

const readStored = async ({ agentDir }: ModelWorkspace) =>
  await readFile(join(agentDir, "auth.json"), "utf8").catch(() => "");

function run(app: OpenedApp, command: string): void {
  app.type(command);
  app.press("escape", "enter");
}

describe("the first start without a model", () => {
  test("a key is pasted, is not shown, and the message is answered without a restart", async () => {
    const app = await openApp([textReply("It works.")], { prepare: withoutKey, message: "hello" });
    await app.sees("Which model do you want to use?");
    app.type("acme");
    await app.sees(/→ acme +2 models · with a key/);
    app.press("enter");
    await app.sees("Paste the key for acme. It is not shown.");
    app.terminal.sendInput(`\x1b[200~ ${key}\n\x1b[201~`);
    await app.sees("•••");
    expect(await app.everything()).not.toContain(key);
    app.press("enter");
    await app.sees("It works.");
    await app.sees(/small$/m);
    expect(app.server.requests[0]!.headers["authorization"]).toBe(`Bearer ${key}`);
    expect(await readStored(app)).toContain(key);
  });

  test("what is no key is refused, and the list comes back", async () => {
    const app = await openApp([], { prepare: withoutKey });
    app.type("acme");
    app.press("enter");
    await app.sees("Paste the key for acme");
    app.type("two words");
    app.press("enter");
    await app.sees("The key has spaces");
    await app.sees("Which model do you want to use?");
    expect(await readStored(app)).not.toContain("two words");
  });

  test("Escape leaves it for later, and says how", async () => {
    const app = await openApp([], { prepare: withoutKey });
    await app.sees("Which model do you want to use?");
    app.press("escape");
    await app.sees("/login connects a provider");
    app.type("typing works");
    await app.sees("typing works");
  });

  test("why the model of the settings cannot be used is said, and connecting its provider is enough", async () => {
    const app = await openApp([], {
      prepare: async (workspace) => {
        await withoutKey(workspace);
        await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ defaultModel: "acme/large" }));
      },
    });
    await app.sees("There is no key for acme.");
    app.type("acme");
    app.press("enter");
    await app.sees("Paste the key");
    app.type(key);
    app.press("enter");
    await app.sees("you use acme/large");
  });

  test("a provider with a login of its own offers it, and Escape stops waiting for the browser", async () => {
    const opened: string[] = [];
    const app = await openApp([], {
      prepare: withoutKey,
      program: { openAddress: (url) => void opened.push(url) },
    });
    app.type("anthropic");
    await app.sees(/→ anthropic/);
    app.press("enter");
    await app.sees("How do you want to connect anthropic?");
    app.press("down", "enter");
    await app.sees("Or paste the address of the last page");
    await expect.poll(() => opened).toHaveLength(1);
    expect(new URL(opened[0]!).searchParams.get("code_challenge_method")).toBe("S256");
    await app.sees("To log in to anthropic, open:");
    app.press("escape");
    await app.sees("Which model do you want to use?");
    expect(await readStored(app)).not.toContain("anthropic");
  });

  test("the address can be copied whole, and what the browser shows at the end is pasted", async () => {
    const opened: string[] = [];
    const app = await openApp([], {
      prepare: withoutKey,
      program: { openAddress: (url) => void opened.push(url) },
    });
    app.type("anthropic");
    await app.sees(/→ anthropic/);
    app.press("enter");
    await app.sees("How do you want to connect anthropic?");
    app.press("down", "enter");
    await expect.poll(() => opened).toHaveLength(1);
    await app.sees("ctrl+x copies the address.");
    // Its rows have nothing else in them, and nothing else shows it.
    const rows = (await app.everything()).split("\n").map((row) => row.trimEnd());
    const first = rows.findIndex((row) => row.startsWith("https://"));
    const last = rows.findIndex((row, index) => index >= first && row.length < 80);
    expect(rows.slice(first, last + 1).join("")).toBe(opened[0]);
    expect((await app.everything()).split("code_challenge_method").length).toBe(2);
    app.terminal.sendInput("\x18");
    expect(app.copied).toEqual(opened);
    app.terminal.sendInput("\x1b[200~http://localhost:1/callback?code=abc&state=wrong\x1b[201~");
    await app.sees("> http://localhost:1/callback?code=abc&state=wrong");
    app.press("enter");
    await app.sees("The pasted text belongs to another login.");
    await app.sees("Which model do you want to use?");
  });

  test("the demo plays in a project of its own, and the list comes back", async () => {
    const app = await openApp([], { prepare: withoutKey, rows: 50 });
    app.type("demo");
    await app.sees("→ Look at a demo first");
    app.press("enter");
    await app.sees("total.sh works now: 1 + 2 + 3 = 6.");
    expect(await app.screen()).toContain("the model follows a script");
    await app.sees("That was the demo.");
    const [project] = /\S*tau-demo-\S*/.exec(await app.screen()) ?? [""];
    expect((await stat(project)).isDirectory()).toBe(true);
    app.press("enter");
    await app.sees("Which model do you want to use?");
    await expect.poll(() => stat(project).catch(() => undefined)).toBeUndefined();
    expect(app.server.requests).toEqual([]);
    await app.sees("no model");
  });
});

describe("/login", () => {
  test("stores nothing for a provider that does not exist, and says which do", async () => {
    const app = await openApp([]);
    app.type("/login nosuch");
    app.press("enter");
    await app.sees('There is no provider "nosuch", and nothing was stored. There are:');
    await app.sees("mistral");
    expect(await readStored(app)).toBe("");
  });

  test("connects a provider whose models can be chosen at once, and /logout takes it back", async () => {
    const app = await openApp([]);
    app.type("/login mistral");
    app.press("enter");
    await app.sees("Paste the key for mistral");
    app.type(key);
    app.press("enter");
    await app.sees("mistral is connected. /model chooses one of its models.");
    expect(await readStored(app)).toContain(key);
    run(app, "/model");
    await app.sees("Configured:");
    app.type("devstral-medium-latest");
    await app.sees("→ mistral/devstral-medium-latest");
    app.press("escape");
    run(app, "/logout");
    await app.sees("Log out of which provider?");
    app.type("mistral");
    app.press("enter");
    await app.sees("Removed what was stored for mistral.");
    expect(await readStored(app)).not.toContain(key);
    run(app, "/model");
    await app.sees("Configured:");
    app.type("devstral-medium-latest");
    await expect.poll(app.screen).not.toContain("mistral/devstral");
  });
});

describe("/model", () => {
  test("sets a model that is named exactly", async () => {
    const app = await openApp([]);
    app.type("/model acme/large");
    app.press("enter");
    await app.sees(/large( · \w+)?$/m);
  });

  test("opens the list with what was typed as its search, and says when nothing matches", async () => {
    const app = await openApp([]);
    app.type("/model larg");
    app.press("enter");
    await app.sees(/> larg[\s\S]*→ acme\/large/);
    app.press("escape");
    app.type("/model nosuch");
    app.press("enter");
    await app.sees(/> nosuch[\s\S]*Nothing matches/);
    app.press("escape");
    await app.sees(/small$/m);
  });

  test("finds servers on this machine when it is asked to", async () => {
    const app = await openApp([], {
      prepare: async ({ agentDir, server }) => {
        const file = JSON.parse(await readFile(join(agentDir, "models.json"), "utf8")) as { providers: object };
        const ollama = { baseUrl: `${server.url}/nothing-here` };
        await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { ...file.providers, ollama } }));
      },
    });
    run(app, "/model");
    await app.sees("Configured:");
    app.type("local servers");
    await app.sees("→ Look for local servers");
    app.press("enter");
    await expect.poll(() => app.server.requests.length).toBeGreaterThan(0);
    await app.sees("→ acme/small");
  });
});

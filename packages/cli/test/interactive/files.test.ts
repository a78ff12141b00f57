import { chmod, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Shares } from "@tau/gateway";
import { SessionManager } from "@tau/harness";
import { toPlainText } from "@tau/tui";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseSessionArgs } from "../../src/start/args.ts";
import { Hosts } from "../../src/hosting/hosts.ts";
import { createProgram, readChangelog } from "../../src/terminal/program.ts";
import { createIo, createWorkspace, type ModelWorkspace, temporaryDirectory, textReply } from "../kit.ts";
import { openApp, type OpenedApp, type OpenOptions } from "./kit.ts";

const secret = "acme-key-0123456789";

async function openWithAnswer(options: OpenOptions = {}): Promise<OpenedApp> {
  const app = await openApp([textReply(`Use ${secret} for it.`), textReply("Go on.")], {
    message: "a question",
    ...options,
  });
  await app.sees("for it.");
  return app;
}

const run = (app: OpenedApp, command: string) => {
  app.type(command);
  app.press("escape", "enter");
};

/** A program of this name for the interface, as a shell script. */
async function addProgram({ directory }: ModelWorkspace, name: string, script: string): Promise<void> {
  await mkdir(join(directory, "bin"), { recursive: true });
  await writeFile(join(directory, "bin", name), `#!/bin/sh\n${script}\n`);
  await chmod(join(directory, "bin", name), 0o755);
}

describe("/export", () => {
  test("writes a page, or lines of JSON by the extension", async () => {
    const app = await openWithAnswer();
    run(app, "/export talk.html");
    await app.sees(/Written to .*talk\.html/);
    expect(await readFile(join(app.directory, "talk.html"), "utf8")).toContain("<!doctype html>");
    run(app, "/export talk.jsonl");
    await app.sees(/Written to .*talk\.jsonl/);
    const [header] = (await readFile(join(app.directory, "talk.jsonl"), "utf8")).split("\n");
    expect(JSON.parse(header!)).toMatchObject({ type: "session" });
  });

  test("takes a path in quotes, as completion writes it, and one in the home directory", async () => {
    const app = await openWithAnswer();
    vi.stubEnv("HOME", join(app.directory, "home"));
    onTestFinished(() => void vi.unstubAllEnvs());
    run(app, '/export "my talk.jsonl"');
    run(app, "/export ~/new/talk.html");
    const listFiles = () => readdir(app.directory, { recursive: true });
    await expect.poll(listFiles).toEqual(expect.arrayContaining(["my talk.jsonl", "home/new/talk.html"]));
    run(app, "/new");
    await expect.poll(app.screen).not.toContain("a question");
    run(app, "/import 'my talk.jsonl'");
    await app.sees("a question");
  });
});

test("/import opens a copy of a file, which goes on", async () => {
  const app = await openWithAnswer();
  run(app, "/export talk.jsonl");
  await app.sees("talk.jsonl");
  run(app, "/new");
  await expect.poll(app.screen).not.toContain("a question");
  run(app, "/import talk.jsonl");
  await app.sees("a question");
  app.type("and then?");
  app.press("enter");
  await app.sees("Go on.");
  expect(JSON.stringify(app.server.requests.at(-1)!.body)).toContain("a question");
});

test("/import --keep-directory continues in the directory that the file names, with the same id", async () => {
  let id = "";
  const app = await openWithAnswer({
    rows: 40,
    prepare: async ({ directory, agentDir }) => {
      const elsewhere = join(directory, "elsewhere");
      await mkdir(elsewhere);
      const manager = await SessionManager.create(elsewhere, undefined, { agentDir });
      ({ id } = manager);
      await manager.appendMessage({ role: "user", content: "a far question", timestamp: 1 });
      await manager.close();
      await rename(manager.getSessionFile()!, join(directory, "far talk.jsonl"));
    },
  });
  run(app, "/import --keep-directory 'far talk.jsonl'");
  await app.sees("› a far question");
  run(app, "/session");
  await app.sees(`Session ${id}`);
  run(app, "!pwd");
  await app.sees(/\$ pwd[\s\S]*elsewhere/);
});

test("/session shows what was used, /name gives a name", async () => {
  const app = await openWithAnswer();
  run(app, "/name Spring cleaning");
  await app.sees(/\(main\) Spring cleaning/);
  run(app, "/name");
  await app.sees("Name: Spring cleaning");
  run(app, "/session");
  await app.sees("Messages: 1 from you, 1 answer, 0 tool calls");
});

describe("/share", () => {
  test("without gh says so", async () => {
    const app = await openWithAnswer({ env: { PATH: "/nowhere" } });
    run(app, "/share");
    await app.sees("needs GitHub's program gh");
  });

  test("says what leaves, asks, and makes a gist without secrets", async () => {
    const script = `[ "$1" = auth ] && exit 0\necho "$*" > "$HOME/gh-arguments"\ncp "$3" "$HOME/shared.html"\necho https://gist.example/1`;
    let path = "";
    const app = await openWithAnswer({
      columns: 200,
      env: {
        get PATH() {
          return path;
        },
      },
      prepare: async (workspace) => {
        await addProgram(workspace, "gh", script);
        path = `${join(workspace.directory, "bin")}:${process.env["PATH"]}`;
      },
    });
    run(app, "/share");
    await app.sees("Share this session?");
    await app.sees("1 messages of yours, 1 answers and 0 results of tools");
    app.press("enter");
    await expect.poll(app.screen).not.toContain("Share this session?");
    expect(await readdir(app.directory)).not.toContain("shared.html");
    run(app, "/share");
    await app.sees("Make a secret gist");
    app.press("down", "enter");
    await app.sees("Shared: https://gist.example/1");
    const page = await readFile(join(app.directory, "shared.html"), "utf8");
    expect(page).toContain("a question");
    expect(page).not.toContain(secret);
    expect(await readFile(join(app.directory, "gh-arguments"), "utf8")).toMatch(/^gist create \S+session\.html\n$/);
  });
});

describe("/share file and /share link", () => {
  test("write what was chosen into one page, without secrets", async () => {
    const app = await openWithAnswer();
    run(app, "/share file my page.html");
    await app.sees("What should be in the page?");
    app.press("enter");
    await app.sees(/Written to .*my page\.html/);
    const page = await readFile(join(app.directory, "my page.html"), "utf8");
    expect(page).toContain("a question");
    expect(page).not.toContain(secret);
    run(app, "/share somewhere");
    await app.sees("/share file [PATH], or /share link");
  });

  test("a link is made only where the setting allows it, and opens what was chosen", async () => {
    const off = await openWithAnswer({ columns: 200 });
    run(off, "/share link");
    await off.sees("tau config set gateway.shares true");
    const app = await openWithAnswer({
      columns: 200,
      prepare: async ({ agentDir }) => {
        const settings = { defaultModel: "acme/small", gateway: { shares: true } };
        await writeFile(join(agentDir, "settings.json"), JSON.stringify(settings));
      },
    });
    run(app, "/share link");
    await app.sees("Whoever has the link can read all branches for 7 days.");
    app.press("enter");
    await app.sees(/Shared: http:\/\/127\.0\.0\.1:7433\/share\/[\w-]{43}/);
    const [, token] = /\/share\/([\w-]{43})/.exec(await app.screen())!;
    const page = (await new Shares({ agentDir: app.agentDir }).open(token!))!.toString();
    expect(page).toContain("a question");
    expect(page).not.toContain(secret);
  });
});

test("/bug writes a file without secrets", async () => {
  const app = await openWithAnswer();
  run(app, "/bug It hangs.");
  await app.sees("Nothing was sent");
  const exports = join(app.agentDir, "exports");
  const name = (await readdir(exports)).find((file) => file.endsWith(".bug.json"))!;
  const text = await readFile(join(exports, name), "utf8");
  expect(JSON.parse(text)).toMatchObject({ description: "It hangs.", version: "1.2.3" });
  expect(text).toContain("a question");
  expect(text).not.toContain(secret);
});

test("/changelog shows the file beside the program", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "tau.cjs"), "");
  expect(await readChangelog(join(directory, "tau.cjs"))).toBeUndefined();
  await writeFile(join(directory, "CHANGELOG.md"), "# Changes\n\n- Something **new**\n  in two lines\n");
  const app = await openApp([], { program: { readChangelog: () => readChangelog(join(directory, "tau.cjs")) } });
  run(app, "/changelog");
  await app.sees("- Something new in two lines");
  expect(await app.screen()).toContain("\n Changes\n");
});

test("/doctor shows what the checks say", async () => {
  const app = await openApp([], { rows: 60 });
  run(app, "/doctor");
  await app.sees(/CHECK +STATUS +RESULT/);
});

test("/doctor checks the terminal that the interface is on", async () => {
  const workspace = await createWorkspace();
  const env = { TERM: "xterm-256color", LANG: "C.UTF-8" };
  const { io } = createIo(workspace, { terminal: { input: true, out: true, err: true }, env });
  const parsed = parseSessionArgs([]);
  if (parsed.kind !== "session") throw new Error("These are no arguments of a session.");
  const program = createProgram({ ...io, colour: true, columns: 40 }, new Hosts(parsed.options, io));
  const text = toPlainText(await program.runDoctor(workspace.directory));
  expect(text).toMatch(/^CHECK +STATUS +RESULT *\nnode +ok +\d/);
  expect(text).toMatch(/terminal +ok +xterm-256color, colours, C\.UTF-8/);
  // The interface breaks long lines.
  expect(text).toContain("not contacted without --network");
  expect(text).not.toContain("checking");
});

describe("/debug", () => {
  const path = (app: OpenedApp) => join(app.agentDir, "tau-debug.log");

  test("writes the lines of the terminal with their widths, and the messages, for the user alone and without keys", async () => {
    const app = await openWithAnswer();
    await expect.poll(() => app.app.view.live.run).toBeUndefined();
    run(app, "/debug");
    await app.sees("tau-debug.log. It has prompts");
    const text = await readFile(path(app), "utf8");
    expect((await stat(path(app))).mode & 0o777).toBe(0o600);
    const [head, size, , title, first] = text.split("\n");
    expect(head).toMatch(/^tau 1\.2\.3, \d{4}-\d\d-\d\dT/);
    expect(size).toMatch(/^The terminal has \d+ columns and \d+ rows\.$/);
    expect(title).toMatch(/^Lines: \d+, /);
    expect(first).toMatch(/^1 \d+ "/);
    const lines = text.split("\n").filter((line) => /^\d+ \d+ "/.test(line));
    expect(toPlainText(lines.map((line) => JSON.parse(line.replace(/^\d+ \d+ /, ""))).join("\n"))).toContain(
      "a question",
    );
    const messages = text.slice(text.indexOf("Messages: ")).trimEnd().split("\n").slice(1);
    expect(messages.map((line) => (JSON.parse(line) as { role: string }).role)).toEqual(["user", "assistant"]);
    expect(text).not.toContain(secret);
  });

  test("replaces the file of the last time", async () => {
    const app = await openApp([]);
    await writeFile(path(app), "old");
    run(app, "/debug");
    await app.sees("Written to");
    expect(await readFile(path(app), "utf8")).toMatch(/^tau /);
    expect(await readFile(path(app), "utf8")).not.toContain("old");
  });
});

describe("Tab", () => {
  const prepare = async ({ directory }: ModelWorkspace) => {
    await mkdir(join(directory, "src"));
    for (const name of ["main.ts", "make.ts", "other.ts"]) await writeFile(join(directory, "src", name), "");
  };

  test("completes the path that the word before the cursor begins", async () => {
    const app = await openApp([], { prepare });
    app.type("look at sr");
    app.press("tab");
    await app.sees("look at src/");
    app.type("ma");
    app.press("tab");
    await app.sees("src/make.ts");
    expect(await app.screen()).not.toContain("other.ts");
    app.type("k");
    await expect.poll(app.screen).not.toContain("main.ts");
    app.press("tab");
    await expect.poll(() => app.drafts.at(-1)).toBe("look at src/make.ts ");
  });

  test("changes nothing where no path begins so", async () => {
    const app = await openApp([], { prepare });
    app.type("hello");
    app.press("tab");
    app.type(" there");
    await app.sees("hello there");
  });
});

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text, thinking, type WireReply } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { type ModelWorkspace, textReply, toolReply } from "../kit.ts";
import { openApp, type OpenOptions } from "./kit.ts";

const reply = (...content: ReturnType<typeof text | typeof call | typeof thinking>[]): WireReply => ({
  kind: "answer",
  answer: { content },
});

describe("a conversation", () => {
  test("shows what the user wrote, the thinking, the calls with their output, and the answer as Markdown", async () => {
    const app = await openApp([
      reply(thinking("First a look."), text("I look."), call("bash", { command: "echo from the shell" })),
      textReply("It is **done**:\n\n- one\n- two"),
    ]);
    app.type("Please do it");
    app.press("enter");
    await app.sees("two");
    const screen = await app.screen();
    const order = [
      "Please do it",
      "First a look.",
      "I look.",
      "● bash echo from the shell",
      "from the shell",
      "It is done:",
      "- one",
    ];
    expect(order.map((part) => screen.indexOf(part)).every((at) => at !== -1)).toBe(true);
    expect(screen).toContain("small");
    expect(screen).not.toContain("Working");
  });

  test("prints every line of a long one exactly once, in order", async () => {
    const numbered = (start: number) => Array.from({ length: 40 }, (_unused, index) => `line ${start + index}`);
    const app = await openApp([textReply(numbered(100).join("\n\n")), textReply(numbered(200).join("\n\n"))], {
      rows: 12,
    });
    for (const [index, word] of ["first", "second"].entries()) {
      app.type(word);
      app.press("enter");
      await app.sees(`line ${(index + 1) * 100 + 39}`);
    }
    const lines = (await app.everything()).split("\n").filter((line) => /^ line \d+$/.test(line));
    expect(lines).toEqual([...numbered(100), ...numbered(200)].map((line) => ` ${line}`));
  });

  test("a message on the command line is sent at once", async () => {
    const app = await openApp([textReply("Hello to you.")], { message: "Hello" });
    await app.sees("Hello to you.");
  });

  test("an error of the provider is shown, and the next message works", async () => {
    const app = await openApp([
      { kind: "status", status: 400, body: '{"error":{"message":"that was wrong"}}' },
      textReply("Better."),
    ]);
    app.type("one");
    app.press("enter");
    await app.sees("that was wrong");
    app.type("two");
    app.press("enter");
    await app.sees("Better.");
  });

  test("a message that cannot be sent comes back to the editor", async () => {
    const prepare = async ({ agentDir }: { agentDir: string }) => {
      await rm(join(agentDir, "models.json"));
    };
    const app = await openApp([], { prepare });
    await app.sees("Which model do you want to use?");
    app.press("escape");
    app.type("a long thought");
    app.press("enter");
    await app.sees("No model can be used yet");
    await app.sees(/─\na long thought\n─/);
  });

  test("each line of a long answer is there once when it has ended", async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `Line ${index} of it.`);
    const app = await openApp([textReply(lines.join("\n\n"))]);
    app.type("go");
    app.press("enter");
    await app.sees("Line 59 of it.");
    await expect.poll(app.screen).not.toContain("to stop");
    const shown = (await app.everything()).match(/Line \d+ of it\./g);
    expect(shown).toEqual(lines);
  });

  test("a written file is shown with its first lines, a replaced one with what changed, and all of it with a key", async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `export const name${index + 1} = ${index + 1};`);
    const write = (id: string, content: readonly string[]) =>
      reply(call("write", { path: "names.ts", content: `${content.join("\n")}\n` }, id));
    const app = await openApp([write("a", lines), write("b", lines.with(14, "// Gone.")), textReply("Written.")], {
      mode: "truecolor",
      rows: 60,
    });
    app.type("go");
    app.press("enter");
    await app.sees("Written.");
    const screen = await app.screen();
    expect(screen).toContain("● write names.ts (new)\n    1 export const name1 = 1;");
    expect(screen).toContain("   10 export const name10 = 10;\n   … 20 more lines (ctrl+o)");
    expect(screen).toContain("● write names.ts\n   12   export const name12 = 12;");
    expect(screen).toContain("   15 - export const name15 = 15;\n   15 + // Gone.\n   16   export");
    expect(screen).not.toMatch(/^ *(?:@@|---|\+\+\+)/m);
    // Words of the language are in another color than names.
    await expect.poll(() => app.terminal.writes.join("")).toContain("export const\x1b[39m name1");
    app.press("ctrlO");
    await app.sees("   30 export const name30 = 30;");
  });

  test("no control byte of a model, a tool or a file reaches the terminal", async () => {
    const hostile = "\x1b]52;c;aGk=\x07\x1b]0;title\x07\x9b31m\x1b[2J";
    const app = await openApp([
      reply(text(`Look ${hostile} here`), call("bash", { command: `printf '\\033]52;c;aGk=\\007\\033[2Jafter'` })),
      textReply("The end."),
    ]);
    app.type("go");
    app.press("enter");
    await app.sees("The end.");
    const bytes = app.terminal.writes.join("");
    for (const escape of ["\x1b]52", "\x1b]0;title", "\x9b", "\x1b[2J"]) expect(bytes).not.toContain(escape);
    expect(await app.screen()).toContain("after");
  });

  test("no style or link in the name of a tool or in an error reaches the terminal", async () => {
    const hostile = "\x1b[35mstyled\x1b]8;;http://evil.example\x07link";
    const app = await openApp([
      reply(call(`tool${hostile}`)),
      { kind: "status", status: 400, body: JSON.stringify({ error: { message: hostile } }) },
    ]);
    app.type("go");
    app.press("enter");
    await app.sees(/Error: .*styledlink/);
    await app.sees("● toolstyledlink");
    const bytes = app.terminal.writes.join("");
    for (const escape of ["\x1b[35", "\x1b]8;;http://evil"]) expect(bytes).not.toContain(escape);
  });

  test("shows every notice, also after more than the view keeps", async () => {
    const app = await openApp([], { rows: 60 });
    for (let index = 0; index < 30; index++) app.notify(`notice ${index}.`);
    await app.sees("notice 29.");
    const screen = await app.screen();
    for (let index = 0; index < 30; index++) expect(screen.split(`notice ${index}.`)).toHaveLength(2);
  });
});

describe("keys", () => {
  test("messages that are sent at once are all taken, in their order", async () => {
    const app = await openApp([textReply("First."), textReply("Second."), textReply("Third.")]);
    for (const message of ["one", "two", "three"]) {
      app.type(message);
      app.press("enter");
    }
    await app.sees(/First\.[\s\S]*(?:Second|Third)\./);
    await expect.poll(() => JSON.stringify(app.server.requests.at(-1)?.body)).toMatch(/one.*two.*three/);
    expect(await app.screen()).not.toContain("in progress");
  });

  test("what is sent in the moment before Escape comes back too", async () => {
    const app = await openApp([toolReply("bash", { command: "sleep 30" }), textReply("never")]);
    app.type("begin");
    app.press("enter");
    await app.sees("Running bash");
    app.type("at once");
    app.press("enter", "escape");
    await expect.poll(app.screen).not.toContain("Running bash");
    await app.sees(/─\nat once\n─/);
    expect(await app.screen()).not.toContain("next:");
  });

  test("Enter runs the command that is selected in the list of suggestions", async () => {
    const app = await openApp([]);
    app.type("/hot");
    await app.sees("hotkeys");
    app.press("enter");
    await expect.poll(app.everything).toContain("Take queued messages back");
  });

  test("Escape stops the run, and what was queued comes back to the editor", async () => {
    const app = await openApp([toolReply("bash", { command: "sleep 30" }), textReply("never")]);
    app.type("begin");
    app.press("enter");
    await app.sees("Running bash");
    app.type("and then this");
    app.press("enter");
    await app.sees("next: and then this");
    app.press("escape");
    await expect.poll(app.screen).not.toContain("Running bash");
    await app.sees("and then this");
    expect(await app.screen()).not.toContain("next:");
  });

  test("what was pasted stays when queued messages come back before it", async () => {
    const app = await openApp([toolReply("bash", { command: "sleep 600" }), textReply("Read.")], { message: "begin" });
    await app.sees("Running bash");
    app.type("and then this");
    app.press("enter");
    await app.sees("next: and then this");
    const lines = Array.from({ length: 30 }, (_unused, index) => `at frame ${index}`);
    app.terminal.sendInput(`\x1b[200~${lines.join("\n")}\x1b[201~`);
    await app.sees("[paste #1 +30 lines]");
    app.press("escape");
    await expect.poll(app.screen).not.toContain("Running bash");
    await expect.poll(app.screen).not.toContain("[paste #1");
    app.press("enter");
    await app.sees("Read.");
    expect(JSON.stringify(app.server.requests.at(-1)!.body)).toMatch(/and then this.*at frame 0.*at frame 29/);
  });

  test("Ctrl-C clears the editor, twice leaves; Ctrl-D leaves if it is empty", async () => {
    const app = await openApp([]);
    app.type("a draft");
    await app.sees("a draft");
    app.press("ctrlD");
    app.press("ctrlC");
    await expect.poll(app.screen).not.toContain("a draft");
    app.advance(1_000);
    app.press("ctrlC");
    app.press("ctrlC");
    expect(await app.ended).toMatchObject({ draft: "" });
  });

  test("Ctrl-O shows the whole output of tools, and folds it again", async () => {
    const app = await openApp([toolReply("bash", { command: "seq 1 30" }), textReply("Counted.")], { rows: 50 });
    app.type("count");
    app.press("enter");
    await app.sees("Counted.");
    expect(await app.screen()).toContain("… 24 more lines");
    app.press("ctrlO");
    await app.sees(/\n {3}2\n {3}3\n/);
    app.press("ctrlO");
    await app.sees("… 24 more lines");
  });

  test("Shift-Tab changes the thinking level", async () => {
    const app = await openApp([], { args: ["--model", "acme/large"] });
    await app.sees("large · medium");
    app.press("shiftTab");
    await app.sees("large · high");
  });

  test("Ctrl-S keeps the thinking level for new sessions", async () => {
    let agentDir = "";
    const prepare = async (workspace: ModelWorkspace) => void ({ agentDir } = workspace);
    const app = await openApp([], { args: ["--model", "acme/large"], prepare });
    await app.sees("large · medium");
    app.press("shiftTab");
    await app.sees("large · high");
    app.press("ctrlS");
    await app.sees("New sessions start with the thinking level high.");
    const settings = await readFile(join(agentDir, "settings.json"), "utf8");
    expect(JSON.parse(settings)).toMatchObject({ defaultThinkingLevel: "high" });
  });
});

describe("a question of the policy", () => {
  const open = async (options: OpenOptions = {}) => {
    const app = await openApp([toolReply("read", { path: "/etc/hostname" }), textReply("Thank you.")], options);
    app.type("read it");
    app.press("enter");
    await app.sees("Allow this?");
    return app;
  };

  test("shows the path and the reason, and takes no key in the first moment", async () => {
    const app = await open();
    expect(await app.screen()).toMatch(/\/etc\/hostname[\s\S]*outside the workspace/);
    app.press("down", "down", "enter");
    await app.sees("Allow this?");
    app.advance(500);
    app.press("down", "down", "enter");
    await app.sees("Thank you.");
    expect(JSON.stringify(app.server.requests.at(-1)!.body)).not.toContain("did not allow");
  });

  test("takes no click in the first moment", async () => {
    const app = await open({ settings: { tuiMode: "fullscreen" } });
    const click = async () => {
      const row = (await app.screen()).split("\n").findIndex((line) => line.includes("Yes, this once"));
      for (const end of ["M", "m"]) app.terminal.sendInput(`\x1b[<0;5;${row + 1}${end}`);
    };
    await click();
    await app.sees("Allow this?");
    expect(app.server.requests).toHaveLength(1);
    app.advance(500);
    await click();
    await app.sees("Thank you.");
    expect(JSON.stringify(app.server.requests.at(-1)!.body)).not.toContain("did not allow");
  });

  test("is not allowed by Enter alone", async () => {
    const app = await open();
    app.advance(500);
    app.press("enter");
    await app.sees("Thank you.");
    expect(JSON.stringify(app.server.requests.at(-1)!.body)).toContain("did not allow");
  });

  test.each([
    ["y", false],
    ["1", false],
    ["n", true],
  ])("is answered by the key %s", async (key, isDenied) => {
    const app = await open();
    app.advance(500);
    app.type(key);
    await app.sees("Thank you.");
    expect(JSON.stringify(app.server.requests.at(-1)!.body).includes("did not allow")).toBe(isDenied);
  });

  test("is not answered by letters of a text that is being typed", async () => {
    const app = await open();
    app.advance(500);
    app.type("x");
    app.type("y1");
    await app.sees("Allow this?");
    expect(app.server.requests).toHaveLength(1);
    app.advance(500);
    app.type("y");
    await app.sees("Thank you.");
  });

  test("names the choices in words, each once, and none of them twice", async () => {
    const app = await open({ columns: 120, rows: 40 });
    const lines = (await app.screen()).split("\n").map((line) => line.trim());
    const labels = lines.flatMap((line) => /^(?:→ )?([ntl1-9] {2}.*)$/.exec(line)?.[1] ?? []);
    expect(labels).toEqual([
      "n  No",
      "t  No, and tell the model why",
      "1  Yes, this once",
      "2  Yes, for this session: read /etc/hostname",
      "3  Yes, for this session: read everything in /etc",
      "4  Always in this project: read /etc/hostname",
      "5  Always in this project: read everything in /etc",
      "6  Always, in every project: read /etc/hostname",
      expect.stringMatching(/^l {2}Answer later/),
    ]);
  });

  test("is a reason to stop the run with Escape, which says so", async () => {
    const app = await open();
    app.advance(500);
    app.press("escape");
    await app.sees("The run was stopped, and the call that was asked about was not made.");
    await expect.poll(app.screen).not.toContain("Allow this?");
    await expect.poll(() => app.app.view.live.run).toBeUndefined();
    expect(app.server.requests).toHaveLength(1);
  });

  test("waits as long as the terminal is there, and says how long it waits where a setting limits that", async () => {
    const app = await open();
    expect(app.app.view.live.approvals[0]).not.toHaveProperty("expiresAt");
    expect(await app.screen()).not.toContain(" left");
    const limited = await open({ settings: { approvals: { timeoutMs: 600_000 } } });
    await limited.sees(/Allow this\? \((?:10:00|9:5\d) left, escape stops the run\)/);
  });

  test("can be answered with no and a word to the model", async () => {
    const app = await open();
    app.advance(500);
    app.press("down", "enter");
    await app.sees("No, because:");
    app.type("look elsewhere");
    app.press("enter");
    await app.sees("Thank you.");
    expect(JSON.stringify(app.server.requests.at(-1)!.body)).toContain("look elsewhere");
  });
});

describe("commands", () => {
  test("/ completes them, and one of another agent names ours", async () => {
    const app = await openApp([]);
    app.type("/mod");
    await app.sees("Choose a model");
    app.press("escape", "ctrlC");
    app.type("/upgrade");
    app.press("escape", "enter");
    await app.sees("There is no command /upgrade here. In a shell: tau update --self");
  });

  test("a word that is no command is not sent, and comes back to be changed", async () => {
    const app = await openApp([]);
    app.type("/whatever");
    app.press("escape", "enter");
    await app.sees("There is no command /whatever here. /help shows those that there are.");
    app.press("escape");
    await expect.poll(app.screen).not.toContain("Send as a message");
    await app.sees(/^\/whatever$/m);
    expect(app.server.requests).toEqual([]);
  });

  test("a word that is no command is sent if the user says so", async () => {
    const app = await openApp([textReply("What is it?")]);
    app.type("/whatever");
    app.press("escape", "enter");
    await app.sees("Send as a message");
    app.press("down", "enter");
    await app.sees("What is it?");
    expect(JSON.stringify(app.server.requests[0]!.body)).toContain("/whatever");
  });

  test("a command of another agent names the one to use, and Enter runs it", async () => {
    const app = await openApp([]);
    app.type("/cost");
    app.press("escape", "enter");
    await app.sees("There is no command /cost here. Use /session.");
    app.press("enter");
    await app.sees(/^ Cost: \$0/m);
    expect(app.server.requests).toEqual([]);
  });

  test.each(["/etc/hosts", "/unknown word of a text", "/usr"])("%s is sent if it is a path or a text", async (text) => {
    const app = await openApp([textReply("I see.")]);
    app.type(text);
    app.press("escape", "enter");
    await app.sees("I see.");
    expect(JSON.stringify(app.server.requests[0]!.body)).toContain(text);
  });

  test("a template of the session is a command", async () => {
    const app = await openApp([textReply("Reviewed.")], {
      prepare: async ({ agentDir }) => {
        await mkdir(join(agentDir, "prompts"));
        await writeFile(join(agentDir, "prompts", "review.md"), "Look at everything.");
      },
    });
    app.type("/review");
    app.press("escape", "enter");
    await app.sees("Reviewed.");
    expect(JSON.stringify(app.server.requests[0]!.body)).toContain("Look at everything.");
  });

  test("/model chooses one, also by typing a part of its name", async () => {
    const app = await openApp([textReply("I am large.")]);
    app.type("/model");
    app.press("escape", "enter");
    await app.sees("acme/large");
    app.type("larg");
    app.press("enter");
    await app.sees(/large · \w+$/m);
    app.type("who?");
    app.press("enter");
    await app.sees("I am large.");
    expect(app.server.requests.at(-1)!.body).toMatchObject({ model: "large" });
  });

  test("!command runs a command and tells the model, !!command does not", async () => {
    const app = await openApp([textReply("Seen.")]);
    app.type("!echo one-for-the-model");
    app.press("enter");
    await app.sees(/\$ echo one-for-the-model[\s\S]*\n one-for-the-model/);
    await expect.poll(app.screen).not.toContain("Running");
    app.type("!!echo not-for-the-model");
    app.press("enter");
    await app.sees(/\n not-for-the-model/);
    app.type("go");
    app.press("enter");
    await app.sees("Seen.");
    const sent = JSON.stringify(app.server.requests.at(-1)!.body);
    expect(sent).toContain("one-for-the-model");
    expect(sent).not.toContain("not-for-the-model");
  });

  test("@ completes files of the working directory", async () => {
    const app = await openApp([]);
    await writeFile(join(app.directory, "needle.txt"), "x");
    app.type("look at @nee");
    await app.sees("needle.txt");
    app.press("tab");
    await app.sees("look at @needle.txt");
  });

  test("/fork begins a new session before a message, whose text is in the editor", async () => {
    const app = await openApp([textReply("First answer."), textReply("Second answer."), textReply("Another.")]);
    for (const [word, answer] of [
      ["first question", "First answer."],
      ["second question", "Second answer."],
    ] as const) {
      app.type(word);
      app.press("enter");
      await app.sees(answer);
    }
    app.type("/fork");
    app.press("escape", "enter");
    await app.sees("Fork before which message?");
    app.press("enter");
    await expect.poll(app.screen).toMatch(/First answer\.[\s\S]*─\n ?second question/);
  });
});

describe("the screen", () => {
  test.each([
    [40, 10],
    [300, 100],
  ])("of %i columns and %i rows has no line that is too wide", async (columns, rows) => {
    const app = await openApp([textReply("日本語 ".repeat(100))], { columns, rows });
    app.type("wide");
    app.press("enter");
    await expect.poll(() => app.server.requests.length).toBe(1);
    await app.sees("日本語");
    for (const line of await app.terminal.getViewport()) expect(line.length).toBeLessThanOrEqual(columns);
  });

  test("is right after a resize while the answer arrives", async () => {
    const app = await openApp([textReply(Array.from({ length: 60 }, (_unused, index) => `row ${index}`).join("\n\n"))]);
    app.type("go");
    app.press("enter");
    await app.terminal.resize(60, 18);
    await app.sees("row 59");
    await app.terminal.resize(100, 30);
    await app.sees("row 59");
    const rows = (await app.screen()).split("\n").filter((line) => /^ row \d+$/.test(line));
    expect(rows).toEqual(rows.toSorted((a, b) => Number(a.slice(5)) - Number(b.slice(5))));
  });
});

test("a message of 1 MB is folded with its size, and Ctrl-O shows it", async () => {
  const app = await openApp([textReply("Long.")], { rows: 40 });
  const lines = Array.from({ length: 15_000 }, (_unused, index) => `line ${index} ${"x".repeat(60)}`);
  app.terminal.sendInput(`\x1b[200~${lines.join("\n")}\x1b[201~`);
  await app.sees("[paste #1");
  app.press("enter");
  await app.sees("Long.");
  await app.sees(/line 0 x+/);
  await app.sees(/… 1\.\d MB in all; ctrl\+o shows it/);
  expect(await app.everything()).not.toContain("line 20 ");
  app.press("ctrlO");
  await app.sees(/line 14999 x+/);
});

test.each([6, 8])("on a screen of %i rows what is typed and what is selected are visible", async (rows) => {
  const app = await openApp([], { columns: 40, rows });
  app.type("/mo");
  await app.sees(/^\/mo\n─+\n→ model/m);
  app.press("enter");
  await app.sees(/Model\n> *\n→ acme\/small/);
  app.type("large");
  await app.sees(/> large\n→ acme\/large/);
  app.press("escape");
  await app.sees(/─\n\n─/);
  for (const line of ["first", "\n", "second", "\n", "third", "\n", "fourth", "\n", "fifth"]) app.type(line);
  await app.sees("fifth");
  app.press("up", "up", "up", "up");
  await app.sees("first");
  app.press("ctrlC");
  app.type("/resume ");
  app.press("enter");
  await app.sees(/Sessions of this directory\n> .*\n {2}No sessions/);
});

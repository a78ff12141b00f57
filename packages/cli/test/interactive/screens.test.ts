/** The main views as text, for a person to look at: `screens/*.txt`. After a deliberate change: delete them and run this file. */
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text, thinking } from "@tau/ai/testing";
import { SessionManager } from "@tau/harness";
import type { SettingsInput } from "@tau/config/settings";
import { expect, test } from "vitest";
import { writeExtension } from "../extension-kit.ts";
import { type ModelWorkspace, textReply, toolReply } from "../kit.ts";
import { openApp, type OpenedApp, type OpenOptions } from "./kit.ts";

const answer = [
  "Here is the **plan**:",
  "1. Read the file\n2. Change it\n   - carefully",
  "```ts\nconst answer: number = 42;\nconsole.log(answer);\n```",
  "| name | meaning |\n| --- | --- |\n| τ | tau |\n| 日本 | Japan |",
  "> A quote with a [link](https://example.com).",
].join("\n\n");

/** Without what differs from run to run. */
async function draw(app: OpenedApp): Promise<string> {
  const screen = (await app.screen()).replace(app.directory, "/project");
  return `${screen.replace(/^ [⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] (.*?)(?: \d+ s)?(?= \(|$)/m, " * $1").trimEnd()}\n`;
}

/** An extension with a tool for each view of code. */
const codeTools = `
  const excerpt = { firstLine: 11, lines: ["const a = 1;", "const width: number = label;", "export { width };"] };
  const place = { path: "src/a.ts", line: 12, column: 7, excerpt };
  const tools = {
    diagnose: { shows: "places", text: "1 error", details: { places: [
      { ...place, severity: "error", message: "Type 'string' is not assignable to type 'number'.", source: "ts 2322" },
      { path: "src/b.ts", line: 3, severity: "warning", message: "'left' is never used.", source: "ts 6133" },
      { path: "src/b.ts", line: 30, name: "createTable", kind: "function" },
    ] } },
    debug: { shows: "step", text: "stopped", details: { stop: {
      reason: "breakpoint",
      place,
      frames: [{ name: "layOut", place }, { name: "main", place: { path: "src/main.ts", line: 4 } }],
      variables: [{ name: "label", value: '"42"', type: "string" }, { name: "a", value: "1" }],
      output: "starting\\nlaying out\\n",
    } } },
    run: { shows: "cell", text: "1\\n2\\n3", details: { result: "6" } },
  };
  for (const [name, { shows, text, details }] of Object.entries(tools)) {
    tau.registerTool({
      name, label: name, description: name, shows, readOnly: true, parameters: { type: "object", properties: {} },
      execute: async () => ({ content: [{ type: "text", text }], details }),
    });
  }
`;

/** Shows the results of these tools. */
const codeViews = {
  replies: [
    toolReply("diagnose", { path: "src/a.ts" }),
    toolReply("debug", {}),
    toolReply("run", { language: "python", code: "for i in range(1, 4):\n    print(i)\nsum(range(4))" }),
    textReply("That is all of it."),
  ],
  options: {
    prepare: async (workspace: ModelWorkspace) => void (await writeExtension(workspace, "code", codeTools)),
  },
  act: async (app: OpenedApp) => {
    app.type("Look at the code");
    app.press("enter");
    await app.sees("That is all of it.");
  },
};

const views: Record<
  string,
  { replies: Parameters<typeof openApp>[0]; options?: OpenOptions; act: (app: OpenedApp) => Promise<void> }
> = {
  "first-screen": { replies: [], act: async () => {} },
  conversation: {
    replies: [
      {
        kind: "answer",
        answer: {
          content: [thinking("First a look."), text("I look."), call("bash", { command: "printf 'one\\ntwo\\n'" })],
        },
      },
      textReply(answer),
    ],
    act: async (app) => {
      app.type("Please do it");
      app.press("enter");
      await app.sees("A quote");
    },
  },
  "code-views": codeViews,
  "code-views-expanded": {
    ...codeViews,
    act: async (app) => {
      await codeViews.act(app);
      app.press("ctrlO");
      await app.sees("Stack");
    },
  },
  "code-views-narrow": { ...codeViews, options: { ...codeViews.options, columns: 30, rows: 50 } },
  approval: {
    replies: [toolReply("read", { path: "/etc/hostname" }), textReply("Thank you.")],
    act: async (app) => {
      app.type("read it");
      app.press("enter");
      await app.sees("Waiting for your answer");
      await app.sees("Answer later");
      await app.sees("↑10 ↓5");
    },
  },
  help: {
    replies: [],
    options: { rows: 51 },
    act: async (app) => {
      app.type("/help");
      app.press("escape", "enter");
      await app.sees("Show all commands");
    },
  },
  "model-picker": {
    replies: [],
    act: async (app) => {
      app.type("/model ");
      app.press("enter");
      await app.sees("acme/large");
    },
  },
  queued: {
    replies: [toolReply("bash", { command: "echo $((6 * 7)) tests; sleep 60" })],
    act: async (app) => {
      app.type("Run the tests, and mend what fails.");
      app.press("enter");
      // Before it has begun, a stop is told in other words.
      await app.sees("42 tests");
      app.type("Only those of the parser.");
      app.press("enter");
      await app.sees("Only those of the parser.");
      app.type("Then write the changelog.");
      app.press("altEnter");
      await app.sees("Then write the changelog.");
      await app.sees("↑10 ↓5");
    },
  },
  stopped: {
    replies: [toolReply("bash", { command: "echo $((6 * 7)) tests; sleep 60" })],
    act: async (app) => {
      app.type("Run the tests, and mend what fails.");
      app.press("enter");
      // Before it has begun, a stop is told in other words.
      await app.sees("42 tests");
      app.type("Only those of the parser.");
      app.press("enter");
      await app.sees("Only those of the parser.");
      app.press("escape");
      await expect.poll(app.screen).not.toContain("Running bash");
      await app.sees("↑10 ↓5");
    },
  },
  tree: {
    replies: [textReply("The parser reads one line at a time."), textReply("I rewrote it as a table.")],
    act: async (app) => {
      for (const [question, reply] of [
        ["How does the parser work?", "one line at a time"],
        ["Make it faster.", "as a table"],
      ] as const) {
        app.type(question);
        app.press("enter");
        await app.sees(reply);
      }
      app.type("/tree");
      app.press("escape", "enter");
      await app.sees("Session tree");
    },
  },
  resume: {
    replies: [],
    options: {
      prepare: async ({ agentDir, directory }) => {
        for (const [text, name, secondsAgo] of [
          ["How does the parser work?", "The parser", 20],
          ["Why does the build fail?", undefined, 10],
        ] as const) {
          const manager = await SessionManager.create(directory, undefined, { agentDir });
          await manager.appendMessage({ role: "user", content: text, timestamp: 1 });
          if (name !== undefined) await manager.appendSessionInfo(name);
          await manager.close();
          // Two files of one moment would have any order.
          const changed = Date.now() / 1000 - secondsAgo;
          await utimes(manager.getSessionFile()!, changed, changed);
        }
      },
    },
    act: async (app) => {
      app.type("/resume");
      app.press("escape", "enter");
      await app.sees("Why does the build fail?");
      await app.sees("The parser");
    },
  },
  permissions: {
    replies: [],
    act: async (app) => {
      app.type("/permissions");
      app.press("escape", "enter");
      await app.sees("free");
    },
  },
  "small-terminal": {
    replies: [textReply(answer)],
    options: { columns: 40, rows: 10 },
    act: async (app) => {
      app.type("Please do it in a very small terminal");
      app.press("enter");
      await app.sees("A quote");
    },
  },
};

/** Where `scripts/render-screens.mjs` wants the cells of the screens. */
const pictures = process.env["TAU_SCREENS"];

/** Converts a cell to the form that the script draws. */
function toPicture(cell: NonNullable<ReturnType<OpenedApp["terminal"]["getCell"]>>) {
  const toColor = (isDefault: boolean, isRgb: boolean, color: number) =>
    isDefault ? undefined : isRgb ? `#${color.toString(16).padStart(6, "0")}` : color;
  return {
    // Few fonts have the dots of what spins.
    text: cell.getChars().replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, "*"),
    foreground: toColor(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()),
    background: toColor(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()),
    isBold: cell.isBold() !== 0,
    isDim: cell.isDim() !== 0,
    isInverse: cell.isInverse() !== 0,
    isUnderlined: cell.isUnderline() !== 0,
  };
}

async function writePicture(app: OpenedApp, directory: string, name: string): Promise<void> {
  const lines = await app.terminal.getViewport();
  const height = lines.findLastIndex((line) => line.trim() !== "") + 1;
  const rows = Array.from({ length: height }, (_unused, y) => {
    const cells = Array.from({ length: app.terminal.columns }, (_same, x) => toPicture(app.terminal.getCell(x, y)!));
    const start = lines[y]!.indexOf(app.directory);
    if (start === -1) return cells;
    // The name of the directory differs from run to run; a blank of the row fills what becomes free.
    const name = [..."/project"].map((text, index) => ({ ...cells[start + index]!, text }));
    const rest = cells.slice(start + app.directory.length);
    const free = Array.from({ length: app.directory.length - name.length }, () => ({ ...cells.at(-1)!, text: " " }));
    return [...cells.slice(0, start), ...name, ...rest, ...free];
  });
  await writeFile(join(directory, `${name}.json`), JSON.stringify(rows));
}

// A command that takes longer than 200 ms to end is given up, which is said in other words: a busy machine may need another try.
test.each(Object.entries(views))("%s", { retry: 2 }, async (name, { replies, options, act }) => {
  const mode = pictures === undefined ? "none" : "16color";
  // The status line of a machine without bubblewrap would say so.
  const settings: SettingsInput = { sandbox: { mode: "off" } };
  const app = await openApp(replies, { columns: 80, rows: 46, mode, settings, ...options });
  await act(app);
  if (name !== "approval" && name !== "queued") await expect.poll(app.screen).not.toMatch(/escape to stop/);
  if (pictures !== undefined) await writePicture(app, pictures, name);
  await expect(await draw(app)).toMatchFileSnapshot(`screens/${name}.txt`);
});

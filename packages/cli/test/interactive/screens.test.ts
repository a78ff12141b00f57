/** The main views as text, for a person to look at: `screens/*.txt`. After a deliberate change: delete them and run this file. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text, thinking } from "@tau/ai/testing";
import type { SettingsInput } from "@tau/harness/settings";
import { expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
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

/** One cell as the script draws it. */
function toPicture(cell: NonNullable<ReturnType<OpenedApp["terminal"]["getCell"]>>) {
  const toColor = (isDefault: boolean, isRgb: boolean, color: number) =>
    isDefault ? undefined : isRgb ? `#${color.toString(16).padStart(6, "0")}` : color;
  return {
    text: cell.getChars(),
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

test.each(Object.entries(views))("%s", async (name, { replies, options, act }) => {
  const mode = pictures === undefined ? "none" : "16color";
  // The status line of a machine without bubblewrap would say so.
  const settings: SettingsInput = { sandbox: { mode: "off" } };
  const app = await openApp(replies, { columns: 80, rows: 46, mode, settings, ...options });
  await act(app);
  if (name !== "approval") await expect.poll(app.screen).not.toMatch(/escape to stop/);
  if (pictures !== undefined) await writePicture(app, pictures, name);
  await expect(await draw(app)).toMatchFileSnapshot(`screens/${name}.txt`);
});

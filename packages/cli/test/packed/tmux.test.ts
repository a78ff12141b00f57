import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStreamedModel, type StreamedModel } from "../streamed-model.ts";
import { getCommandLine, listDrafts } from "./pty.ts";
import { hasTmux, openTmux, type Tmux } from "./tmux.ts";

if (!hasTmux) console.warn("The tests in tmux are skipped: there is no tmux. Install it, for example with apt-get.");

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_unused, index) => `Line ${from + index} of it.`);

/** Sends the lines as paragraphs, so that each is a line. */
const send = (model: StreamedModel, lines: readonly string[]) => model.send(`${lines.join("\n\n")}\n\n`);

const listNumbered = (text: string) => text.match(/Line \d+ of it\./g);

/** From one rule to the next, each line is there once and in order, and none is missing in all. */
function expectEachLine(everything: string, lines: readonly string[]): void {
  const parts = everything.split(/^─{20,}$/m).map((part) => listNumbered(part) ?? []);
  const indexes = parts.map((part) => part.map((line) => lines.indexOf(line)));
  for (const part of indexes) expect(part).toEqual([...new Set(part)].sort((one, other) => one - other));
  expect(lines.filter((line) => !parts.flat().includes(line))).toEqual([]);
}

/** Prints something, starts the program, and asks. */
async function begin(model: StreamedModel): Promise<Tmux> {
  const tmux = openTmux(model);
  tmux.type("seq -f 'before-%g' 1 40\r");
  await tmux.sees("before-40");
  tmux.type(`${await getCommandLine()}\r`);
  await tmux.sees("small");
  tmux.type("Hello\r");
  await model.isAsked();
  return tmux;
}

async function leave(tmux: Tmux): Promise<void> {
  tmux.type("\x04");
  await tmux.sees("To continue this session");
  tmux.type("echo after-$((40 + 2)); stty -a | grep -o ' icanon'\r");
  await tmux.sees(/after-42\n icanon\n\$/);
}

test.skipIf(!hasTmux)("a conversation looks as in other terminals, and what was there before stays", async () => {
  const model = await createStreamedModel();
  const tmux = await begin(model);
  await tmux.sees("Working");
  send(model, ["| name | meaning |\n| --- | --- |\n| τ | tau |\n| 日本 | Japan |", "```ts\nconst a: number = 1;\n```"]);
  await tmux.sees("Japan");
  send(model, numbered(0, 60));
  await tmux.sees("Line 59 of it.");
  model.end();
  await expect.poll(tmux.screen).not.toContain("to stop");
  tmux.type("half a thought");
  await tmux.sees("half a thought");
  await expect.poll(tmux.drawElsewhere).toBe(tmux.screen());
  tmux.type("\x15");
  await expect.poll(tmux.screen).not.toContain("half a thought");
  await leave(tmux);
  const everything = tmux.everything();
  expect(listNumbered(everything)).toEqual(numbered(0, 60));
  expect(everything.match(/^before-\d+$/gm)).toHaveLength(40);
  expect(everything.match(/Japan/g)).toHaveLength(1);
});

const sizes = [
  [70, 20],
  [120, 40],
  [60, 12],
  [100, 30],
] as const;

test.skipIf(!hasTmux)(
  "a resize while an answer arrives loses no line, and what is drawn again is below a rule",
  async () => {
    const model = await createStreamedModel();
    const tmux = await begin(model);
    let next = 0;
    for (const [columns, rows] of sizes) {
      send(model, numbered(next, next + 15));
      await tmux.sees(`Line ${next + 14} of it.`);
      tmux.resize(columns, rows);
      // Rows that tmux has broken are not as wide, or begin with a blank.
      await tmux.sees(new RegExp(`^(?=.{${columns}}$)\\S.* small$`, "m"));
      send(model, numbered(next + 15, next + 30));
      next += 30;
      await tmux.sees(`Line ${next - 1} of it.`);
    }
    model.end();
    await expect.poll(tmux.screen).not.toContain("to stop");
    await leave(tmux);
    expectEachLine(tmux.everything(), numbered(0, next));
  },
);

test.skipIf(!hasTmux)("after many resizes in a moment the screen is right again, and no line is lost", async () => {
  const model = await createStreamedModel();
  const tmux = await begin(model);
  // tmux tells the program of a new size up to 250 ms late: what is drawn meanwhile is drawn for the old one.
  let next = 0;
  for (const [columns, rows] of [...sizes, ...sizes]) {
    const lines = numbered(next, next + 5).map((line, index) => line + " It is long.".repeat(index * 3));
    send(model, lines);
    tmux.resize(columns, rows);
    next += 5;
  }
  send(model, numbered(next, next + 20));
  next += 20;
  model.end();
  await expect.poll(tmux.screen).not.toContain("to stop");
  await tmux.sees(/^(?=.{100}$)\S.* small$/m);
  const shown = listNumbered(tmux.screen()) ?? [];
  expect(shown.length).toBeGreaterThan(5);
  expect(shown).toEqual(numbered(next - shown.length, next));
  expectEachLine(tmux.everything(), numbered(0, next));
});

test.skipIf(!hasTmux)("emoji that tmux takes for narrower or wider do not tear other lines", async () => {
  const model = await createStreamedModel();
  const tmux = await begin(model);
  const family = "👩‍👩‍👧‍👦 ".repeat(30);
  send(model, [`First. ${family}`, "🇩🇪🇯🇵 flags", "e\u0301 and ❤️ and 👍🏽", "Last."]);
  model.end();
  await tmux.sees("Last.");
  await expect.poll(tmux.screen).not.toContain("to stop");
  tmux.type("half a thought");
  await tmux.sees(/─\nhalf a thought\n─/);
  const screen = tmux.screen();
  expect(screen).toMatch(/^ First\./m);
  expect(screen).toMatch(/^ Last\.$/m);
  expect(screen.match(/^─{100}$/gm)).toHaveLength(2);
});

test.skipIf(!hasTmux)("Ctrl-Z while an answer arrives, and fg", async () => {
  const model = await createStreamedModel();
  const tmux = await begin(model);
  send(model, numbered(0, 40));
  await tmux.sees("Line 39 of it.");
  tmux.type("\x1a");
  await tmux.sees(/Stopped/);
  tmux.type("echo between-$((40 + 2))\r");
  await tmux.sees("between-42");
  send(model, numbered(40, 50));
  tmux.type("fg\r");
  await tmux.sees("Line 49 of it.");
  model.end();
  await expect.poll(tmux.screen).not.toContain("to stop");
  tmux.type("half a thought");
  await tmux.sees("half a thought");
  tmux.type("\x15");
  await expect.poll(tmux.screen).not.toContain("half a thought");
  await leave(tmux);
  const everything = tmux.everything();
  for (const line of numbered(0, 50)) expect(everything).toContain(line);
  expect(everything).toContain("between-42");
});

test.skipIf(!hasTmux)("a program whose terminal is gone ends quietly and keeps what was typed", async () => {
  const model = await createStreamedModel();
  const tmux = openTmux(model);
  tmux.type(`${await getCommandLine()} 2> errors.txt\r`);
  await tmux.sees("small");
  tmux.type("half a thought");
  await tmux.sees("half a thought");
  await tmux.close();
  expect(await readFile(join(model.directory, "errors.txt"), "utf8")).toBe("");
  expect(listDrafts(model)).toHaveLength(1);
});

/** The examples with an interface, on a terminal. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openApp } from "../interactive/kit.ts";
import { textReply, toolReply } from "../kit.ts";
import { examples } from "./kit.ts";

const open = (name: string, replies: Parameters<typeof openApp>[0]) =>
  openApp(replies, { args: ["-e", join(examples, name)], settings: { sandbox: { mode: "off" } }, rows: 30 });

test("status line: it is below the editor, counts turns, and can be turned off", async () => {
  const app = await open("status-line.ts", [toolReply("ls"), textReply("There is nothing.")]);
  await app.sees(/context 0 %/);
  app.type("Look.");
  app.press("enter");
  await app.sees(/context \d+ % · 2 turns · \d+ s/);
  app.type("/status-line");
  app.press("escape", "enter");
  await expect.poll(app.screen).not.toMatch(/2 turns/);
});

test("bar chart: the bars are as wide as there is room", async () => {
  const bars = [
    { label: "apples", value: 4 },
    { label: "pears", value: 2 },
  ];
  const app = await open("bar-chart.ts", [toolReply("bar_chart", { title: "Fruit", bars }), textReply("There.")]);
  app.type("Show it.");
  app.press("enter");
  await app.sees(/There\./);
  const screen = await app.screen();
  expect(screen).toMatch(/Fruit/);
  const [long, short] = ["apples", "pears "].map(
    (label) => new RegExp(`${label} (█+) (\\d)`).exec(screen)?.slice(1) ?? [],
  );
  expect([long![1], short![1]]).toEqual(["4", "2"]);
  expect(long![0]!.length).toBeGreaterThan(50);
  expect(Math.abs(long![0]!.length - 2 * short![0]!.length)).toBeLessThanOrEqual(1);
  expect(screen).not.toContain("The user sees the chart");
});

test("to-do list: it is above the editor while something is to be done", async () => {
  const app = await open("todo-list.ts", [
    toolReply("todo", { action: "add", text: "Write the test" }),
    textReply("Noted."),
    toolReply("todo", { action: "done", number: 1 }),
    textReply("Finished."),
  ]);
  app.type("Remember.");
  app.press("enter");
  await app.sees(/Noted\.[\s\S]*○ 1\. Write the test[\s\S]*─/);
  app.type("Do it.");
  app.press("enter");
  await app.sees(/Finished\.(?![\s\S]*Write the test)/);
});

test("permission gate: the question is in the place of the editor, and an answer ends it", async () => {
  const app = await open("permission-gate.ts", [toolReply("bash", { command: "rm -rf old" }), textReply("I did not.")]);
  app.type("Clean up.");
  app.press("enter");
  await app.sees(/This command deletes directories:\s+rm -rf old/);
  await app.sees(/Allow once[\s\S]*Allow in this session[\s\S]*Block/);
  app.press("down", "down", "enter");
  await app.sees(/The user does not want a command that deletes/);
  await app.sees(/I did not\./);
});

test("plan mode: a key turns it on, and the steps are shown", async () => {
  const app = await open("plan-mode", [textReply("1. Read.\n2. Write.")]);
  app.terminal.sendInput("\x1b[112;7u");
  await app.sees(/^.*\bplan\b/m);
  app.type("How?");
  app.press("enter");
  await app.sees(/\/plan go carries this out:\s+1\. Read\.\s+2\. Write\./);
});

test("git checkpoint: its command is offered, and answers", async () => {
  const app = await open("git-checkpoint.ts", []);
  app.type("/checkp");
  await app.sees(/checkpoint .*Put the files back/);
  app.press("enter");
  await app.sees(/There is no checkpoint\./);
});

test("side task: the terminal is back in the first session, with the answer", async () => {
  const app = await open("side-task.ts", [textReply("Hello."), textReply("It is 42."), textReply("Yes.")]);
  app.type("Hi.");
  app.press("enter");
  await app.sees(/Hello\./);
  app.type("/side Six times seven?");
  app.press("escape", "enter");
  await app.sees(/Hello\.[\s\S]*Side task: Six times seven\?[\s\S]*It is 42\./);
});

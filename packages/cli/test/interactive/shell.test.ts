import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { type OpenedApp, openApp } from "./kit.ts";

function run(app: OpenedApp, command: string): void {
  app.type(command);
  app.press("enter");
}

test("a command of the user is shown while it runs, and Escape stops it", async () => {
  const app = await openApp([]);
  run(app, "!sleep 100");
  await app.sees("Running sleep 100");
  await app.sees("(escape to stop)");
  run(app, "!echo second");
  await app.sees('"sleep 100" is still running. Escape stops it.');
  await app.sees(/─\n!echo second\n─/);
  app.press("escape");
  await app.sees(/\$ sleep 100 \(stopped(?:, \d+ s)?\)/);
  expect(await app.screen()).not.toContain("Running");
});

test("the output is there while the command runs, and then how it ended and how long it took", async () => {
  const app = await openApp([], { rows: 40 });
  const gate = join(app.directory, "gate");
  run(app, `!seq 1 30; until [ -e ${gate} ]; do sleep 0.05; done; echo done; exit 3`);
  await app.sees("… 10 more lines (ctrl+o)\n 11\n");
  await app.sees(/ 30\n[\s\S]*Running seq 1 30/);
  app.advance(7_000);
  await writeFile(gate, "");
  await app.sees(/\$ seq 1 30.*\(exit 3, \d+ s\)/s);
  const all = await app.everything();
  expect(all.match(/^ done$/gm)).toHaveLength(1);
  expect(all.match(/^ 30$/gm)).toHaveLength(1);
  expect(all).not.toContain("Running");
});

test("a command that runs during a run is shown once, also when it gets into the log after the turn", async () => {
  const app = await openApp([
    toolReply("bash", { command: "until [ -e gate ]; do sleep 0.05; done" }),
    textReply("Over."),
  ]);
  app.type("go");
  app.press("enter");
  await app.sees("Running bash");
  run(app, "!echo mine");
  await app.sees(/^ mine$/m);
  await expect.poll(app.screen).not.toContain("Running echo");
  await writeFile(join(app.directory, "gate"), "");
  await app.sees("Over.");
  await expect.poll(app.screen).not.toContain("to stop");
  expect((await app.everything()).match(/^ mine$/gm)).toHaveLength(1);
  expect(app.app.view.log.entries.filter((entry) => JSON.stringify(entry).includes("bashExecution"))).not.toEqual([]);
});

test("what another session is told does not change: Escape stops the command where it was started", async () => {
  const app = await openApp([]);
  run(app, "!sleep 100");
  await app.sees("Running sleep 100");
  run(app, "/new");
  await expect.poll(app.screen).not.toContain("$ sleep 100");
  await app.sees("Running sleep 100");
  app.press("escape");
  await expect.poll(app.screen).not.toContain("Running");
});

test("of a long output the end is shown, and Ctrl-O shows the rest", async () => {
  const app = await openApp([], { rows: 60 });
  run(app, "!seq 101 140; false");
  await app.sees(/\$ seq 101 140; false \(exit 1(?:, \d+ s)?\)/);
  const folded = await app.screen();
  expect(folded).toContain("… 20 more lines (ctrl+o)\n 121");
  expect(folded).toContain("\n 140\n\n\n─");
  app.press("ctrlO");
  await app.sees(/101\n 102/);
});

test("how a run is stopped is seen however narrow the terminal is", async () => {
  const app = await openApp([], { columns: 40, rows: 10 });
  run(app, `!sleep 100 # ${"long ".repeat(20)}`);
  await app.sees(/Running sleep 100.*… \(escape to stop\)/);
  app.press("escape");
});

import { expect, test } from "vitest";
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
  app.press("escape");
  await app.sees("$ sleep 100 (stopped)");
  expect(await app.screen()).not.toContain("Running");
});

test("of a long output the end is shown, and Ctrl-O shows the rest", async () => {
  const app = await openApp([], { rows: 60 });
  run(app, "!seq 101 140; false");
  await app.sees("$ seq 101 140; false (exit 1)");
  const folded = await app.screen();
  expect(folded).toContain("… 20 more lines\n 121");
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

/** Cells and the command `/kernels` in the terminal. */
import { test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

function enter(app: OpenedApp, text: string): void {
  app.type(text);
  app.press("escape", "enter");
}

test("a cell is shown as code with its value, and /kernels lists, restarts and ends its kernel", async () => {
  const cell = (code: string) => toolReply("call_tool", { name: "eval", arguments: { language: "javascript", code } });
  const app = await openApp([cell("var answer = 6 * 7;\nanswer"), textReply("Done.")], {
    settings: { sandbox: { mode: "off" }, policy: { profile: "permissive" } },
    message: "go",
  });
  await app.sees("Done.");
  await app.sees(/│ var answer = 6 \* 7;[\s\S]*42/);
  enter(app, "/kernels");
  await app.sees("JavaScript: idle, 1 cell so far");
  await app.sees("Python: not running");
  app.press("escape");
  enter(app, "/kernels restart javascript");
  await app.sees("The javascript kernel was restarted; its variables are gone.");
  enter(app, "/kernels end javascript");
  await app.sees("The javascript kernel was ended.");
  enter(app, "/kernels end javascript");
  await app.sees("There is no javascript kernel.");
});

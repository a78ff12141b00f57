import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { openApp } from "./kit.ts";

const writes = (path: string) => toolReply("write", { path, content: "new" });

describe("the permission mode", () => {
  test("is chosen by /permissions, told in the status line, and counts for the next call", async () => {
    const app = await openApp([writes("a.txt"), textReply("Written.")]);
    app.type("/permissions ask");
    app.press("escape", "enter");
    await app.sees("Permission mode ask: asks before every change of a file and every command.");
    await app.sees(/main\) · ask/);
    app.type("write it");
    app.press("enter");
    await app.sees("Allow this?");
    await app.sees(/in the permission mode ask every\s+change is asked about/);
    app.advance(500);
    app.type("y");
    await app.sees("Written.");
    expect(await readFile(join(app.directory, "a.txt"), "utf8")).toBe("new");
  });

  test("is changed by Alt-M, from the strictest to the freest and round again", async () => {
    const app = await openApp([], { settings: { sandbox: { mode: "off" } } });
    await app.sees("small");
    for (const [mode, shown] of [
      ["free", /main\) · free/],
      ["ask", /main\) · ask/],
    ] as const) {
      app.terminal.sendInput("\x1bm");
      await app.sees(`Permission mode ${mode}:`);
      await app.sees(shown);
    }
    await app.sees("The sandbox is turned off, so free asks as edit does.");
    app.terminal.sendInput("\x1bm");
    await app.sees("Permission mode edit:");
    await app.sees(/main\) · edit$/m);
  });

  test("Alt-N turns plan mode on, in which nothing is written, and off again", async () => {
    const app = await openApp([writes("a.txt"), textReply("Refused.")], { args: ["--permission-mode", "ask"] });
    await app.sees(/main\) · ask/);
    app.terminal.sendInput("\x1bn");
    await app.sees("Permission mode plan: changes nothing");
    await app.sees(/main\) · plan/);
    app.type("write it");
    app.press("enter");
    await app.sees("Refused.");
    await expect(readFile(join(app.directory, "a.txt"))).rejects.toThrow("ENOENT");
    app.terminal.sendInput("\x1bn");
    await app.sees(/main\) · ask/);
  });

  test("--plan-mode begins in plan mode, on top of the other flag", async () => {
    const app = await openApp([], { args: ["--plan-mode", "--permission-mode", "ask"] });
    await app.sees(/main\) · plan/);
    app.terminal.sendInput("\x1bn");
    await app.sees(/main\) · ask/);
  });

  test("is that of --permission-mode at the start", async () => {
    const app = await openApp([], { args: ["--permission-mode", "ask"] });
    await app.sees(/main\) · ask/);
  });

  test("is kept by /new", async () => {
    const app = await openApp([], { args: [] });
    app.type("/permissions ask");
    app.press("escape", "enter");
    await app.sees(/main\) · ask/);
    const before = app.app.sessionId;
    app.type("/new");
    app.press("escape", "enter");
    await expect.poll(() => app.app.sessionId).not.toBe(before);
    await app.sees(/main\) · ask/);
  });
});

/** Calls that a tool makes, in the terminal. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeExtension } from "../extension-kit.ts";
import { textReply, toolReply } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

/** `outer` makes calls, and `middle`, one of them, runs a command that ends when there is a file `go`. */
const tools = `
const parameters = { type: "object", properties: {} };
tau.registerTool({
  name: "outer", label: "", description: "", parameters,
  async execute(id, params, signal, onUpdate, ctx) {
    for (let index = 0; index < 4; index++) await ctx.executeTool("ls", { path: "." });
    await ctx.executeTool("read", { path: "missing.txt" });
    await ctx.executeTool("read", { path: "/etc/shadow" });
    await ctx.executeTool("middle", {});
    return { content: [{ type: "text", text: "All of it was called." }] };
  },
});
tau.registerTool({
  name: "middle", label: "", description: "", parameters,
  async execute(id, params, signal, onUpdate, ctx) {
    await ctx.executeTool("bash", { command: "until [ -e go ]; do sleep 0.02; done" });
    return { content: [] };
  },
});`;

/** The lines from the call to its result. */
async function drawCall(app: OpenedApp): Promise<string> {
  const lines = (await app.screen()).split("\n").map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line.includes("● outer"));
  return lines.slice(first, lines.indexOf("", first)).join("\n");
}

async function enter(app: OpenedApp, text: string): Promise<void> {
  app.type(text);
  app.press("escape", "enter");
}

test("calls that a tool makes are below it while they run, afterwards, and after a resume", async () => {
  const app = await openApp([toolReply("outer", {}), textReply("Done.")], {
    settings: { sandbox: { mode: "off" } },
    prepare: async (workspace) => void (await writeExtension(workspace, "sample", tools)),
  });
  await enter(app, "call all");
  await app.sees("sleep 0.02; done (running)");
  expect(await drawCall(app)).toMatchInlineSnapshot(`
    " ● outer
       … 3 more calls (ctrl+o)
       ● ls . (done)
       ● read missing.txt (failed)
       ● read /etc/shadow (denied)
       ● middle (running)
         ● bash until [ -e go ]; do sleep 0.02; done (running)"
  `);
  await writeFile(join(app.directory, "go"), "");
  await app.sees("Done.");
  expect(await drawCall(app)).toMatchInlineSnapshot(`
    " ● outer
       … 3 more calls (ctrl+o)
       ● ls . (done)
       ● read missing.txt (failed)
       ● read /etc/shadow (denied)
       ● middle (done)
         ● bash until [ -e go ]; do sleep 0.02; done (done)
       All of it was called."
  `);
  app.press("ctrlO");
  await expect.poll(() => drawCall(app)).not.toContain("more calls");
  const expanded = await drawCall(app);
  expect(expanded).toMatchInlineSnapshot(`
    " ● outer
       ● ls . (done)
       ● ls . (done)
       ● ls . (done)
       ● ls . (done)
       ● read missing.txt (failed)
       ● read /etc/shadow (denied)
       ● middle (done)
         ● bash until [ -e go ]; do sleep 0.02; done (done)
       All of it was called."
  `);
  await enter(app, "/new");
  await expect.poll(app.screen).not.toContain("outer");
  await enter(app, "/resume");
  await app.sees("Sessions of this directory");
  app.type("call all");
  app.press("enter");
  await app.sees("● outer");
  await expect.poll(() => drawCall(app)).toBe(expanded);
});

/** A model replaces a whole file only if it knows what is in it. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolCall } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { type DeskOptions, openDesk, temporaryDirectory } from "./desk.ts";

const write = (content: string) => call("write", { path: "f", content });
const bash = (command: string) => call("bash", { command });
const read = (args: Record<string, unknown> = {}) => call("read", { path: "f", ...args });
const edit = call("edit", { path: "f", edits: [{ oldText: "old", newText: "edited" }] });

/** Makes the calls one after the other, in a directory with a file `f`, and tells the last outcome and what is in `f`. */
async function make(calls: readonly ToolCall[], { prompt = "go", ...options }: DeskOptions & { prompt?: string } = {}) {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "f"), "old\n");
  const { session, events } = await openDesk([...calls.map((one) => [one]), [text("ok")]], { cwd, ...options });
  await session.prompt(prompt);
  const [last] = events.flatMap((event) => (event.type === "tool_execution_end" ? [event] : [])).slice(-1);
  return { content: await readFile(join(cwd, "f"), "utf8"), success: last?.success, output: last?.output };
}

test.each<[string, ToolCall[]]>([
  ["was never read", []],
  ["was only shown by a command", [bash("cat f")]],
  ["was only found by a search", [call("grep", { pattern: "old" })]],
])("a file that %s is not replaced, and the model is told to read it first", async (_name, before) => {
  const { content, success, output } = await make([...before, write("new\n")]);
  expect({ content, success }).toEqual({ content: "old\n", success: false });
  expect(output).toMatch(/you have not read it in this session\. Read it first/);
});

test.each<[string, ToolCall[]]>([
  ["was read", [bash("echo other > f")]],
  ["was edited", [edit, bash("echo other > f")]],
])("a file that changed since it %s is not replaced", async (_name, between) => {
  const { content, success, output } = await make([read(), ...between, write("new\n")]);
  expect({ content, success }).toEqual({ content: "other\n", success: false });
  expect(output).toMatch(/has changed since.*Read it first/);
});

test.each<[string, ToolCall[]]>([
  ["was read", [read()]],
  ["was read in part", [read({ limit: 1 })]],
  ["was read with anchors", [read({ hashline: true })]],
  ["was edited", [edit]],
  ["is new", [bash("rm f")]],
  ["the session wrote itself", [bash("rm f"), write("first\n")]],
  ["was refused and then read", [write("first\n"), read()]],
  ["changed and was read again", [read(), bash("echo other > f"), read()]],
])("a file that %s is replaced", async (_name, before) => {
  expect(await make([...before, write("new\n")])).toMatchObject({ content: "new\n", success: true });
});

test("a file that the user mentioned counts as read", async () => {
  expect(await make([write("new\n")], { prompt: "Rewrite @f" })).toMatchObject({ content: "new\n", success: true });
});

test("without the setting tools.writeNeedsRead, any file is replaced", async () => {
  const settings = { tools: { writeNeedsRead: false } };
  expect(await make([write("new\n")], { settings })).toMatchObject({ content: "new\n", success: true });
});

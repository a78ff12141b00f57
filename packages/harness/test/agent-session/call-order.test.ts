/** The calls of one answer do not overtake each other, unless they only read. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentTool } from "@tau/agent";
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { type DeskOptions, openDesk, sayTool, temporaryDirectory } from "./desk.ts";

const edit = (path: string, oldText: string, newText: string) => call("edit", { path, edits: [{ oldText, newText }] });

async function openFile(content: string): Promise<{ cwd: string; read: () => Promise<string> }> {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "f"), content);
  return { cwd, read: () => readFile(join(cwd, "f"), "utf8") };
}

test("a command after an edit in the same answer sees the edited file", async () => {
  const { cwd } = await openFile("old\n");
  const { session, events } = await openDesk(
    [[edit("f", "old", "new"), call("bash", { command: "cat f" })], [text("ok")]],
    {
      cwd,
    },
  );
  await session.prompt("go");
  expect(events.flatMap((event) => (event.type === "tool_execution_end" ? [event.output.trim()] : []))[1]).toBe("new");
});

test("of two edits and a write of one file in one answer, the write comes last", async () => {
  const { cwd, read } = await openFile("one\n");
  const calls = [edit("f", "one", "two"), edit("f", "two", "three"), call("write", { path: "f", content: "four\n" })];
  const { session, events } = await openDesk([calls, [text("ok")]], { cwd });
  await session.prompt("go");
  expect(events.flatMap((event) => (event.type === "tool_execution_end" ? [event.success] : []))).toEqual([
    true,
    true,
    true,
  ]);
  expect(await read()).toBe("four\n");
});

/** The calls of one answer to these tools, as `+name` where one starts and `-name` where it ends. */
async function trace(tools: readonly AgentTool[], options: DeskOptions = {}): Promise<string> {
  const { session, events } = await openDesk([tools.map(({ name }) => call(name)), [text("ok")]], {
    tools,
    ...options,
  });
  await session.prompt("go");
  const names = new Map<string, string>();
  return events
    .flatMap((event) => {
      if (event.type === "tool_execution_start") names.set(event.toolCallId, event.toolName);
      if (event.type === "tool_execution_start") return [`+${event.toolName}`];
      return event.type === "tool_execution_end" ? [`-${names.get(event.toolCallId)}`] : [];
    })
    .join(" ");
}

const reading = (name: string): AgentTool => ({ ...sayTool(name), readOnly: true });
const beside = (name: string): AgentTool => ({ ...sayTool(name), executionMode: "parallel" });

test("calls that only read run together, and one that says nothing of itself waits and is waited for", async () => {
  expect(await trace([reading("a"), reading("b"), sayTool("w"), reading("c")])).toBe("+a +b -a -b +w -w +c -c");
});

test("a call of a tool with the execution mode parallel runs beside the others", async () => {
  expect(await trace([sayTool("w"), sayTool("x"), beside("p")])).toMatch(/^\+w \+p .*-w.*\+x -x/);
});

test("the execution mode of a tool with an input schema counts too", async () => {
  const { name, description } = sayTool("p");
  const short = { name, description, executionMode: "parallel" as const, execute: () => "p" };
  const { session, events } = await openDesk([[call("w"), call("p")], [text("ok")]], { tools: [sayTool("w"), short] });
  await session.prompt("go");
  const types = events.map(({ type }) => type).filter((type) => /^tool_execution_(start|end)$/.test(type));
  expect(types.slice(0, 2)).toEqual(["tool_execution_start", "tool_execution_start"]);
});

test.each<[string, DeskOptions]>([
  ["the parameter toolExecution", { toolExecution: "sequential" }],
  ["the setting tools.execution", { settings: { tools: { execution: "sequential" } } }],
])("%s can make all calls run one after the other", async (_name, options) => {
  expect(await trace([reading("a"), reading("b"), beside("p")], options)).toBe("+a -a +b -b +p -p");
});

test("the parameter toolExecution goes before the setting", async () => {
  const options: DeskOptions = { toolExecution: "ordered", settings: { tools: { execution: "sequential" } } };
  expect(await trace([reading("a"), reading("b")], options)).toBe("+a +b -a -b");
});

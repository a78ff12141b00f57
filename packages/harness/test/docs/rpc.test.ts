/** docs/rpc.md is true: it has every command with its scope and its parameters. docs/json.md has every event. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandNames, commandScopes, type SessionEvent } from "@tau/protocol";
import { expect, test } from "vitest";
import { commandTable } from "../../src/host/commands/index.ts";

const readPage = (name: string) => readFileSync(join(import.meta.dirname, "../../../../docs", name), "utf8");
const page = readPage("rpc.md");

/** The rows of the tables in a section: the name in the first cell, and the other cells as they are written. */
function readRows(heading: string, text = page): { name: string; cells: string[] }[] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| `(\w+)` *\|(.*)\|$/gm)].map(([, name, cells]) => ({
    name: name!,
    cells: cells!.split("|").map((cell) => cell.trim()),
  }));
}

/** ``` `a`, [`b` (`c` or `d`)] ``` has the required parameter `a` and the optional parameter `b`. */
function readParameters(cell: string) {
  const withoutValues = cell.replaceAll(/ \([^)]*\)/g, "");
  const optional = [...withoutValues.matchAll(/\[`(\w+)`\]/g)].map(([, name]) => name!);
  const required = [...withoutValues.replaceAll(/\[[^\]]*\]/g, "").matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  return { required: required.toSorted(), optional: optional.toSorted() };
}

const commands = readRows("Commands");

test("every command has exactly one row, and every row is a command", () => {
  expect(commands.map(({ name }) => name).toSorted()).toEqual(commandNames.toSorted());
});

test.each(commandNames)("the row of %s has the parameters and the scope of the command", (name) => {
  const { cells } = commands.find((row) => row.name === name)!;
  const fields = Object.entries(commandTable[name].fields);
  const listNames = (isOptional: boolean) =>
    fields.flatMap(([field, { optional }]) => ((optional === true) === isOptional ? [field] : [])).toSorted();
  expect(readParameters(cells[0]!)).toEqual({ required: listNames(false), optional: listNames(true) });
  expect(cells[1]).toBe(`\`${commandScopes[name]}\``);
});

test("the commands that later ones do not wait for are named", () => {
  const [, names] = /([^.]*) may take long/.exec(page)!;
  const long = commandNames.filter((name) => commandTable[name].isLong);
  expect([...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!).toSorted()).toEqual(long.toSorted());
});

test("the example of a client is the one that is compiled here", () => {
  const example = readFileSync(join(import.meta.dirname, "rpc-client.ts"), "utf8");
  expect([...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)).toEqual([example]);
});

const events: Record<SessionEvent["type"], true> = {
  agent_start: true,
  turn_start: true,
  message_start: true,
  text_delta: true,
  thinking_delta: true,
  toolcall_delta: true,
  message_end: true,
  tool_execution_start: true,
  tool_execution_update: true,
  tool_execution_end: true,
  turn_end: true,
  error: true,
  agent_end: true,
  entry_appended: true,
  queue_changed: true,
  approval_requested: true,
  approval_resolved: true,
  tool_denied: true,
  retry_scheduled: true,
  compaction_start: true,
  compaction_end: true,
  model_changed: true,
  model_used: true,
  session_branched: true,
  cache_break: true,
  jobs_changed: true,
  permission_mode_changed: true,
  notice: true,
};

test("every event has exactly one row, and every row is an event", () => {
  expect(
    readRows("Events", readPage("json.md"))
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(Object.keys(events).toSorted());
});

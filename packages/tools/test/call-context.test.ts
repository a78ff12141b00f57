/** A tool works with the files and processes of the call that it is asked in. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTools } from "../src/create-tools.ts";
import type { ToolName } from "../src/definitions.ts";
import { ToolsError } from "../src/errors.ts";
import { createGuardedFiles, type Files } from "../src/platform/files.ts";
import { createSpawn, type Spawn } from "../src/platform/spawn.ts";
import { scratch } from "./scratch.ts";

const guardFiles = createGuardedFiles();
const allowing = () => guardFiles(() => undefined);
const refusing = () =>
  guardFiles(() => {
    throw new ToolsError("denied", "Not in this call.");
  });

function createCaller(files: Files) {
  const cwd = scratch();
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\nthree\n");
  const tools = createTools({ cwd, files, containment: "best effort" });
  onTestFinished(() => tools.dispose());
  const call = async (name: ToolName, args: Record<string, unknown>, ofCall?: Files, spawn: Spawn = tools.spawn) => {
    const context = ofCall && { files: ofCall, spawn };
    const { content } = await tools.byName[name].execute("1", args, undefined, undefined, context);
    return content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
  };
  return { cwd, call };
}

const calls: [ToolName, Record<string, unknown>][] = [
  ["read", { path: "a.txt" }],
  ["write", { path: "a.txt", content: "x" }],
  ["edit", { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] }],
  ["hashline_edit", { path: "a.txt", edits: [{ op: "append", lines: ["x"] }] }],
  ["hashline_patch", { patch: "¶a.txt#0000\nEOF↓\n+x" }],
  ["ls", {}],
  ["grep", { pattern: "two" }],
  ["find", { pattern: "*" }],
];

test.each(calls)("%s opens nothing that its call may not open, whatever the tool itself may", async (name, args) => {
  const { cwd, call } = createCaller(allowing());
  await expect(call(name, args, refusing())).rejects.toMatchObject({ code: "denied" });
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
});

test("a call may open what the tool without a call may not", async () => {
  const { call } = createCaller(refusing());
  await expect(call("read", { path: "a.txt" })).rejects.toMatchObject({ code: "denied" });
  expect(await call("read", { path: "a.txt" }, allowing())).toContain("two");
});

test("commands and searches are started by the processes of their call", async () => {
  const { call } = createCaller(allowing());
  const started: string[] = [];
  const real = createSpawn();
  const spawn: Spawn = (request) => {
    started.push(request.argv.join(" "));
    return real(request);
  };
  expect(await call("bash", { command: "echo from the call" }, allowing(), spawn)).toBe("from the call");
  expect(started).toEqual([expect.stringContaining("echo from the call")]);
  await call("grep", { pattern: "two" }, allowing(), spawn);
  await call("find", { pattern: "*" }, allowing(), spawn);
  expect(started.slice(1)).toEqual([expect.stringMatching(/rg.*two/), expect.stringMatching(/rg.*--files/)]);
});

test("searches look where the files of their call are, and name them as they were asked for", async () => {
  const { cwd, call } = createCaller(allowing());
  const elsewhere = scratch();
  for (const directory of [cwd, elsewhere]) mkdirSync(join(directory, "logs"));
  writeFileSync(join(cwd, "logs", "a.log"), "one\n");
  writeFileSync(join(elsewhere, "logs", "b.log"), "two\n");
  symlinkSync("b.log", join(elsewhere, "logs", "last.log"));
  const files = allowing();
  const lead = (path: string) => path.replace(join(cwd, "logs"), join(elsewhere, "logs"));
  const led: Files = {
    ...files,
    openRead: (path) => files.openRead(lead(path)),
    stat: (path) => files.stat(lead(path)),
    list: (path) => files.list(lead(path)),
    realPath: (path, access) => files.realPath(lead(path), access),
  };
  expect(await call("grep", { pattern: "one|two", path: "logs" }, led)).toBe("logs/b.log:1: two");
  expect(await call("grep", { pattern: "one|two", path: "logs/last.log" }, led)).toBe("logs/last.log:1: two");
  expect(await call("find", { pattern: "*", path: "logs" }, led)).toBe("logs/b.log");
});

test("what was shown in one call can be edited in another, though each has its own files", async () => {
  const { cwd, call } = createCaller(allowing());
  const shown = await call("read", { path: "a.txt", hashline: true }, allowing());
  const pos = /^(2#[A-Z]{2}):/m.exec(shown)![1]!;
  await call("hashline_edit", { path: "a.txt", edits: [{ op: "replace", pos, lines: ["2"] }] }, allowing());
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n2\nthree\n");
});

test("changes of one file wait for each other, though each call has its own files", async () => {
  const { cwd, call } = createCaller(allowing());
  const replace = (oldText: string, newText: string) =>
    call("edit", { path: "a.txt", edits: [{ oldText, newText }] }, allowing());
  await Promise.all([replace("one", "1"), replace("two", "2"), replace("three", "3")]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("1\n2\n3\n");
});

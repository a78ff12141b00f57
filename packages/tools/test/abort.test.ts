import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createTools } from "../src/create-tools.ts";
import type { ToolName } from "../src/definitions.ts";
import { type FileSystem, nodeFileSystem } from "../src/platform/file-system.ts";
import { createFiles } from "../src/platform/files.ts";
import { createSpawn, type RunningProcess, type Spawn } from "../src/platform/spawn.ts";
import { scratch } from "./scratch.ts";

const never = () => new Promise<never>(() => {});

/** Tools in a directory with a file `f`. */
function toolsOn(ports: { fileSystem?: Partial<FileSystem>; spawn?: Spawn } = {}) {
  const cwd = scratch();
  writeFileSync(join(cwd, "f"), "one\ntwo\n");
  const fileSystem = { ...nodeFileSystem, ...ports.fileSystem };
  const files = createFiles({ fileSystem });
  const tools = createTools({ cwd, files, writeNeedsRead: false, ...(ports.spawn && { spawn: ports.spawn }) });
  const begin = (name: ToolName, args: Record<string, unknown>) => {
    const controller = new AbortController();
    const outcome = tools.byName[name].execute("id", args, controller.signal).catch((error: unknown) => error);
    return { outcome, abort: () => controller.abort(new Error("enough")) };
  };
  return { cwd, begin };
}

const calls: [ToolName, Record<string, unknown>][] = [
  ["read", { path: "f" }],
  ["read", { path: "f", hashline: true }],
  ["write", { path: "f", content: "new" }],
  ["edit", { path: "f", edits: [{ oldText: "one", newText: "1" }] }],
  ["hashline_edit", { path: "f", edits: [{ op: "append", lines: ["three"] }] }],
  ["hashline_patch", { patch: "¶f#0000\nEOF↓\n+three" }],
  ["grep", { pattern: "one" }],
  ["find", { pattern: "*" }],
  ["ls", {}],
];

describe("a call that is given up ends at once, whatever a port is doing", () => {
  test.each(calls)("%s %j, on a file system that does not answer", async (name, args) => {
    const { cwd, begin } = toolsOn({ fileSystem: { open: never, realpath: never } });
    const call = begin(name, args);
    await new Promise(setImmediate);
    call.abort();
    expect(await call.outcome).toMatchObject({ code: "aborted", cause: { message: "enough" } });
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("one\ntwo\n");
  });

  test.each([
    ["grep", { pattern: "one" }],
    ["find", { pattern: "*" }],
  ] as const)("%s, before ripgrep could be started; what comes too late is ended", async (name, args) => {
    let go = () => {};
    const asked = vi.fn<() => void>();
    let late: RunningProcess | undefined;
    const spawn: Spawn = async (request) => {
      asked();
      await new Promise<void>((resolve) => (go = resolve));
      late = await createSpawn()({ ...request, argv: ["sleep", "60"] });
      return late;
    };
    const call = toolsOn({ spawn }).begin(name, args);
    await expect.poll(() => asked.mock.calls.length).toBeGreaterThan(0);
    call.abort();
    expect(await call.outcome).toMatchObject({ code: "aborted" });
    go();
    await expect.poll(() => late).toBeDefined();
    expect(await late!.exit).toEqual({ kind: "signalled", signal: "SIGKILL" });
  });
});

describe("a change", () => {
  test.each(calls.slice(2, 6))("%s %j gives up at once where it waits for another", async (name, args) => {
    const renamed: (() => void)[] = [];
    const rename = async (from: string, to: string) => {
      await new Promise<void>((resolve) => renamed.push(resolve));
      await nodeFileSystem.rename(from, to);
    };
    const { cwd, begin } = toolsOn({ fileSystem: { rename } });
    const first = begin("write", { path: "f", content: "first\n" });
    await expect.poll(() => renamed).toHaveLength(1);
    const second = begin(name, args);
    await new Promise(setImmediate);
    second.abort();
    expect(await second.outcome).toMatchObject({ code: "aborted", message: "The call was aborted." });
    renamed[0]!();
    expect(await first.outcome).toMatchObject({ details: { isNew: false } });
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("first\n");
  });

  test("that has begun goes on, keeps the next waiting, and says that it may be there", async () => {
    const renamed: (() => void)[] = [];
    const rename = async (from: string, to: string) => {
      await new Promise<void>((resolve) => renamed.push(resolve));
      await nodeFileSystem.rename(from, to);
    };
    const { cwd, begin } = toolsOn({ fileSystem: { rename } });
    const first = begin("write", { path: "f", content: "first\n" });
    await expect.poll(() => renamed).toHaveLength(1);
    first.abort();
    expect(await first.outcome).toMatchObject({ code: "aborted", message: expect.stringContaining("Look whether") });
    const second = begin("edit", { path: "f", edits: [{ oldText: "first", newText: "second" }] });
    renamed[0]!();
    await expect.poll(() => renamed).toHaveLength(2);
    renamed[1]!();
    await second.outcome;
    expect(readFileSync(join(cwd, "f"), "utf8")).toBe("second\n");
  });
});

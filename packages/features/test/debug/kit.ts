/** Sessions and programs for tests of the debugger. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call } from "@tau/ai/testing";
import { onTestFinished } from "vitest";
import { builtinAdapters } from "../../src/debug/adapters.ts";
import { findCommands } from "../../src/debug/find-adapter.ts";
import { debug, discovery } from "../../src/index.ts";
import { isProgram, listPathDirectories } from "../../src/kit/programs.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

export const scriptedAdapter = join(import.meta.dirname, "scripted-adapter.mjs");

export async function makeDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tau-debug-test-")));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A test that needs an adapter of this machine: which one, and why not another, or why it is skipped. */
export type Adapter = { isHere: true; name: string; command: string; note?: string } | { isHere: false; why: string };

const findAll = (name: string): string[] => {
  const adapter = builtinAdapters.find((known) => known.name === name)!;
  return findCommands(adapter, { cwd: "/", isProjectTrusted: false, path: process.env["PATH"] });
};

const find = (name: string): string | undefined => findAll(name)[0];

/** Finds the first python with debugpy, which is the one that a session uses. */
export function findDebugpy(): Adapter {
  const commands = findAll("debugpy");
  const hasDebugpy = (command: string) =>
    spawnSync(command, ["-c", "import debugpy"], { cwd: "/", stdio: "ignore" }).status === 0;
  const command = commands.find(hasDebugpy);
  if (command !== undefined) return { isHere: true, name: "debugpy", command };
  const why = commands.length === 0 ? "there is no python3" : `${commands.join(" and ")} have no debugpy`;
  return { isHere: false, why };
}

/** Finds an adapter that needs another program too. */
export function findAdapter(name: string, needed: string): Adapter {
  const command = find(name);
  if (command === undefined) return { isHere: false, why: `${name} is not installed` };
  const isHere = listPathDirectories(process.env["PATH"]).some((directory) => isProgram(join(directory, needed)));
  return isHere ? { isHere, name, command } : { isHere, why: `${name} is installed, and ${needed} is not` };
}

/** Finds a dlv that listens at sockets, which the one of Debian 12 does not, and go. */
export function findDelve(): Adapter {
  const adapter = findAdapter("dlv", "go");
  if (!adapter.isHere) return adapter;
  const args = ["dap", `--listen=unix:${join(tmpdir(), `dlv-${process.pid}`)}`];
  const { status } = spawnSync(adapter.command, args, { timeout: 3_000, stdio: "ignore" });
  return status === 1 ? { isHere: false, why: `${adapter.command} is too old to listen at a socket` } : adapter;
}

/** Finds gdb 14 or newer, else lldb-dap; and a compiler. */
export function findNative(): Adapter {
  if (spawnSync("cc", ["--version"], { stdio: "ignore" }).status !== 0) return { isHere: false, why: "there is no cc" };
  const gdb = find("gdb");
  const printed = gdb === undefined ? "" : spawnSync(gdb, ["--version"], { encoding: "utf8" }).stdout;
  const version = Number(/\) (\d+)\./.exec(printed)?.[1] ?? 0);
  if (gdb !== undefined && version >= 14) return { isHere: true, name: "gdb", command: gdb };
  const lldb = find("lldb-dap");
  const why = gdb === undefined ? "there is no gdb" : `gdb is version ${version}, and 14 is needed`;
  if (lldb !== undefined) return { isHere: true, name: "lldb-dap", command: lldb, note: why };
  return { isHere: false, why: `${why}, and there is no lldb-dap` };
}

/** Compiles a C program with debug information. */
export async function compile(cwd: string, name: string, source: string): Promise<string> {
  await writeFile(join(cwd, `${name}.c`), source);
  execFileSync("cc", ["-g", "-O0", "-o", name, `${name}.c`], { cwd });
  return join(cwd, name);
}

type Turns = Parameters<typeof createTestSession>[0];

/** Opens a session that has the debugger, and nothing else that a model could look with. */
export async function open(turns: Turns, params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, {
    features: [discovery(), debug()],
    tools: ["tool_search", "call_tool", "debug"],
    ...params,
  });
  onTestFinished(() => opened.dispose());
  const getResults = () =>
    opened.session.messages.flatMap((message) =>
      message.role === "toolResult"
        ? [{ text: (message.content[0] as { text: string }).text, isError: message.isError, details: message.details }]
        : [],
    );
  return { ...opened, getResults };
}

export const callDebug = (args: object) => call("debug", args as Record<string, unknown>);

/** The processes that work in a directory. Linux alone can tell. */
export function listWorkingIn(directory: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === directory ? [Number(pid)] : [];
      } catch {
        return [];
      }
    });
}

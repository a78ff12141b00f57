/** The packed program in a shell on a real terminal, which the test is: it sees all that is written, types, and answers. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type IPty, spawn } from "@lydell/node-pty";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, onTestFinished } from "vitest";
import type { Workspace } from "../kit.ts";
import { installed } from "./kit.ts";

export interface PtyOptions {
  env?: Record<string, string>;
  args?: readonly string[];
  /** What the shell does when the program has stopped for the first time. */
  afterwards?: string;
  /** Called with all output, and may type. */
  onOutput?: (output: string, type: (text: string) => void) => void;
}

export interface Pty {
  type: (text: string) => void;
  /** All bytes so far. */
  output: () => string;
  sees: (text: string | RegExp) => Promise<void>;
  /** What a person sees now. */
  screen: () => Promise<string>;
  /** The number of the program's process. */
  pid: () => number;
  /** As when the window is closed. */
  close: () => void;
  /** Resolves to what was printed after the program had ended: its code, and how the terminal is. */
  ended: () => Promise<{ code: number; isCanonical: boolean; echoes: boolean }>;
}

const columns = 100;
const rows = 30;

export async function openPty(workspace: Workspace, options: PtyOptions = {}): Promise<Pty> {
  const program = [process.execPath, join(await installed(), "dist", "tau.cjs"), ...(options.args ?? [])];
  const run = program.map((word) => `'${word}'`).join(" ");
  const script = `${run}; ${options.afterwards === undefined ? "" : `${options.afterwards};`} echo "<code $?>"; stty -a; echo "<over>"; sleep 60`;
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: workspace.directory,
    TAU_DIR: workspace.agentDir,
    TERM: "xterm-256color",
    SHELL: "/bin/sh",
    ...options.env,
  };
  const pty: IPty = spawn("bash", ["--norc", "-i", "-m", "-c", script], {
    cols: columns,
    rows,
    cwd: workspace.directory,
    env,
  });
  onTestFinished(async () => {
    const pids = [...listChildren(pty.pid), pty.pid].filter(isRunning);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await expect.poll(() => pids.some(isRunning)).toBe(false);
  });
  let output = "";
  const type = (text: string) => pty.write(text);
  pty.onData((data) => {
    output += data;
    options.onOutput?.(output, type);
  });
  const screen = async () => {
    const terminal = await VirtualTerminal.create(columns, rows);
    terminal.write(output);
    return (await terminal.getViewport()).map((line) => line.trimEnd()).join("\n");
  };
  const patience = { timeout: 15_000, interval: 50 };
  return {
    type,
    output: () => output,
    sees: async (text) => await expect.poll(screen, patience).toMatch(text),
    screen,
    pid: () => listChildren(pty.pid)[0] as number,
    close: () => (pty as IPty & { destroy(): void }).destroy(),
    ended: async () => {
      await expect.poll(() => output, patience).toContain("<over>");
      const after = output.slice(output.lastIndexOf("<code "));
      const has = (flag: string) => new RegExp(`(^|\\s)${flag}\\b`).test(after);
      return { code: Number(/<code (\d+)>/.exec(after)?.[1]), isCanonical: has("icanon"), echoes: has("echo") };
    },
  };
}

const listChildren = (pid: number): number[] =>
  (spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" }).stdout.match(/\d+/g) ?? []).map(Number);

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

/** The files with what was typed. */
export function listDrafts({ agentDir }: Workspace): string[] {
  try {
    return readdirSync(join(agentDir, "drafts")).filter((name) => name.endsWith(".txt"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

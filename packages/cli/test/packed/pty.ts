/** The packed program in a shell on a real terminal, which the test is: it sees all that is written, types, and answers. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type IPty, spawn } from "@lydell/node-pty";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, onTestFinished } from "vitest";
import type { Workspace } from "../kit.ts";
import { cacheHome, installed } from "./kit.ts";

export interface PtyOptions {
  /** Default 100. */
  columns?: number;
  /** Default 30. */
  rows?: number;
  env?: Record<string, string>;
  args?: readonly string[];
  /** A command line before the program. */
  through?: readonly string[];
  /** A command of the shell for when the program has stopped for the first time. */
  afterwards?: string;
  /** How long all output and everything that is typed is under way. Default: not at all. */
  delayMs?: number;
  /** Called with all output that has arrived, and may type. */
  onOutput?: (output: string, type: (text: string) => void) => void;
}

export interface Pty {
  type: (text: string) => void;
  /** All bytes so far. */
  output: () => string;
  /** All bytes so far, with those that are still under way. */
  sent: () => string;
  sees: (text: string | RegExp) => Promise<void>;
  /** The visible rows. */
  screen: () => Promise<string>;
  /** With what has left the screen at its top. */
  everything: () => Promise<string>;
  terminal: VirtualTerminal;
  resize: (columns: number, rows: number) => Promise<void>;
  /** The number of the program's process. */
  pid: () => number;
  /** Ends the connection, as closing the window does. */
  close: () => void;
  /** Resolves to what was printed after the program had ended: its code, and how the terminal is. */
  ended: () => Promise<{ code: number; isCanonical: boolean; echoes: boolean }>;
}

/** The command line that runs the packed program, for a shell. */
export async function getCommandLine(args: readonly string[] = [], through: readonly string[] = []): Promise<string> {
  const words = [...through, process.execPath, join(await installed(), "dist", "tau.cjs"), ...args];
  return words.map((word) => `'${word}'`).join(" ");
}

export const createPtyEnv = (workspace: Workspace): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: workspace.directory,
  XDG_CACHE_HOME: cacheHome,
  TAU_DIR: workspace.agentDir,
  TERM: "xterm-256color",
  SHELL: "/bin/sh",
});

export async function openPty(workspace: Workspace, options: PtyOptions = {}): Promise<Pty> {
  const { columns = 100, rows = 30, delayMs = 0 } = options;
  const run = await getCommandLine(options.args, options.through);
  const script = `${run}; ${options.afterwards === undefined ? "" : `${options.afterwards};`} echo "<code $?>"; stty -a; echo "<over>"; sleep 60`;
  const terminal = await VirtualTerminal.create(columns, rows);
  const pty: IPty = spawn("bash", ["--norc", "-i", "-m", "-c", script], {
    cols: columns,
    rows,
    cwd: workspace.directory,
    env: { ...createPtyEnv(workspace), ...options.env },
  });
  onTestFinished(async () => {
    const pids = [...listChildren(pty.pid), pty.pid].filter(isRunning);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await expect.poll(() => pids.some(isRunning)).toBe(false);
  });
  let sent = "";
  let output = "";
  // Timers of the same length keep their order.
  const later = (work: () => void) => (delayMs === 0 ? work() : void setTimeout(work, delayMs));
  const type = (text: string) => later(() => pty.write(text));
  pty.onData((data) => {
    sent += data;
    later(() => {
      output += data;
      terminal.write(data);
      options.onOutput?.(output, type);
    });
  });
  const toText = (lines: readonly string[]) => lines.map((line) => line.trimEnd()).join("\n");
  const screen = async () => toText(await terminal.getViewport());
  const patience = { timeout: 15_000, interval: 50 };
  return {
    type,
    output: () => output,
    sent: () => sent,
    sees: async (text) => await expect.poll(screen, patience).toMatch(text),
    screen,
    everything: async () => toText([...(await terminal.getScrollback()), ...(await terminal.getViewport())]),
    terminal,
    resize: async (columns, rows) => {
      await terminal.resize(columns, rows);
      pty.resize(columns, rows);
    },
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

export const listChildren = (pid: number): number[] =>
  (spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" }).stdout.match(/\d+/g) ?? []).map(Number);

/** A process that has ended counts as such also before its parent has noticed. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = existsSync("/proc/self/stat") ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
    return !/\) Z /.test(stat);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
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

/** The packed program in tmux, which draws otherwise than the terminals that the library was written with. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, onTestFinished } from "vitest";
import type { Workspace } from "../kit.ts";
import { createPtyEnv, isRunning, listChildren } from "./pty.ts";

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

export interface Tmux {
  /** Types the text literally: it has no names of keys. */
  type(text: string): void;
  /** The screen, without blanks at the ends of lines. */
  screen(): string;
  /** The scrollback and the screen; a line that wraps is one line. */
  everything(): string;
  sees(text: string | RegExp): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Takes the terminal away from the programs in it. Resolves when they have ended. */
  close(): Promise<void>;
  /** Draws the same bytes on a terminal without tmux. Only before the first resize. */
  drawElsewhere(): Promise<string>;
}

const columns = 100;
const rows = 30;
let count = 0;

/** A shell in a window of a server of its own. */
export function openTmux(workspace: Workspace): Tmux {
  const socket = `tau-test-${process.pid}-${++count}`;
  const record = join(workspace.directory, "pane.bytes");
  const { TERM: _outer, ...env } = createPtyEnv(workspace);
  const tmux = (...args: string[]) => execFileSync("tmux", ["-L", socket, ...args], { env, encoding: "utf8" });
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    const [shellPid] = tmux("list-panes", "-F", "#{pane_pid}").split("\n").map(Number);
    const pids = [...listChildren(shellPid as number), shellPid as number];
    tmux("kill-server");
    await expect.poll(() => pids.some(isRunning), { timeout: 15_000 }).toBe(false);
  };
  onTestFinished(close);
  // Nothing is drawn before it is recorded.
  const shell = `read -r line; PS1='$ ' exec bash --norc -i`;
  const size = ["-x", String(columns), "-y", String(rows)];
  tmux("-f", "/dev/null", "new-session", "-d", ...size, "-c", workspace.directory, "sh", "-c", shell);
  tmux("pipe-pane", `cat >> '${record}'`);
  tmux("send-keys", "Enter");
  const toText = (captured: string) =>
    captured
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  const screen = () => toText(tmux("capture-pane", "-p"));
  return {
    type: (text) => void tmux("send-keys", "-l", text),
    screen,
    everything: () => toText(tmux("capture-pane", "-p", "-J", "-S", "-")),
    sees: async (text) => await expect.poll(screen, { timeout: 15_000, interval: 50 }).toMatch(text),
    close,
    resize: (width, height) => void tmux("resize-window", "-x", String(width), "-y", String(height)),
    drawElsewhere: async () => {
      const terminal = await VirtualTerminal.create(columns, rows);
      terminal.write(readFileSync(record, "utf8"));
      return toText((await terminal.getViewport()).join("\n"));
    },
  };
}

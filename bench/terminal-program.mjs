/** Runs the packed program in a pseudo terminal of 120 columns and 40 rows, and measures what it costs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";

const node = process.env.BENCH_NODE ?? process.execPath;

/**
 * `drive` gets everything that was written so far with each piece, and a function that types. It returns true when it has
 * told the program to end.
 */
export async function measureInTerminal(args, { home, workspace, drive }) {
  const times = join(home, `times-${process.hrtime.bigint()}`);
  const shell = `TIMEFORMAT="%U %S"; { time "$@"; } 2>${times}`;
  const child = spawn("bash", ["-c", shell, "bash", node, ...args], {
    name: "xterm-256color",
    cols: 120,
    rows: 40,
    cwd: workspace.directory,
    env: { PATH: process.env.PATH, HOME: home, TAU_DIR: workspace.agentDir, TERM: "xterm-256color" },
  });
  let text = "";
  let isOver = false;
  let peakBytes = 0;
  const readPeak = () => {
    try {
      const [program] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
      const line = program && /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${program}/status`, "utf8"));
      if (line) peakBytes = Math.max(peakBytes, Number(line[1]) * 1_024);
    } catch {
      // The process has ended.
    }
  };
  child.onData((piece) => {
    text += piece;
    if (isOver) return;
    readPeak();
    isOver = drive(text, (keys) => child.write(keys)) === true;
  });
  const { exitCode: code } = await new Promise((resolve) => child.onExit(resolve));
  const [user, system] = readFileSync(times, "utf8").trim().split(/\s+/).slice(-2).map(Number);
  return { cpuMs: (user + system) * 1_000, peakBytes, code, bytes: Buffer.byteLength(text), text };
}

/** Runs the packed program in a pseudo terminal of 120 columns and 40 rows, and measures what it costs. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";

const node = process.env.BENCH_NODE ?? process.execPath;

/** Leaves the program as soon as a text was written. */
export const leaveAfter = (text) => (written, type) => {
  if (!written.includes(text)) return false;
  type("\x04");
  return true;
};

/**
 * `drive` gets everything that was written so far with each piece, and a function that types. It returns true when it has
 * told the program to end. `onStart` gets the process id of a shell, whose child is the program.
 */
export async function measureInTerminal(args, { home, workspace, drive, onStart }) {
  const times = join(home, `times-${process.hrtime.bigint()}`);
  const shell = `TIMEFORMAT="%U %S"; { time "$@"; } 2>${times}`;
  const child = spawn("bash", ["-c", shell, "bash", node, ...args], {
    name: "xterm-256color",
    cols: 120,
    rows: 40,
    cwd: workspace.directory,
    env: { PATH: process.env.PATH, HOME: home, TAU_DIR: workspace.agentDir, TERM: "xterm-256color" },
  });
  onStart?.(child.pid);
  let text = "";
  let isOver = false;
  let peakBytes = 0;
  const readPeak = () => {
    try {
      const program = findChild(child.pid);
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

const findChild = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0];

/** How much CPU the threads of the program have used so far, in milliseconds. Those that have ended are not included. */
export function readThreadsCpuMs(shell) {
  const threads = `/proc/${findChild(shell)}/task`;
  const readMs = (id) => Number(readFileSync(join(threads, id, "schedstat"), "utf8").split(" ")[0]) / 1e6;
  return readdirSync(threads).reduce((sum, id) => sum + readMs(id), 0);
}

/** How much CPU the program has used so far, in milliseconds. The kernel counts in steps of 10 ms. */
export function readCpuMs(shell) {
  const fields = readFileSync(`/proc/${findChild(shell)}/stat`, "utf8")
    .split(") ")[1]
    .split(" ");
  const [user, system] = fields.slice(11, 13).map(Number);
  return (user + system) * 10;
}

/** CPU and memory of `tau gateway` until it listens, compared with a Node that does nothing. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";

const node = process.env.BENCH_NODE ?? process.execPath;

export default async function bench(report) {
  const installation = await installProgram();
  const workspace = await createWorkspace(installation, [], "gateway");
  const run = (signal) => startGateway(installation, workspace, signal);
  // The first ones make the token, and write the code cache when they end.
  for (let round = 0; round < 3; round++) await run("SIGTERM");
  const [bare, started] = await interleaved([() => measure(["-e", "0"], installation), () => run("SIGKILL")], 15);
  await workspace.server.close();
  report("bare node", bare.cpuMs, "ms of CPU");
  report("ready", started.cpuMs / bare.cpuMs, "times bare node (at most 4.5)");
  report("memory when ready", started.peakBytes / 1e6, "MB (at most 80)");
}

/** Starts it, and ends it when it listens. With SIGKILL, how it stops is not measured. */
async function startGateway({ program, home }, { directory, agentDir }, signal) {
  const shell = 'TIMEFORMAT="%U %S"; exec 3>&2; { time "$@" 2>&3; } 2>&4';
  const child = spawn("bash", ["-c", shell, "bash", node, program, "gateway", "--port", "0"], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: home, TAU_DIR: agentDir },
    stdio: ["ignore", "ignore", "pipe", "ignore", "pipe"],
  });
  let [err, times, peakBytes] = ["", "", 0];
  child.stdio[4].on("data", (chunk) => (times += chunk));
  child.stderr.on("data", (chunk) => {
    const isReady = err.includes("Listening");
    err += chunk;
    if (isReady || !err.includes("Listening")) return;
    const [pid] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
    const memory = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    peakBytes = Number(memory[1]) * 1_024;
    process.kill(Number(pid), signal);
  });
  await new Promise((resolve) => child.once("close", resolve));
  if (!err.includes("Listening")) throw new Error(`The gateway did not start: ${err}`);
  const [user, system] = times.trim().split(/\s+/).slice(-2).map(Number);
  return { cpuMs: (user + system) * 1_000, peakBytes, code: 0 };
}

/**
 * Runs the packed program as a child process and measures what it costs. The shell's `time` reports the CPU of the whole
 * child, including Node's own start and exit, which `process.cpuUsage()` would leave out. The child gets an environment
 * with PATH and HOME only: variables such as NODE_EXTRA_CA_CERTS make every Node start slower and would hide what the
 * program adds. BENCH_NODE names the Node that runs the program; the default is the Node that runs the benchmark.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWireServer } from "../packages/ai/dist/testing/index.js";
import { packCli } from "../scripts/pack-cli.mjs";

const root = join(import.meta.dirname, "..");
const node = process.env.BENCH_NODE ?? process.execPath;

/** Unpacks the program as npm would, beside copies of its dependencies. */
export async function installProgram() {
  const directory = mkdtempSync(join(tmpdir(), "tau-bench-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const archive = await packCli(directory);
  const scope = join(directory, "node_modules", "@tau");
  mkdirSync(scope, { recursive: true });
  execFileSync("tar", ["xzf", archive, "-C", scope]);
  rmSync(archive);
  renameSync(join(scope, "package"), join(scope, "cli"));
  const { packages } = JSON.parse(readFileSync(join(scope, "cli", "npm-shrinkwrap.json"), "utf8"));
  for (const path of Object.keys(packages)) {
    if (path !== "" && existsSync(join(root, path)))
      cpSync(join(root, path), join(directory, path), { recursive: true });
  }
  const home = join(directory, "home");
  mkdirSync(home);
  return { directory, program: join(scope, "cli", "dist", "tau.cjs"), home };
}

/** Creates a working directory whose model is a local server: one that gives these replies in order, unless there is another. */
export async function createWorkspace({ home }, replies, name, otherServer) {
  const directory = join(home, name);
  const agentDir = join(directory, ".agent");
  mkdirSync(agentDir, { recursive: true });
  const server = otherServer ?? (await startWireServer("openai-completions", replies));
  const models = [{ id: "small", name: "Small", contextWindow: 1_000_000, maxTokens: 100_000 }];
  const local = { baseUrl: server.url, api: "openai-completions", apiKey: "local-key-0123456789", models };
  writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { local } }));
  writeFileSync(join(agentDir, "settings.json"), JSON.stringify({ defaultModel: "local/small" }));
  return { directory, agentDir, server };
}

/**
 * Runs Node with these arguments. Returns CPU in milliseconds, peak memory in bytes, the exit code and the output. `answer` gets
 * each piece of output, and writes to standard input; without it there is none.
 */
export async function measure(args, { home, workspace, keepOutput = false, answer }) {
  const shell = 'TIMEFORMAT="%U %S"; exec 3>&2; { time "$@" 2>&3; } 2>&4';
  const child = spawn("bash", ["-c", shell, "bash", node, ...args], {
    cwd: workspace?.directory ?? home,
    env: { PATH: process.env.PATH, HOME: home, ...(workspace && { TAU_DIR: workspace.agentDir }) },
    stdio: [answer ? "pipe" : "ignore", "pipe", "inherit", "ignore", "pipe"],
  });
  let [bytes, text, times] = [0, "", ""];
  child.stdout.on("data", (chunk) => {
    bytes += chunk.length;
    if (keepOutput) text += chunk;
    answer?.(child.stdin, chunk);
  });
  answer?.(child.stdin, "");
  child.stdio[4].on("data", (chunk) => (times += chunk));
  const memory = watchMemory(child.pid);
  const code = await new Promise((resolve) => child.once("close", resolve));
  const [user, system] = times.trim().split(/\s+/).slice(-2).map(Number);
  return { cpuMs: (user + system) * 1_000, peakBytes: memory.end(), code, bytes, text };
}

/** Polls, because the kernel forgets the peak memory of a process when it ends. */
function watchMemory(shell) {
  let peak = 0;
  const poll = () => {
    try {
      const [child] = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim().split(" ");
      const line = child && /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child}/status`, "utf8"));
      if (line) peak = Math.max(peak, Number(line[1]) * 1_024);
    } catch {
      // The process has ended, or this system has no /proc.
    }
  };
  const timer = setInterval(poll, 2);
  return {
    end() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** Runs all in turn, several rounds, and returns the minimum CPU and the maximum memory of each. */
export async function interleaved(runs, rounds = 15) {
  const best = runs.map(() => undefined);
  for (let round = 0; round < rounds; round++) {
    for (const [index, run] of runs.entries()) {
      const result = await run();
      if (result.code !== 0) throw new Error(`A measured run ended with exit code ${result.code}.`);
      const before = best[index];
      best[index] = {
        ...result,
        cpuMs: Math.min(result.cpuMs, before?.cpuMs ?? Infinity),
        peakBytes: Math.max(result.peakBytes, before?.peakBytes ?? 0),
      };
    }
  }
  return best;
}

/**
 * The packed program as a child process, and what it costs. All of the child counts, from its first instruction to its
 * last, as the shell reports it: what a process says of itself leaves out how it begins and ends. The environment is
 * nearly empty, since some variables make every Node start slower and would hide what the program adds.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWireServer } from "../packages/ai/dist/testing/index.js";
import { packCli } from "../scripts/pack-cli.mjs";

const root = join(import.meta.dirname, "..");

/** Unpacks the program as npm would, beside copies of what it depends on. */
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

/** A directory to work in whose model is a local server that gives these replies, then again from the first. */
export async function prepareGround({ home }, replies, name) {
  const directory = join(home, name);
  const agentDir = join(directory, ".agent");
  mkdirSync(agentDir, { recursive: true });
  const server = await startWireServer("openai-completions", replies);
  const models = [{ id: "small", name: "Small", contextWindow: 1_000_000, maxTokens: 100_000 }];
  const house = { baseUrl: server.url, api: "openai-completions", apiKey: "house-key-0123456789", models };
  writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { house } }));
  writeFileSync(join(agentDir, "settings.json"), JSON.stringify({ defaultModel: "house/small" }));
  return { directory, agentDir, server };
}

/** Runs Node with these arguments: its CPU in milliseconds, its largest memory in bytes, its code and its output. */
export async function measure(args, { home, ground, env = {}, keepOutput = false }) {
  const shell = 'TIMEFORMAT="%U %S"; exec 3>&2; { time "$@" 2>&3; } 2>&4';
  const child = spawn("bash", ["-c", shell, "bash", process.execPath, ...args], {
    cwd: ground?.directory ?? home,
    env: { ...env, PATH: process.env.PATH, HOME: home, ...(ground && { TAU_DIR: ground.agentDir }) },
    stdio: ["ignore", "pipe", "inherit", "ignore", "pipe"],
  });
  let [bytes, text, times] = [0, "", ""];
  child.stdout.on("data", (chunk) => {
    bytes += chunk.length;
    if (keepOutput) text += chunk;
  });
  child.stdio[4].on("data", (chunk) => (times += chunk));
  const watch = watchMemory(child.pid);
  const code = await new Promise((resolve) => child.once("close", resolve));
  const [user, system] = times.trim().split(/\s+/).slice(-2).map(Number);
  return { cpuMs: (user + system) * 1_000, peakBytes: watch.end(), code, bytes, text };
}

/** The kernel keeps the largest size of a process, and forgets it with the process: so it is asked until then. */
function watchMemory(shell) {
  let peak = 0;
  const look = () => {
    try {
      const [child] = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim().split(" ");
      const line = child && /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child}/status`, "utf8"));
      if (line) peak = Math.max(peak, Number(line[1]) * 1_024);
    } catch {
      // It has ended, or this system does not tell.
    }
  };
  const timer = setInterval(look, 2);
  return {
    end() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** The least of several runs, with those that it is compared with in between. */
export async function interleaved(runs, rounds = 15) {
  const best = runs.map(() => undefined);
  for (let round = 0; round < rounds; round++) {
    for (const [at, run] of runs.entries()) {
      const result = await run();
      if (result.code !== 0) throw new Error(`It ended with ${result.code}.`);
      const before = best[at];
      best[at] = {
        ...result,
        cpuMs: Math.min(result.cpuMs, before?.cpuMs ?? Infinity),
        peakBytes: Math.max(result.peakBytes, before?.peakBytes ?? 0),
      };
    }
  }
  return best;
}

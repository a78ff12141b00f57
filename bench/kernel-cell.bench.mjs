/**
 * Measures a warm cell: the CPU of this process and of the kernel, above a raw exchange of the same messages with the same process,
 * how long kernels take to be ready beside the bare interpreters, and a tool call from a cell beside the same call of the model.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { scriptedModel, call, text } from "../packages/ai/dist/testing/index.js";
import { systemClock } from "../packages/ai/dist/index.js";
import { createAgentSession } from "../packages/harness/dist/index.js";
import { SettingsManager } from "../packages/config/dist/settings/index.js";
import { discovery, kernels } from "../packages/features/dist/index.js";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const rounds = 15;
const cells = 200;
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const python = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).stdout?.trim();

/** The programs of kernels, which the package loads with the first cell. */
async function loadPrograms() {
  const directory = mkdtempSync(join(tmpdir(), "tau-kernel-programs-"));
  const outfile = join(directory, "programs.mjs");
  const contents = `export { pythonRunner } from "./runners/python.ts";
export { javascriptRunner, nodeOptions } from "./runners/javascript.ts";
export { toArgv } from "./kernel-process.ts";`;
  const resolveDir = join(import.meta.dirname, "../packages/features/src/kernels");
  const options = { bundle: true, platform: "node", format: "esm", conditions: ["@tau/source"], logLevel: "error" };
  await build({ stdin: { contents, resolveDir, loader: "ts" }, outfile, ...options });
  const { pythonRunner, javascriptRunner, nodeOptions, toArgv } = await import(outfile);
  rmSync(directory, { recursive: true });
  const node = [process.execPath, ...nodeOptions, "-e", javascriptRunner];
  return {
    ...(python && { python: { bare: [python, "-c", "pass"], kernel: toArgv([python, "-c", pythonRunner]) } }),
    javascript: { bare: [process.execPath, "-e", "0"], kernel: toArgv(node) },
  };
}

const startBare = async ([command, ...args]) => {
  const startMs = performance.now();
  await once(spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] }), "exit");
  return performance.now() - startMs;
};

async function startKernel([command, ...args]) {
  const startMs = performance.now();
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return { child, ms: performance.now() - startMs };
}

async function measureExchange(child) {
  const exchange = async (id) => {
    child.stdin.write(`${JSON.stringify({ type: "Cell", payload: { id, code: "1" } })}\n`);
    await once(child.stdout, "data");
  };
  for (let index = 0; index < cells; index++) await exchange(`w${index}`);
  const before = process.cpuUsage();
  for (let index = 0; index < cells; index++) await exchange(`m${index}`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / cells;
}

/** Milliseconds of CPU of this process for each of many calls in one run of a session. */
async function measureCalls(createCall) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-kernel-bench-")));
  writeFileSync(join(directory, "a.txt"), "x");
  const turns = Array.from({ length: 2 * cells }, (_unused, index) => [createCall(index)]);
  const session = await createAgentSession({
    cwd: directory,
    agentDir: join(directory, "agent"),
    model: scriptedModel([...turns, [text("Done.")]], { clock: systemClock }),
    settingsManager: SettingsManager.inMemory({}, { features: [kernels(), discovery()] }),
    features: [kernels(), discovery()],
    policyProfile: "permissive",
    sandbox: { mode: "off" },
  });
  let seen = 0;
  let before;
  session.onSessionEvent((event) => {
    if (event.type === "tool_execution_end" && !event.parentToolCallId && ++seen === cells) before = process.cpuUsage();
  });
  await session.prompt("go");
  const { user, system } = process.cpuUsage(before);
  await session.dispose();
  rmSync(directory, { recursive: true, force: true });
  return (user + system) / 1_000 / cells;
}

const cell = (language, code) => (index) =>
  call("call_tool", { name: "eval", arguments: { language, code } }, `call-${index}`);

export default async function bench(report) {
  const ls = await measureCalls((index) => call("ls", {}, `call-${index}`));
  for (const [language, { bare, kernel }] of Object.entries(await loadPrograms())) {
    const bareMs = [];
    const readyMs = [];
    for (let round = 0; round < rounds; round++) {
      bareMs.push(await startBare(bare));
      const { child, ms } = await startKernel(kernel);
      readyMs.push(ms);
      child.kill("SIGKILL");
    }
    report(`${language}: ready, times the bare interpreter`, median(readyMs) / median(bareMs), "times");
    const { child } = await startKernel(kernel);
    const rawMs = await measureExchange(child);
    child.kill("SIGKILL");
    const one = await measureCalls(cell(language, "1"));
    report(`${language}: a raw exchange`, rawMs, "ms of CPU");
    // A turn of the session with a small tool is what a cell costs besides its kernel.
    report(`${language}: a warm cell above the exchange and a turn`, one - ls - rawMs, "ms of CPU");
    const args = language === "python" ? "" : "{}";
    const ten = Array.from({ length: 10 }, () => `await tool.ls(${args})`).join("\n");
    const withTools = await measureCalls(cell(language, ten));
    report(
      `${language}: a tool call from a cell, above the same of the model`,
      (withTools - one) / 10 - ls,
      "ms of CPU",
    );
  }
}

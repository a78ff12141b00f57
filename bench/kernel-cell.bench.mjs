/**
 * Measures a warm cell: the CPU of this process above a raw exchange of the same messages with the same process, how long kernels take to
 * be ready beside the bare interpreters, one more tool call of a cell beside one more of the model, each side by side with others, and what
 * a session has loaded and started before its first cell.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { Session } from "node:inspector";
import { call } from "../packages/ai/dist/testing/index.js";
import { createAgentSession } from "../packages/harness/dist/index.js";
import { SettingsManager } from "../packages/config/dist/settings/index.js";
import { discovery, kernels } from "../packages/features/dist/index.js";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { answerOnce, model } from "./memory-model.mjs";

const rounds = 15;
const cells = 200;
/** Turns with many calls. */
const manyRounds = 60;
/** Figures that are compared are measured in turns, because a busy machine is not equally busy all the time. */
const comparisons = 7;
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
async function measureCalls(createCall, rounds = cells) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-kernel-bench-")));
  writeFileSync(join(directory, "a.txt"), "x");
  let asked = 0;
  // Not the scripted model, which keeps a copy of every request: only the session's own work is measured.
  const streamFn = () =>
    asked < 2 * rounds
      ? answerOnce("toolUse", ...[createCall(asked++)].flat())
      : answerOnce("stop", { type: "text", text: "Done." });
  const session = await createAgentSession({
    cwd: directory,
    agentDir: join(directory, "agent"),
    model,
    streamFn,
    settingsManager: SettingsManager.inMemory({}, { features: [kernels(), discovery()] }),
    features: [kernels(), discovery()],
    policyProfile: "permissive",
    sandbox: { mode: "off" },
  });
  let seen = 0;
  let before;
  session.onSessionEvent((event) => {
    if (event.type === "turn_end" && ++seen === rounds) before = process.cpuUsage();
  });
  await session.prompt("go");
  const { user, system } = process.cpuUsage(before);
  await session.dispose();
  rmSync(directory, { recursive: true, force: true });
  return (user + system) / 1_000 / rounds;
}

const cell = (language, code) => (index) =>
  call("call_tool", { name: "eval", arguments: { language, code } }, `call-${index}`);

const list = (count) => (index) =>
  Array.from({ length: count }, (_unused, part) => call("ls", {}, `call-${index}-${part}`));

/** A turn of the model has its calls side by side too. */
const listInCell = (language, count) => {
  const calls = (args) => Array.from({ length: count }, () => `tool.ls(${args})`).join(", ");
  if (language === "python") return cell(language, `import asyncio\nawait asyncio.gather(${calls("")})`);
  return cell(language, `await Promise.all([${calls("{}")}])`);
};

/** Milliseconds of CPU of one more call in a turn that has some. */
const measureMore = async (create) =>
  ((await measureCalls(create(11), manyRounds)) - (await measureCalls(create(1), manyRounds))) / 10;

/** The scripts of kernels that this process has loaded, and the processes that it has started. */
function countLoaded() {
  const scripts = [];
  const session = new Session();
  session.connect();
  session.on("Debugger.scriptParsed", ({ params: { url } }) => scripts.push(url));
  session.post("Debugger.enable");
  session.disconnect();
  // The programs of kernels are in a part of the package that is loaded with the first cell.
  const own = scripts.filter(
    (url) => url.includes("/features/dist/") && readFileSync(new URL(url), "utf8").includes("def read_messages"),
  );
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8")
    .trim()
    .split(/\s+/)
    .filter(Boolean);
  return { scripts: own.length, processes: children.length };
}

export default async function bench(report) {
  await measureCalls(list(1));
  const { scripts, processes } = countLoaded();
  report("before the first cell: scripts of kernels that are loaded", scripts, "scripts");
  report("before the first cell: processes", processes, "processes");
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
    report(`${language}: a raw exchange`, rawMs, "ms of CPU");
    const aboveTurn = [];
    const aboveModel = [];
    for (let round = 0; round < comparisons; round++) {
      // A turn of the session with a small tool is what a cell costs besides its kernel.
      const turn = await measureCalls(list(1));
      aboveTurn.push((await measureCalls(cell(language, "1"))) - turn - rawMs);
      const ofModel = await measureMore(list);
      aboveModel.push((await measureMore((count) => listInCell(language, count))) - ofModel);
    }
    report(`${language}: a warm cell above the exchange and a turn`, median(aboveTurn), "ms of CPU");
    report(`${language}: a tool call from a cell, above the same of the model`, median(aboveModel), "ms of CPU");
  }
  if (countLoaded().scripts === 0)
    throw new Error("Scripts of kernels are not found, so the first figure says nothing.");
}

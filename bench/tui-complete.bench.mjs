/**
 * Mentions of files in a directory of 100,000: the time until the first suggestions in a program that has just started,
 * until the whole list is there, compared with bare ripgrep, and from each key until its last frame.
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startTau } from "@tau/protocol/node";
import { rgPath } from "@vscode/ripgrep";
import { createWorkspace, installProgram } from "./packed-program.mjs";
import { measureInTerminal } from "./terminal-program.mjs";

const node = process.env.BENCH_NODE ?? process.execPath;
const rounds = 8;
const directories = 1_000;
const filesEach = 100;
/** Typed and deleted again: starts of names, parts of names, directories, and letters with gaps. */
const queries = ["file-12345", "987t", "package-7/module-2", "m7s9", "src/x"];
const maxAnswerMs = 10_000;
/** A frame of a key comes before the next key. */
const keyIntervalMs = 100;

export default async function bench(report) {
  const installation = await installProgram();
  const workspace = await createWorkspace(installation, [], "complete");
  createTree(workspace.directory);
  const open = async (use) => {
    const typing = createTyping(use);
    await measureInTerminal([installation.program], { ...installation, workspace, drive: typing.drive });
    typing.end();
    return typing.times;
  };
  // The first runs fill caches: those of the file system, and that of the program's code.
  await open(typeMention);
  const first = [];
  const bare = [];
  const whole = [];
  for (let round = 0; round < rounds; round++) {
    first.push(...(await open(typeMention)));
    bare.push(await listBare(workspace.directory));
    whole.push(await listWhole(installation, workspace));
  }
  report("first suggestions", getPercentile(first, 0.5), "ms, median (at most 150)");
  report("bare rg --files", Math.min(...bare), "ms, best");
  report("whole list", Math.min(...whole), "ms, best");
  report("whole list", Math.min(...whole) / Math.min(...bare), "times bare rg (at most 2)");
  const keys = [];
  for (let round = 0; round < 3; round++) keys.push(...(await open(typeQueries)));
  report("a key until its last frame", getPercentile(keys, 0.5), "ms, median");
  report("a key until its last frame", getPercentile(keys, 0.95), "ms, p95 (at most 20)");
  await workspace.server.close();
}

function createTree(root) {
  for (let directory = 0; directory < directories; directory++) {
    const path = join(root, `package-${directory % 20}`, `module-${directory}`, "src");
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < filesEach; file++) {
      writeFileSync(join(path, `file-${directory * filesEach + file}${file % 2 === 0 ? ".ts" : ".md"}`), "");
    }
  }
}

/** Calls `use` once the first frame is complete. It types keys and measures until when they are answered. */
function createTyping(use) {
  const times = [];
  let written = "";
  let isStarted = false;
  let hasEnded = false;
  let lastAt = 0;
  const drive = (text, type) => {
    written = text;
    lastAt = performance.now();
    // The status line is the last part of the first complete frame.
    if (isStarted || !written.includes("/1.0M")) return;
    isStarted = true;
    void run(type);
  };
  const run = async (type) => {
    await wait(keyIntervalMs);
    /** Types one key, and measures until `isAnswered` is true of what was written since, or until its last frame. */
    const press = async (key, isAnswered) => {
      const start = written.length;
      const startedAt = performance.now();
      lastAt = startedAt;
      type(key);
      const isWaiting = () => !isAnswered(written.slice(start)) && performance.now() - startedAt < maxAnswerMs;
      if (isAnswered) while (isWaiting()) await wait(1);
      else await wait(keyIntervalMs);
      times.push(lastAt - startedAt);
    };
    await use(press);
    while (!hasEnded) {
      type("\x03\x04");
      await wait(keyIntervalMs);
    }
  };
  return { drive, times, end: () => (hasEnded = true) };
}

const hasSuggestions = (written) => written.includes("(1/");

const typeMention = (press) => press("@", hasSuggestions);

async function typeQueries(press) {
  await press("@", hasSuggestions);
  await wait(1_000);
  for (const query of queries) {
    for (const key of query) await press(key);
    for (let deleted = 0; deleted < query.length; deleted++) await press("\x7f");
  }
}

const getPercentile = (times, part) => times.toSorted((a, b) => a - b)[Math.floor(times.length * part)];

async function listBare(cwd) {
  const startedAt = performance.now();
  const child = spawn(rgPath, ["--files", "--hidden", "--null"], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  let bytes = 0;
  child.stdout.on("data", (chunk) => (bytes += chunk.length));
  await new Promise((resolve) => child.once("close", resolve));
  if (bytes < directories * filesEach * 20) throw new Error(`rg printed ${bytes} bytes only.`);
  return performance.now() - startedAt;
}

/** Over RPC, because there the program says when its list is complete. */
async function listWhole({ program, home }, { directory, agentDir }) {
  const tau = await startTau({
    command: node,
    commandArgs: [program],
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: home, TAU_DIR: agentDir },
  });
  await tau.call("get_state");
  const startedAt = performance.now();
  const ask = () => tau.call("complete", { text: "@", cursor: 1 });
  while ((await ask()).incomplete) await wait(20);
  const durationMs = performance.now() - startedAt;
  await tau.close();
  return durationMs;
}

/**
 * Measures what a command in the sandbox costs above a bare shell, with one sandbox for the session and with one for
 * each command.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSessionSandbox } from "@tau/sandbox";
import { createBashTool, createFiles, createJobs, createSpawn } from "@tau/tools";
import { bareBash, quickTime } from "./bare-bash.mjs";

const rounds = 100;
const warmUps = 10;
/** Protected names of the second project; the first has those of a repository alone. */
const protectedNames =
  `.tau .pi .omp .claude .codex .cursor .gemini .qwen .opencode opencode.json .kiro .windsurf .continue
.aider.conf.yml .mcp.json .idea .fleet .zed .devcontainer .devcontainer.json .nvim.lua .nvimrc .exrc .lvimrc .dir-locals.el
.envrc .mise.toml mise.toml .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile
.zlogin .zlogout .kshrc`.split(/\s+/);
const manyNames = protectedNames.length;

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-bench-"));
  const spawn = createSpawn();
  const jobs = createJobs();
  const sandboxes = [];
  const prepare = (name, names, helper) => {
    const cwd = createProject(join(directory, `${name}-${names}`), names);
    const sandbox = createSessionSandbox({
      cwd,
      home: join(directory, "home"),
      agentDir: join(directory, "agent"),
      settings: { mode: "required", allowedPaths: [], ports: [], network: "none", maxMemoryFilesMb: 256 },
      ...helper,
    });
    sandboxes.push(sandbox);
    const tool = createBashTool({ cwd, spawn, jobs });
    const context = { files: createFiles(), spawn, sandbox };
    return () => tool.execute("id", { command: "true" }, undefined, undefined, context);
  };
  const ways = { "one sandbox for the session": {}, "one for each command": { helper: false } };
  const plain = createBashTool({ cwd: directory, spawn, jobs });
  const work = { bare: () => bareBash(spawn), plain: () => plain.execute("id", { command: "true" }) };
  for (const [name, helper] of Object.entries(ways)) {
    for (const names of [0, manyNames]) work[`${name}, ${names} more names`] = prepare(name, names, helper);
  }
  try {
    const times = await measure(work);
    const bare = quickTime(times.bare);
    report("a bare shell", bare, "ms");
    for (const name of Object.keys(work).slice(2)) {
      report(`above a bare shell with ${name}`, quickTime(times[name]) - bare, "ms");
    }
    const compare = (way) => quickTime(times[`${way}, 0 more names`]) / quickTime(times.plain);
    report("one sandbox for the session", compare("one sandbox for the session"), "times no sandbox (at most 1.3)");
    report("one for each command", compare("one for each command"), "times no sandbox (at most 1.6)");
    const each = (names) => quickTime(times[`one for each command, ${names} more names`]);
    report("a protected name", (each(manyNames) - each(0)) / manyNames, "ms (at most 0.35)");
  } finally {
    await jobs.dispose();
    for (const sandbox of sandboxes) await sandbox.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Turn by turn, so that a busy moment of the machine hits all of them alike. */
async function measure(work) {
  const times = Object.fromEntries(Object.keys(work).map((name) => [name, []]));
  for (let round = -warmUps; round < rounds; round++) {
    for (const [name, run] of Object.entries(work)) {
      const started = performance.now();
      await run();
      if (round >= 0) times[name].push(performance.now() - started);
    }
  }
  return times;
}

/** Each of the names is a file. */
function createProject(directory, names) {
  mkdirSync(directory, { recursive: true });
  execFileSync("git", ["init", "-q"], { cwd: directory });
  for (const name of protectedNames.slice(0, names)) writeFileSync(join(directory, name), "");
  return directory;
}

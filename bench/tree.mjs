/** A tree of many small files, and a comparison of a tool with the bare command over it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFiles, createSpawn } from "@tau/tools";
import { rgPath } from "@vscode/ripgrep";

const directories = 500;
const filesEach = 100;
const rounds = 30;

/** A text that only every thousandth file has. */
export const needle = "needleInTheHaystack";
/** How the names of every hundredth file end. */
export const rareEnding = ".config.ts";

/** Lets ripgrep see what the tools let it see. */
export const bareOptions = ["--no-config", "--hidden", "--no-require-git", "--no-ignore-dot", "--glob=!.git"];

/** Names, among those that are not ignored. A `--glob` would bring back what `.gitignore` excludes: another result. */
export const bareNames = (glob) => [`--type-add=wanted:${glob}`, "--type=wanted"];

/** Calls `work` with a directory of 50,000 files and removes it afterwards. */
export async function withTree(work) {
  const root = mkdtempSync(join(tmpdir(), "tau-bench-tree-"));
  try {
    writeFileSync(join(root, ".gitignore"), "node_modules/\n*.log\ngenerated.*\n");
    for (let directory = 0; directory < directories; directory++) {
      const path = join(root, `package-${directory % 20}`, `module-${directory}`);
      mkdirSync(path, { recursive: true });
      if (directory % 25 === 0) writeFileSync(join(path, `generated${rareEnding}`), `${needle} 500\n`);
      for (let file = 0; file < filesEach; file++) {
        const id = directory * filesEach + file;
        const ending = id % 100 === 7 ? rareEnding : file % 2 === 0 ? ".ts" : ".md";
        writeFileSync(join(path, `file-${id}${ending}`), getContent(id));
      }
    }
    await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function getContent(id) {
  const lines = Array.from(
    { length: 30 },
    (_unused, line) => `export const value${line} = compute(${id}, ${line * 7});`,
  );
  if (id % 1_000 === 500) lines[15] = `// ${needle} ${id}`;
  return `${lines.join("\n")}\n`;
}

export const toolOptions = (root) => ({ cwd: root, files: createFiles(), spawn: createSpawn() });

/**
 * Times both in turn, so that whatever else the machine does meets both, and reports the best of each. `lines` is how
 * many the bare command prints.
 */
export async function compare({ report, root, name, tool, bareArgs, lines }) {
  const best = { tool: Infinity, bare: Infinity };
  const cpu = { tool: 0, bare: 0 };
  for (let round = -2; round < rounds; round++) {
    const bare = await measured(() => runBare(root, bareArgs, lines));
    const own = await measured(tool);
    if (round < 0) continue;
    best.bare = Math.min(best.bare, bare.wallMs);
    best.tool = Math.min(best.tool, own.wallMs);
    cpu.bare += bare.childCpuMs;
    cpu.tool += own.childCpuMs + own.ownCpuMs;
  }
  report(`${name}: bare rg`, best.bare, "ms");
  report(`${name}: tool`, best.tool, "ms");
  report(`${name}: tool over bare rg`, best.tool / best.bare, "times");
  report(`${name}: bare rg, CPU`, cpu.bare / rounds, "ms of CPU");
  report(`${name}: tool with rg, CPU`, cpu.tool / rounds, "ms of CPU");
  report(`${name}: tool over bare rg, CPU`, cpu.tool / cpu.bare, "times");
}

async function measured(work) {
  const childBefore = childCpuMs();
  const ownBefore = process.cpuUsage();
  const started = performance.now();
  await work();
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(ownBefore);
  return { wallMs, ownCpuMs: (user + system) / 1_000, childCpuMs: childCpuMs() - childBefore };
}

/** The time of children that are gone, in ticks of 10 ms: only a sum over many rounds says something. Linux only. */
function childCpuMs() {
  if (process.platform !== "linux") return 0;
  const fields = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function runBare(cwd, args, lines) {
  return new Promise((resolve, reject) => {
    const child = spawn(rgPath, args, { cwd, env: {}, stdio: ["ignore", "pipe", "inherit"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.once("error", reject);
    child.once("close", () => {
      const printed = chunks.reduce((count, chunk) => count + chunk.toString("latin1").split("\n").length - 1, 0);
      if (printed === lines) resolve();
      else reject(new Error(`rg printed ${printed} lines, not ${lines}`));
    });
  });
}

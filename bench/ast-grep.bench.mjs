/**
 * Measures `ast_grep` over 10,000 files beside the ast-grep program with the same result: at most 1.5 times its CPU. The search is a
 * process of its own, with ripgrep and the parser below it, outside of the sandbox. Linux only.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const files = 10_000;
const rounds = 5;
const version = JSON.parse(readFileSync(join(root, "packages/features/package.json"), "utf8")).optionalDependencies[
  "@ast-grep/napi"
];

/** Every file has the name, so that every file is parsed; few have the call. */
const cases = [
  { name: "all files parsed, 50 matches", pattern: "compute($A, $B, $C)", matches: 50 },
  { name: "a rare name, 50 matches", pattern: "rareCall($A)", matches: 50 },
];

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-ast-bench-"));
  try {
    const bare = installBare(directory);
    if (bare === undefined) return;
    const tree = join(directory, "tree");
    writeTree(tree);
    const program = await buildProgram();
    for (const { name, pattern, matches } of cases) {
      const best = { bare: Infinity, own: Infinity };
      for (let round = 0; round < rounds; round++) {
        const bareRun = measure(bare, ["run", "--json=stream", "--lang", "ts", "--pattern", pattern, tree]);
        const printed = bareRun.stdout.split("\n").filter(Boolean).length;
        if (printed !== matches) throw new Error(`ast-grep found ${printed} matches, not ${matches}`);
        const ownRun = measure(process.execPath, [program, tree, pattern]);
        if (ownRun.stdout !== String(matches)) throw new Error(`ast_grep found ${ownRun.stdout}, not ${matches}`);
        best.bare = Math.min(best.bare, bareRun.cpuMs);
        best.own = Math.min(best.own, ownRun.cpuMs);
      }
      report(`${name}: ast-grep`, best.bare, "ms of CPU");
      report(`${name}: ast_grep`, best.own, "ms of CPU");
      report(`${name}: ast_grep over ast-grep`, best.own / best.bare, "times");
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Undefined, with a printed reason, if it cannot be installed. */
function installBare(directory) {
  const target = join(directory, "cli");
  mkdirSync(target);
  writeFileSync(join(target, "package.json"), "{}");
  const { status, stderr } = spawnSync("npm", ["install", "--no-audit", "--no-fund", `@ast-grep/cli@${version}`], {
    cwd: target,
    encoding: "utf8",
  });
  const platform = `cli-${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;
  const program = join(target, "node_modules/@ast-grep", platform, "ast-grep");
  if (status === 0 && existsSync(program)) return program;
  console.error(`Skipped: @ast-grep/cli could not be installed. ${stderr.trim().split("\n").at(-1) ?? ""}`);
  return undefined;
}

function writeTree(tree) {
  for (let id = 0; id < files; id++) {
    const path = join(tree, `module-${id % 100}`);
    if (id < 100) mkdirSync(path, { recursive: true });
    const lines = Array.from({ length: 30 }, (_unused, line) => `export const value${line} = compute(${id}, ${line});`);
    if (id % 200 === 0) lines[15] = `export const value15 = compute(${id}, 15, rareCall(3));`;
    writeFileSync(join(path, `file-${id}.ts`), `${lines.join("\n")}\n`);
  }
}

/** The CPU time of a program and of all that it waited for: rusage of children, by the shell's `times`. */
function measure(command, args) {
  const script = 'exec 3>&1; "$@" >&3; status=$?; times >&2; exit $status';
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script, "bash", command, ...args], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(stderr);
  const [user, system] = stderr.trim().split("\n").at(-1).split(" ").map(toMs);
  return { stdout, cpuMs: user + system };
}

const toMs = (text) => {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text);
  return Number(minutes) * 60_000 + Number(seconds) * 1_000;
};

const contents = `
import { spawn as startProcess } from "node:child_process";
import { createFiles, createSpawn } from "@tau/tools";
import { searchCode } from "./ast/search.ts";
import { Parser } from "./kit/syntax/parser.ts";
const [, , cwd, pattern] = process.argv;
const spawn = async (command, args) => {
  const child = startProcess(command, args, { stdio: "pipe" });
  const exit = new Promise((resolve) => child.once("exit", resolve));
  const { pid, stdin, stdout, stderr } = child;
  return { pid, stdin, stdout, stderr, exit, end: async () => { stdin.end(); await exit; } };
};
const parser = new Parser({ spawn });
const places = { cwd, agentDir: cwd, isProjectTrusted: () => false };
const context = { cwd, ports: { files: createFiles(), spawn: createSpawn() } };
const { files } = await searchCode({ parser, places }, context, { pattern, language: "ts" }, { maxMatches: 1_000, signal: undefined });
await parser.close();
process.stdout.write(String(files.reduce((sum, { matches }) => sum + matches.length, 0)), () => process.exit(0));
`;

async function buildProgram() {
  // In the repository, because it looks for the parser and for ripgrep from there.
  const outfile = join(root, "node_modules/.cache/tau-bench/ast-grep.mjs");
  await build({
    stdin: { contents, resolveDir: join(root, "packages/features/src"), loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@tau/source"],
    external: [
      "@ast-grep/napi",
      "@napi-rs/keyring",
      "@vscode/ripgrep",
      "@silvia-odwyer/photon-node",
      "web-tree-sitter",
    ],
    banner: {
      js: 'import { createRequire as createBundleRequire } from "node:module"; const require = createBundleRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return outfile;
}

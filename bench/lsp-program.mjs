/** Builds and runs a program that asks the scripted language server. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const server = join(root, "packages/features/test/lsp/scripted-server.mjs");

const prelude = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { systemClock } from "@tau/ai";
import { createFiles } from "@tau/tools";
import { LspServers } from "./lsp/servers.ts";
import { LspSession } from "./lsp/session.ts";
import { SourceFiles } from "./lsp/source-files.ts";
const cwd = process.argv[2];
const file = cwd + "/a.toy";
const contents = "def one\\nuse one\\n".repeat(500);
writeFileSync(file, contents);
const child = spawn(process.execPath, [${JSON.stringify(server)}], { stdio: ["pipe", "pipe", "ignore"] });
const opened = new Map();
const servers = new LspServers({
  cwd, clock: systemClock, env: { PATH: "" }, isProjectTrusted: () => true, getAllowedPaths: () => [],
  allowStart: async () => {}, log() {},
  getServers: () => [{ name: "toy", command: process.execPath, args: [], fileTypes: [".toy"], rootMarkers: [], install: "" }],
  async share(key, open) {
    const exit = new Promise((resolve) => child.once("exit", resolve));
    const program = { pid: child.pid, stdin: child.stdin, stdout: child.stdout, stderr: process.stdin, exit, end: async () => child.kill() };
    if (!opened.has(key)) opened.set(key, open(async () => program));
    return await opened.get(key);
  },
});
const session = new LspSession({ cwd, servers, files: new SourceFiles({ cwd, clock: systemClock, port: createFiles() }) });
const createSession = () => session;
`;

/** The program has `child`, `file`, `contents` and `createSession`, and prints one JSON value. */
export async function runLspProgram(contents) {
  const directory = mkdtempSync(join(tmpdir(), "tau-lsp-bench-"));
  try {
    const outfile = join(directory, "program.mjs");
    await build({
      stdin: { contents: prelude + contents, resolveDir: join(root, "packages/features/src"), loader: "ts" },
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      conditions: ["@tau/source"],
      external: ["@napi-rs/keyring", "@vscode/ripgrep", "@silvia-odwyer/photon-node"],
      banner: {
        js: 'import { createRequire as createBundleRequire } from "node:module"; const require = createBundleRequire(import.meta.url);',
      },
      logLevel: "error",
    });
    const { stdout, stderr, status } = spawnSync(process.execPath, [outfile, directory], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Measures servers of MCP beside the library alone: the first tool of a program, loading included on both sides, and a call. Each
 * round is a process of its own. The program runs outside of the sandbox on both sides: `sandbox-start` measures that.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const rounds = 10;
const calls = 500;

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-mcp-bench-"));
  try {
    const server = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
    const bare = await buildProgram(directory, "bare", bareProgram(server));
    const ours = await buildProgram(directory, "ours", ourProgram(server));
    const results = { bare: [], ours: [] };
    for (let round = 0; round < rounds; round++) {
      results.bare.push(run(bare, directory, round));
      results.ours.push(run(ours, directory, round));
    }
    const best = (name, key) => Math.min(...results[name].map((result) => result[key]));
    report("first tool, library alone", best("bare", "first"), "CPU ms");
    report("first tool", best("ours", "first"), "CPU ms");
    report("first tool, more than the library", best("ours", "first") - best("bare", "first"), "CPU ms");
    report("a call, more than the library", best("ours", "call") - best("bare", "call"), "CPU ms");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function run(program, directory, round) {
  const agentDir = join(directory, `agent-${round}`);
  mkdirSync(agentDir, { recursive: true });
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, agentDir], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/**
 * Puts what is loaded together into few files, as the program of tau is. What neither side loads is left out: with it, esbuild
 * would cut the rest into forty files, and each costs a millisecond.
 */
const leaveOutUnused = {
  name: "leave-out-unused",
  setup: ({ onResolve }) =>
    onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === "dynamic-import" && !path.endsWith("/connection.ts") ? { path, external: true } : undefined,
    ),
};

async function buildProgram(directory, name, contents) {
  const file = join(directory, `${name}.mjs`);
  writeFileSync(file, contents);
  const outdir = join(directory, name);
  await build({
    stdin: { contents, resolveDir: join(root, "packages/features/src"), loader: "ts" },
    outdir,
    entryNames: "program",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@tau/source"],
    external: ["@napi-rs/keyring", "@vscode/ripgrep", "@silvia-odwyer/photon-node"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    minify: true,
    plugins: [leaveOutUnused],
    logLevel: "error",
  });
  return join(outdir, "program.mjs");
}

const measured = (connect, callOnce) => `
const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
${connect}
const first = cpu();
for (let index = 0; index < ${calls}; index++) await ${callOnce};
const call = (cpu() - first) / ${calls};
process.stdout.write(JSON.stringify({ first, call }), () => process.exit(0));
`;

/** The probe of the library starts a second program, which ours does not: it is told the revision. */
const bareProgram = (server) =>
  measured(
    `
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
const client = new Client({ name: "bench", version: "1" });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [${JSON.stringify(server)}, "stdio"], stderr: "ignore" }));
await client.listTools();
await client.callTool({ name: "echo", arguments: { message: "hi" } });`,
    `client.callTool({ name: "echo", arguments: { message: "hi" } })`,
  );

const ourProgram = (server) =>
  measured(
    `
import { spawn } from "node:child_process";
import { systemClock } from "@tau/ai";
import { McpServers } from "./mcp/servers.ts";
import { parseEntries } from "./mcp/parse-entries.ts";
import { toToolResult } from "./mcp/tool-result.ts";
const agentDir = process.argv[2];
const start = async (command, args, { cwd, env }) => {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: "pipe" });
  const exit = new Promise((resolve) => child.once("exit", resolve));
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, end: async () => { child.kill("SIGKILL"); await exit; } };
};
const servers = new McpServers({
  cwd: agentDir, agentDir, version: "1", env: process.env, clock: systemClock,
  share: async (_key, create) => create(start),
  isPermissive: () => true, getNetwork: () => "none", ask: async () => true,
  person: { elicit: async () => ({ action: "decline" }), sample: async () => { throw new Error("no"); } },
  fetch, log: () => {},
});
const server = { command: process.execPath, args: [${JSON.stringify(server)}, "stdio"] };
await servers.configure(parseEntries([{ source: { scope: "user", path: "mcp.json" }, servers: { s: server } }]));
const callOnce = async () => {
  const result = await servers.run("s", (connection) => connection.callTool(servers.findTool("s", "echo"), { message: "hi" }, {}));
  return toToolResult(result, { server: "s", tool: "echo" });
};
await callOnce();`,
    "callOnce()",
  );

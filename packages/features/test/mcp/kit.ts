/** Servers of MCP for tests: real programs and real sockets, and what became of them. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { onTestFinished } from "vitest";
import type { McpPerson, McpSpawn, McpSpawnOptions } from "../../src/mcp/ports.ts";
import { parseEntries } from "../../src/mcp/parse-entries.ts";
import type { McpServer } from "../../src/mcp/server.ts";
import { McpServers, type McpServersParts } from "../../src/mcp/servers.ts";

const require = createRequire(import.meta.url);

/** The script of a reference server. */
export const getReferenceServer = (name: "everything" | "filesystem" | "memory"): string =>
  require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);

export const hostileServer = join(import.meta.dirname, "hostile-server.mjs");

/** Starts programs without a sandbox, and knows which of them live. */
export class Programs {
  readonly #children = new Set<ChildProcess>();
  readonly started: { command: string; args: readonly string[]; options: McpSpawnOptions }[] = [];

  readonly spawn: McpSpawn = async (command, args, options) => {
    this.started.push({ command, args, options });
    const inherited = options.inherits.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...Object.fromEntries(inherited), ...options.env },
      stdio: "pipe",
    });
    this.#children.add(child);
    const exit = new Promise<void>((resolve) => {
      const end = () => {
        this.#children.delete(child);
        resolve();
      };
      child.once("exit", end);
      child.once("error", end);
    });
    return {
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: child.stderr,
      exit,
      async end() {
        child.kill("SIGKILL");
        await exit;
      },
    };
  };

  get running(): number {
    return this.#children.size;
  }

  /** The process that was started last. */
  get last(): ChildProcess {
    return [...this.#children].at(-1)!;
  }
}

export async function makeDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "tau-mcp-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

export interface TestServers {
  servers: McpServers;
  programs: Programs;
  questions: { title: string; lines: readonly string[] }[];
  logged: string[];
  agentDir: string;
}

export interface TestServersOptions extends Partial<McpServersParts> {
  /** The value of `mcpServers` of the user's file. */
  configured: Record<string, unknown>;
  /** The answer to every question. Default yes. */
  answer?: boolean | undefined;
  scope?: "user" | "project";
}

/** Servers of a session with everything real but the sandbox and the person. They are ended with the test. */
export async function createTestServers(options: TestServersOptions): Promise<TestServers> {
  const { configured, scope = "user", ...parts } = options;
  const programs = new Programs();
  const questions: TestServers["questions"] = [];
  const logged: string[] = [];
  const shared = new Map<string, McpServer>();
  const agentDir = parts.agentDir ?? (await makeDirectory());
  const servers = new McpServers({
    cwd: agentDir,
    agentDir,
    version: "1.0.0",
    env: process.env,
    clock: systemClock,
    async share(key, create) {
      const server = shared.get(key) ?? create(programs.spawn);
      shared.set(key, server);
      return server;
    },
    isPermissive: () => false,
    getNetwork: () => "none",
    async ask(title, lines) {
      questions.push({ title, lines });
      return "answer" in options ? options.answer : true;
    },
    person: nobody,
    fetch,
    log: (message) => void logged.push(message),
    ...parts,
  });
  onTestFinished(async () => {
    servers.close();
    await Promise.all([...shared.values()].map((server) => server.close()));
  });
  await servers.configure(parseEntries([{ source: { scope, path: "/mcp.json" }, servers: configured }]));
  return { servers, programs, questions, logged, agentDir };
}

/** Refuses everything. */
export const nobody: McpPerson = {
  elicit: async () => ({ action: "decline" }),
  sample: async () => {
    throw new Error("Refused.");
  },
};

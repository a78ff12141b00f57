/** Language servers for tests: real programs, without a sandbox where only the client is tested. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Clock, systemClock } from "@tau/ai";
import { call } from "@tau/ai/testing";
import type { SharedResource } from "@tau/extensions";
import { createFiles } from "@tau/tools";
import { onTestFinished } from "vitest";
import type { LspSpawn } from "../../src/lsp/program.ts";
import { combineServers, type ServerChanges } from "../../src/lsp/server-config.ts";
import { LspServers } from "../../src/lsp/servers.ts";
import { LspSession } from "../../src/lsp/session.ts";
import { SourceFiles } from "../../src/lsp/source-files.ts";
import { discovery, lsp } from "../../src/index.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

export const scriptedServer = join(import.meta.dirname, "scripted-server.mjs");

export async function makeDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tau-lsp-")));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

export async function writeFiles(
  directory: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
}

/** The configuration of the scripted server, for files with the end `.toy`. */
export const toyServer = (behaviour: string, starts = ""): ServerChanges => ({
  command: process.execPath,
  args: [scriptedServer, behaviour, ...(starts === "" ? [] : [starts])],
  fileTypes: [".toy"],
  settings: { toy: { rules: { strict: true } } },
});

/** Starts programs, and knows which of them live. */
export class Programs {
  readonly #children = new Set<ChildProcess>();
  starts = 0;

  readonly spawn: LspSpawn = async (command, args, { cwd }) => {
    this.starts++;
    const child = spawn(command, args, { cwd, stdio: "pipe" });
    this.#children.add(child);
    const exit = new Promise<unknown>((resolve) => {
      const end = (status: object) => {
        this.#children.delete(child);
        resolve(status);
      };
      child.once("exit", (code, signal) => end(signal ? { kind: "signalled", signal } : { kind: "exited", code }));
      child.once("error", (error) => end({ kind: "failed", message: error.message }));
    });
    const end = async () => {
      child.kill("SIGKILL");
      await exit;
    };
    return { pid: child.pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, end };
  };

  get running(): number {
    return this.#children.size;
  }

  kill(): void {
    for (const child of this.#children) child.kill("SIGKILL");
  }
}

export interface ToySession {
  session: LspSession;
  programs: Programs;
  cwd: string;
}

/** Servers of a session, with everything real but the sandbox. They are ended with the test. */
export async function openToy(
  behaviour: string,
  {
    files = { "a.toy": "def one\nuse one\nbad two\n" },
    clock = systemClock as Clock,
    servers = {} as Record<string, ServerChanges>,
  } = {},
): Promise<ToySession> {
  const cwd = await makeDirectory();
  await writeFiles(cwd, files);
  const programs = new Programs();
  const shared = new Map<string, Promise<SharedResource>>();
  const { servers: definitions } = combineServers([
    { changes: { toy: toyServer(behaviour), ...servers }, problems: [] },
  ]);
  const lspServers = new LspServers({
    cwd,
    clock,
    env: { PATH: "" },
    isProjectTrusted: () => true,
    getServers: () => definitions,
    allowStart: async () => {},
    async share<T extends SharedResource>(key: string, open: (spawn: LspSpawn) => T | Promise<T>): Promise<T> {
      const resource = shared.get(key) ?? Promise.resolve(open(programs.spawn));
      shared.set(key, resource);
      resource.catch(() => shared.delete(key));
      return (await resource) as T;
    },
    log: () => {},
  });
  onTestFinished(async () => {
    // A server that never becomes ready is waited for as long as it runs.
    programs.kill();
    for (const resource of shared.values()) await (await resource.catch(() => undefined))?.close();
  });
  return {
    session: new LspSession({ cwd, servers: lspServers, files: new SourceFiles({ cwd, clock, port: createFiles() }) }),
    programs,
    cwd,
  };
}

/** A call of the tool, as a model makes it that has found it. */
export const lspCall = (args: object, id: string) => call("call_tool", { name: "lsp", arguments: args }, id);

/** A session of tau with the feature, whose model makes these calls. Resolves with the results. */
export async function runCalls(
  calls: readonly ReturnType<typeof call>[],
  params: TestSessionParams = {},
): Promise<{ results: CallResult[]; opened: Awaited<ReturnType<typeof createTestSession>> }> {
  const turns = [...calls.map((each) => [each]), [{ type: "text" as const, text: "Done." }]];
  const opened = await createTestSession(turns, {
    features: [discovery(), lsp()],
    // Where there is no sandbox, the start of a server is asked about.
    ask: async () => ({ decision: "allow" }),
    ...params,
  });
  onTestFinished(() => opened.dispose());
  await opened.prompt("go");
  return { results: listResults(opened), opened };
}

export interface CallResult {
  name: string;
  isError: boolean;
  text: string;
  details: unknown;
}

export const listResults = ({ session }: Awaited<ReturnType<typeof createTestSession>>): CallResult[] =>
  session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? [
          {
            name: message.toolName,
            isError: message.isError,
            text: message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
            details: message.details,
          },
        ]
      : [],
  );

export const readLines = async (path: string): Promise<string[]> =>
  (await readFile(path, "utf8").catch(() => "")).split("\n").filter(Boolean);

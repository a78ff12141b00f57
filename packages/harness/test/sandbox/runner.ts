/**
 * Runs commands with and without the sandbox, in a process of its own: the tests start it as root and as an ordinary user.
 * Reads one JSON document from its standard input, and writes one line of JSON for each step.
 */
import { createBashTool, createFiles, createJobs, createSpawn } from "@tau/tools";
import { createSessionSandbox } from "../../src/sandbox/session-sandbox.ts";
import { defaultSandboxSettings, type SandboxSettings } from "../../src/sandbox/settings.ts";

export interface RunnerInput {
  cwd: string;
  home: string;
  agentDir: string;
  settings?: Partial<SandboxSettings>;
  readable?: string[];
  /** A path, or false for a sandbox for each command; undefined for no sandbox at all. */
  helper: string | false | undefined;
  env?: Record<string, string>;
  /** Run one after the other, in one session. */
  commands: string[];
  /** Not closed at the end: the process goes on until it is killed. */
  stays?: boolean;
  /** Milliseconds after which each command is aborted. */
  abortAfterMs?: number;
}

export interface RunnerResult {
  state: string;
  text: string;
  isError: boolean;
}

async function readInput(): Promise<RunnerInput> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString()) as RunnerInput;
}

const input = await readInput();
const { cwd, home, agentDir, helper, commands, readable = [] } = input;
const sandbox =
  helper === undefined
    ? undefined
    : createSessionSandbox({
        cwd,
        home,
        agentDir,
        readable,
        helper,
        settings: { ...defaultSandboxSettings, mode: "required", ...input.settings },
      });
const jobs = createJobs();
const env = { PATH: process.env["PATH"] ?? "", HOME: home, ...input.env };
const spawn = createSpawn();
const tool = createBashTool({ cwd, spawn, jobs, env });
const context = { files: createFiles(), spawn, ...(sandbox && { sandbox }) };
for (const command of commands) {
  const signal = input.abortAfterMs === undefined ? undefined : AbortSignal.timeout(input.abortAfterMs);
  const background = command.startsWith("&");
  const call = { command: command.replace(/^&/, ""), ...(background && { background }) };
  const state = sandbox ? JSON.stringify(await sandbox.getState()) : "none";
  const result = await tool.execute("id", call, signal, undefined, context).then(
    ({ content }) => ({
      text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      isError: false,
    }),
    (error: unknown) => ({ text: (error as Error).message, isError: true }),
  );
  process.stdout.write(`${JSON.stringify({ state, ...result } satisfies RunnerResult)}\n`);
}
if (input.stays) setInterval(() => undefined, 1_000);
else {
  await jobs.dispose();
  await sandbox?.close();
}

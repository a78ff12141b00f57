/**
 * Runs commands in the sandbox, in a process of its own: the tests start it as root and as an ordinary user.
 * Each line of its standard input is a JSON list of sessions, and it writes one line of JSON for each command, and one when
 * the sessions of the list are closed. The first argument says how many sessions of a list run at a time.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import {
  type BashDetails,
  createBashTool,
  createFiles,
  createJobs,
  createJobsTool,
  createSpawn,
  type SandboxRefusal,
  type ToolsError,
} from "@tau/tools";
import type { SandboxGrant } from "../src/port.ts";
import { createSessionSandbox } from "../src/session-sandbox.ts";
import { defaultSandboxSettings, type SandboxSettings } from "../src/settings.ts";

/** About half a minute. */
const maxReads = 300;

export interface RunnerInput {
  temporaryDirectories?: string[];
  cwd: string;
  home: string;
  agentDir: string;
  settings?: Partial<SandboxSettings>;
  readable?: string[];
  /** A path, or false for a sandbox for each command. */
  helper: string | false;
  env?: Record<string, string>;
  /**
   * Run one after the other, in one session. `&` makes a background job, `%` one on a terminal, and `>` writes to the last one; `!`
   * runs it outside.
   */
  commands: string[];
  /** Permissions of a person before a command, by its index. */
  grants?: Record<number, SandboxGrant>;
  /** Regular expressions that the last terminal must show after a command, by its index: it is read until it does. */
  screens?: Record<number, string>;
  /** How programs outside may reach servers at other ports. Each question is written as a line `{"asked": port}`. */
  ports?: { standing: "open" | "ask" | "closed"; answer: boolean };
  /** Not closed at the end: the process goes on until it is killed. */
  stays?: boolean;
  /** Processes at once. */
  maxProcesses?: number;
  /** Milliseconds after which each command is aborted. */
  abortAfterMs?: number;
  /** A file of the workspace: each command is aborted when it is there. */
  abortOn?: string;
}

export interface RunnerResult {
  /** The index of the list. */
  list: number;
  /** The index of the session in its list. */
  session: number;
  state: string;
  text: string;
  isError: boolean;
  /** The refusals of the sandbox. */
  refused?: SandboxRefusal;
}

/** Written when all sessions of a list are closed. */
export interface RunnerEnd {
  list: number;
  isEnd: true;
}

const spawn = createSpawn();
let lists = 0;
createInterface(process.stdin).on("line", (line) => void runList(JSON.parse(line) as RunnerInput[], lists++));

async function runList(sessions: readonly RunnerInput[], list: number): Promise<void> {
  const waiting = sessions.entries();
  const runWaiting = async () => {
    for (const [index, input] of waiting) await runSession(input, { list, session: index });
  };
  await Promise.all(Array.from({ length: Number(process.argv[2]) }, runWaiting));
  const end: RunnerEnd = { list, isEnd: true };
  process.stdout.write(`${JSON.stringify(end)}\n`);
}

function abortWhenThere(path: string): AbortSignal {
  const abort = new AbortController();
  const look = setInterval(() => {
    if (!existsSync(path)) return;
    clearInterval(look);
    abort.abort();
  }, 10);
  return abort.signal;
}

async function runSession(input: RunnerInput, at: Pick<RunnerResult, "list" | "session">): Promise<void> {
  const {
    helper,
    commands,
    abortAfterMs,
    abortOn,
    stays,
    settings,
    env,
    maxProcesses,
    grants = {},
    screens = {},
    ports,
    ...place
  } = input;
  const sandbox = createSessionSandbox({
    ...place,
    helper,
    settings: { ...defaultSandboxSettings, mode: "required", ...settings },
  });
  if (ports)
    sandbox.usePortPolicy({
      getStanding: async () => ports.standing,
      ask: async (asked) => {
        process.stdout.write(`${JSON.stringify({ asked })}\n`);
        return ports.answer;
      },
    });
  const jobs = createJobs();
  const tool = createBashTool({
    cwd: place.cwd,
    spawn,
    jobs,
    ...(helper !== false && { findTerminalProgram: async () => helper }),
    ...(maxProcesses !== undefined && { limits: { processes: maxProcesses } }),
    env: { PATH: process.env["PATH"] ?? "", HOME: place.home, ...env },
  });
  const jobsTool = createJobsTool({ jobs });
  for (const [index, command] of commands.entries()) {
    const grant = grants[index];
    const context = { files: createFiles(), spawn, sandbox: grant ? await sandbox.widen(grant) : sandbox };
    if (command.startsWith("!")) {
      await promisify(execFile)("bash", ["--norc", "-c", command.slice(1)], { cwd: place.cwd });
      writeResult({ ...at, state: "", text: "", isError: false });
      continue;
    }
    const signal =
      abortOn === undefined
        ? abortAfterMs === undefined
          ? undefined
          : AbortSignal.timeout(abortAfterMs)
        : abortWhenThere(join(place.cwd, abortOn));
    const state = JSON.stringify(await sandbox.getState());
    const background = command.startsWith("&");
    const tty = command.startsWith("%");
    const call = { command: command.replace(/^[&%]/, ""), ...(background && { background }), ...(tty && { tty }) };
    const lastJob = () => jobs.list().at(-1)?.id ?? "";
    const writing = { action: "write", id: lastJob(), text: command.slice(1) } as const;
    const running = command.startsWith(">")
      ? jobsTool.execute("id", writing, signal)
      : tool.execute("id", call, signal, undefined, context);
    const screen = new RegExp(screens[index] ?? "");
    const result = await running.then(
      async ({ content }) => {
        let text = toText(content);
        for (let reads = 0; !screen.test(text) && reads < maxReads; reads++) {
          await sleep(100);
          text = toText((await jobsTool.execute("id", { action: "read", id: lastJob() })).content);
        }
        return { text, isError: false };
      },
      (error: unknown) => {
        const { message, details } = error as ToolsError;
        const { refused } = (details ?? {}) as Partial<BashDetails>;
        return { text: message, isError: true, ...(refused && { refused }) };
      },
    );
    writeResult({ ...at, state, ...result });
  }
  if (stays) return await new Promise(() => setInterval(() => undefined, 1_000));
  await jobs.dispose();
  await sandbox.close();
}

const toText = (content: readonly { type: string; text?: string }[]) =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");

function writeResult(result: RunnerResult): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** Runs one command, from start to end, with its output. */
import { constants } from "node:os";
import { type Clock } from "@tau/ai";
import { getErrorMessage, sleep, untilTimeout } from "@tau/ai/internal";
import { systemCode } from "../errors.ts";
import type { CommandSandbox, SandboxRefusal } from "../platform/command-sandbox.ts";
import type { ExitStatus, Spawn, SpawnRequest } from "../platform/spawn.ts";
import { type Contained, type Containment, startContained } from "./contained.ts";
import { toArgv, type Shell, tooLong } from "./interpreter.ts";
import type { Limits } from "./limits.ts";
import type { Logs } from "./log-file.ts";
import { Output, type OutputOptions } from "./output.ts";
import { leftoverNotice, type PidNamespace } from "./pid-namespace.ts";
import type { ProcessTable } from "./process-tree.ts";
import { defaultSize } from "./terminal/keys.ts";
import type { Terminal } from "./terminal/terminal.ts";
import type { Watchdog } from "./watchdog.ts";

/** Ports and limits that every command of one tool shares. */
export interface CommandPorts {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly spawn: Spawn;
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly watchdog: Watchdog;
  readonly logs: Logs;
  readonly namespace: () => Promise<PidNamespace | undefined>;
  readonly sandbox?: CommandSandbox;
  readonly limits?: Partial<Limits>;
  readonly findShell: () => Promise<Shell>;
  /** Comes before every command, on a line of its own. */
  readonly commandPrefix?: string;
}

interface CommandRequest {
  command: string;
  /** Names the file with its output. */
  name: string;
  /** Throws when nothing may be started any more. Called last, since finding a shell and a namespace takes time. */
  admit: () => void;
  onText?: OutputOptions["onText"];
  /** The program that opens a terminal for the command. Default: none, and the command has pipes. */
  terminalProgram?: string;
}

export interface RunningCommand {
  readonly process: Contained;
  readonly output: Output;
  readonly terminal: Terminal | undefined;
  /** Settles when the command and the processes it left are ended, and its output is read. Never rejects. */
  readonly done: Promise<ExitStatus>;
  /** After `done`: what the sandbox refused, if it failed. */
  refused(): Promise<SandboxRefusal | undefined>;
  /** Ends it with everything it started, and waits for that for a limited time. */
  end(graceMs: number): Promise<void>;
}

/**
 * How long the output may be silent after the exit, and how long it is read at most: a process that outlives the command
 * may keep the pipe open. None outlives a namespace, so there the rest of the output only has to arrive.
 */
const idleMs = { "best effort": 100, "pid namespace": 2_000 };
const drainMs = 10_000;
const settleMs = 200;
const openPipeNotice = "[A process that outlives the command keeps its output open, which is cut here.]";

export async function startCommand(ports: CommandPorts, request: CommandRequest): Promise<RunningCommand> {
  const { logs, clock } = ports;
  const { name, onText } = request;
  const process = await startProcess(ports, request);
  const terminal = request.terminalProgram === undefined ? undefined : await openTerminal(process, clock);
  const output = new Output({
    logs,
    name,
    isInSandbox: process.isInSandbox,
    ...(onText && { onText }),
    ...(terminal && { onBytes: (bytes) => terminal.push(bytes) }),
  });
  const stderr = terminal?.rest ?? process.stderr;
  const reading = Promise.all([output.read(process.stdout, "stdout"), output.read(stderr, "stderr")]);
  const finished = finish(process, output, reading, clock);
  const done = finished.then(({ status }) => status);
  return {
    process,
    output,
    terminal,
    done,
    refused: async () => (await finished).refused,
    async end(graceMs) {
      await process.end(graceMs);
      await Promise.race([done, sleep(clock, settleMs)]);
    },
  };
}

async function openTerminal({ stdin, stderr, isInSandbox }: Contained, clock: Clock): Promise<Terminal> {
  const { Terminal } = await import("./terminal/terminal.ts");
  return new Terminal({ stdin: stdin!, stderr, clock, isInSandbox });
}

async function startProcess(
  ports: CommandPorts,
  { command, admit, terminalProgram }: CommandRequest,
): Promise<Contained> {
  const { cwd, env, commandPrefix, sandbox, ...others } = ports;
  const whole = commandPrefix === undefined ? command : `${commandPrefix}\n${command}`;
  const argv = toArgv(await ports.findShell(), whole);
  const request: SpawnRequest =
    terminalProgram === undefined ? { argv, cwd, env } : toTerminalRequest({ argv, cwd, env }, terminalProgram);
  const entry = await sandbox?.enter(request);
  try {
    const namespace = entry ? undefined : await ports.namespace();
    admit();
    return await startContained({ ...others, namespace, request, sandbox: entry });
  } catch (error) {
    await entry?.finish();
    if (systemCode(error) === "E2BIG") throw tooLong(command, "the system takes less");
    throw error;
  }
}

/** Its programs may ask for the size of the terminal, and page their output. */
function toTerminalRequest({ argv, cwd, env }: SpawnRequest, program: string): SpawnRequest {
  const { PAGER: _pager, GIT_PAGER: _gitPager, MANPAGER: _manPager, ...others } = env;
  const { columns, rows } = defaultSize;
  return {
    argv: [program, "terminal", String(columns), String(rows), ...argv],
    cwd,
    env: { ...others, TERM: "xterm" },
    stdin: "pipe",
  };
}

async function finish(process: Contained, output: Output, reading: Promise<unknown>, clock: Clock) {
  const status = await process.exit;
  // The command is over, and so has a result, whatever fails from here on.
  const addFailure = (what: string) => async (error: unknown) => {
    await output.addNotice(`[${what}: ${getErrorMessage(error)}]`);
    return undefined;
  };
  // First, because a process that is about to be ended does not hold the output for long.
  const hadLeftovers = await process.sweep().catch(addFailure("Processes of the command may still be running"));
  await drain(process, output, reading, clock);
  const hasFailed = status.kind !== "exited" || status.code !== 0;
  const report = await process
    .leaveSandbox({ hasFailed, output: output.snapshot().text })
    .catch(addFailure("The sandbox could not check what the command changed"));
  if (process.excess !== undefined) await output.addNotice(process.excess);
  for (const notice of report?.notices ?? []) await output.addNotice(notice);
  if (hadLeftovers) await output.addNotice(leftoverNotice + doubt(process.containment));
  await output.close();
  return { status, refused: report?.refused };
}

async function drain(process: Contained, output: Output, reading: Promise<unknown>, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + drainMs;
  for (let seen = -1; ;) {
    const { kind } = await untilTimeout(reading, idleMs[process.containment], clock);
    if (kind === "done") return;
    // Timers run before I/O: after a stall, output may have arrived that was not read yet.
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
    const isSilent = output.arrivals === seen && !output.isBusy;
    if (isSilent || clock.monotonic() > deadline) break;
    seen = output.arrivals;
  }
  process.stdout.destroy();
  process.stderr.destroy();
  await reading;
  await output.addNotice(openPipeNotice);
}

/** A remark for a command that was ended, where its processes are not contained for certain. Pure. */
export const doubt = (containment: Containment): string =>
  containment === "best effort" ? " (best effort: something it started may still run)" : "";

/** How it ended; undefined for success. Shells report a signal as 128 plus its number. Pure. */
export function describeStatus(status: ExitStatus, cwd: string): string | undefined {
  switch (status.kind) {
    case "exited": {
      if (status.code === 0) return undefined;
      const signal = getSignal(status.code);
      return `Command exited with code ${status.code}${signal ? ` (${signal})` : ""}`;
    }
    case "signalled":
      return `Command was ended by ${status.signal}`;
    case "failed":
      return `Command could not be started in ${cwd}: ${status.message}`;
  }
}

export function getSignal(code: number): string | undefined {
  if (code <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

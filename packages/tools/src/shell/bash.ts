import type { AgentToolResult, AgentToolUpdateCallback } from "@tau/agent";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { sleep, untilAborted } from "@tau/ai/internal";
import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError, type ToolsErrorCode } from "../errors.ts";
import { type FileSystem, nodeFileSystem } from "../platform/file-system.ts";
import type { ExitStatus, Spawn } from "../platform/spawn.ts";
import type { DescribedTool } from "../tool.ts";
import type { BashDetails } from "./bash-details.ts";
import { type CommandPorts, doubt, type RunningCommand, getSignal, startCommand, describeStatus } from "./command.ts";
import { type CommandEnvOptions, getCommandEnv } from "./environment.ts";
import type { CommandKind, StartWork } from "./running-commands.ts";
import { describeJob } from "./job.ts";
import { findShell, toArgv } from "./interpreter.ts";
import { type Jobs, whereIsLog } from "./jobs.ts";
import type { Limits } from "./limits.ts";
import { createLogs, createNoLogs } from "./log-file.ts";
import { findPidNamespace, leftoverNotice, type PidNamespace } from "./pid-namespace.ts";
import { createProcessTable } from "./process-tree.ts";
import { defaultMaxBytes } from "../truncate.ts";
import { getOutcome } from "./outcome.ts";
import { createUpdates } from "./updates.ts";
import { useWatchdog } from "./watchdog.ts";

export interface BashOptions extends CommandEnvOptions {
  cwd: string;
  spawn: Spawn;
  jobs: Jobs;
  clock?: Clock;
  ids?: Ids;
  /** The program that runs commands, with `-c`. Default: bash, else sh. */
  shell?: string;
  /** How long a command may take whose call sets no timeout, in milliseconds. Not for jobs. Default: no limit. */
  commandTimeoutMs?: number;
  /** The longest timeout of a command, in milliseconds. Not for jobs. Default: no limit. */
  maxCommandTimeoutMs?: number;
  /** Comes before every command, on a line of its own. */
  commandPrefix?: string;
  /** Where long output is kept. Default: private files among the system's temporary ones, until `jobs` are disposed of. */
  outputDirectory?: string;
  /** Bytes of output that are kept in a file. Default 64 MB. */
  maxOutputBytes?: number;
  fileSystem?: FileSystem;
  /** Finds what contains the processes of a command. Default: the first kind that works here, found once. */
  namespace?: () => Promise<PidNamespace | undefined>;
  /** Finds the program that opens terminals for commands. Default: none, and there are no terminals. */
  findTerminalProgram?: () => Promise<string | undefined>;
  /** How much of the machine a command and its processes may use. One that uses more is ended. */
  limits?: Partial<Limits>;
}

/** The output may have the secrets in it that the call was given. */
const secretLogs = createNoLogs("it may contain secrets");

/** An abort has to be quick; a timeout leaves programs the time to clean up. */
const abortGraceMs = 60;
const timeoutGraceMs = 500;
/** How long a start that was aborted may take before it is left to end by itself. */
const lateMs = 500;
/** How long the call waits for a job, so that one that fails at once is reported. */
const firstLookMs = 200;

/**
 * Runs a command in a shell. Its stdout and stderr are two pipes, and the output holds both in the order of arrival: two
 * lines that are written to different pipes at nearly the same time may be swapped.
 */
export function createBashTool(options: BashOptions): DescribedTool<ParametersOf<"bash">, BashDetails> {
  const { cwd, spawn, jobs, clock = systemClock, ids = systemIds, fileSystem: fs = nodeFileSystem } = options;
  const { outputDirectory: directory, maxOutputBytes: maxBytes } = options;
  const logs = createLogs({ fs, ids, clock, directory, maxBytes });
  const watchdog = useWatchdog({ spawn, clock });
  const getEnv = () => getCommandEnv(options);
  const ownPorts: Omit<CommandPorts, "env"> = {
    cwd,
    spawn,
    clock,
    findShell: async () => (options.shell === undefined ? await findShell(spawn, getEnv) : [options.shell]),
    table: createProcessTable(),
    watchdog,
    logs,
    namespace: options.namespace ?? (() => findPidNamespace(spawn)),
    ...(options.limits && { limits: options.limits }),
    ...(options.commandPrefix !== undefined && { commandPrefix: options.commandPrefix }),
  };
  jobs.atEnd(() => logs.remove());
  jobs.atEnd(() => watchdog.release());
  return {
    ...definitions.bash,
    async execute(
      toolCallId,
      { command, timeout, background: isJob = false, tty = false, wake = false },
      signal,
      onUpdate,
      context,
    ) {
      // What is known of the system, and the watchdog, belong to the tool; only the command itself is the call's.
      const { sandbox } = context ?? {};
      const env = { ...getEnv(), ...context?.env };
      const keeping = Object.keys(context?.env ?? {}).length > 0 ? { logs: secretLogs } : {};
      // The programs that make a sandbox are started outside of it.
      const running = sandbox ? { sandbox } : { spawn: context?.spawn ?? spawn };
      const ports = { ...ownPorts, env, ...keeping, ...running };
      if (command.includes("\0")) throw new ToolsError("invalid_input", "A command cannot contain a NUL character.");
      const background = isJob || tty;
      const terminalProgram = tty ? await findTerminalProgram(options) : undefined;
      const askedMs = timeout === undefined ? undefined : timeout * 1_000;
      const timeoutMs = background ? askedMs : limitTimeout(askedMs, options);
      const call = { command, timeoutMs, wakes: wake, signal, onUpdate, terminalProgram };
      if (context?.terminal && !sandbox && !background) {
        const { cwd: directory, commandPrefix: prefix } = ports;
        const argv = toArgv(await ports.findShell(), prefix === undefined ? command : `${prefix}\n${command}`);
        const request = { toolCallId, argv, cwd: directory, env, maxBytes: defaultMaxBytes };
        const elsewhere = await context.terminal.start(request);
        if (elsewhere) {
          const { finishInTerminal } = await import("./terminal.ts");
          return await finishInTerminal(elsewhere, { cwd: directory, timeoutMs, signal, clock });
        }
      }
      return await (background ? runInBackground(ports, jobs, call) : runToEnd(ports, jobs, call));
    },
  };
}

function limitTimeout(askedMs: number | undefined, { commandTimeoutMs, maxCommandTimeoutMs }: BashOptions) {
  const wantedMs = askedMs ?? commandTimeoutMs;
  return maxCommandTimeoutMs === undefined ? wantedMs : Math.min(wantedMs ?? maxCommandTimeoutMs, maxCommandTimeoutMs);
}

interface Call {
  command: string;
  timeoutMs: number | undefined;
  /** Whether the end of a job begins a run. */
  wakes: boolean;
  signal: AbortSignal | undefined;
  onUpdate: AgentToolUpdateCallback<BashDetails> | undefined;
  /** Opens the terminal of a job. */
  terminalProgram: string | undefined;
}

async function runToEnd(ports: CommandPorts, jobs: Jobs, call: Call): Promise<AgentToolResult<BashDetails>> {
  const { command, onUpdate, signal, timeoutMs } = call;
  const updates = createUpdates({
    clock: ports.clock,
    emit: (stream, text) => onUpdate?.({ content: [{ type: "text", text }], updateType: stream }),
  });
  const running = await start({ jobs, clock: ports.clock, signal, kind: "command" }, (admit) =>
    startCommand(ports, { command, name: "bash", admit, ...(onUpdate && { onText: updates.push }) }),
  );
  const outcome = await getOutcome(running.done, { clock: ports.clock, signal, timeoutMs });
  if (outcome.kind === "aborted") await running.end(abortGraceMs);
  if (outcome.kind === "timeout") await running.end(timeoutGraceMs);
  updates.finish();
  const status = outcome.kind === "done" ? outcome.status : undefined;
  const refused = status && (await running.refused());
  const fail = (code: ToolsErrorCode, verdict: string) =>
    new ToolsError(code, getText(running, verdict + doubt(running.process.containment)), {
      details: { ...getDetails(running, status), ...(refused && { refused }) },
    });
  switch (outcome.kind) {
    case "aborted":
      throw fail("aborted", "Command aborted");
    case "timeout": {
      const seconds = timeoutMs! / 1_000;
      throw fail("timeout", `Command timed out after ${seconds} second${seconds === 1 ? "" : "s"} and was ended`);
    }
    case "done": {
      const verdict = describeStatus(outcome.status, ports.cwd);
      if (verdict !== undefined && jobs.isOver()) throw fail("aborted", `${verdict}: the session is over`);
      if (verdict !== undefined) throw fail("failed", verdict);
      const { failure: updateFailure } = updates;
      const details = { ...getDetails(running, outcome.status), ...(updateFailure !== undefined && { updateFailure }) };
      return { content: [{ type: "text", text: getText(running) }], details };
    }
  }
}

interface Start {
  jobs: Jobs;
  clock: Clock;
  kind: CommandKind;
  signal: AbortSignal | undefined;
}

/**
 * Waits only a little for a start that was aborted, because wrapping a command may take any time. If the command starts
 * nevertheless, it is ended.
 */
async function start({ jobs, clock, kind, signal }: Start, work: StartWork): Promise<RunningCommand> {
  const admitted = () => {
    if (signal?.aborted) throw new ToolsError("aborted", "Command aborted before it was started");
  };
  admitted();
  const starting = jobs.start(kind, (admit) =>
    work(() => {
      admit();
      admitted();
    }),
  );
  const first = await untilAborted(starting, signal);
  if (first.kind === "done") return first.value;
  const isOver = new AbortController();
  const ended = starting.then((late) => late.end(abortGraceMs));
  // The call was aborted: why its start failed does not matter any more.
  await Promise.race([ended.catch(() => undefined), sleep(clock, lateMs, isOver.signal)]);
  isOver.abort();
  throw new ToolsError("aborted", "Command aborted while it was being started");
}

async function findTerminalProgram({ findTerminalProgram: find }: BashOptions): Promise<string> {
  const program = await find?.();
  if (program !== undefined) return program;
  const why = process.platform === "linux" ? "the sandbox's helper is not installed" : "terminals work on Linux only";
  const message = `Commands cannot have a terminal here: ${why}. Run it without tty, with options or files in the place of what would be typed.`;
  throw new ToolsError("unavailable", message);
}

async function runInBackground(
  ports: CommandPorts,
  jobs: Jobs,
  { command, timeoutMs, wakes, signal, terminalProgram }: Call,
): Promise<AgentToolResult<BashDetails>> {
  const running = await start({ jobs, clock: ports.clock, signal, kind: "job" }, (admit) =>
    startCommand(ports, { command, name: "job", admit, ...(terminalProgram !== undefined && { terminalProgram }) }),
  );
  const job = await jobs.add(command, running, { wakes, ...(timeoutMs !== undefined && { timeoutMs }) });
  const { terminal } = running;
  await Promise.race([running.done, terminal?.settleFirst(signal) ?? sleep(ports.clock, firstLookMs)]);
  jobs.detach(job.id);
  const how = job.ended ? "" : terminal ? " Write to it, read or kill it with jobs." : " Read or kill it with jobs.";
  const verdict = `[${describeJob(job)} ${whereIsLog(job.log)}.${how}]`;
  const text = terminal && !job.ended ? `${terminal.toText()}\n\n${verdict}` : getText(running, verdict);
  const details = { ...getDetails(running, job.ended?.status), jobId: job.id };
  return { content: [{ type: "text", text }], details };
}

/** The output, what is missing from it, and how it ended. */
function getText({ output }: RunningCommand, verdict = ""): string {
  const { text, notice } = output.snapshot();
  return [text, notice, verdict].filter(Boolean).join("\n\n") || "(no output)";
}

function getDetails({ process, output }: RunningCommand, status: ExitStatus | undefined): BashDetails {
  const { text, outputLength, shownLines, totalLines } = output.snapshot();
  const { kept } = output;
  const exitCode = status?.kind === "exited" ? status.code : undefined;
  const signal =
    status?.kind === "signalled" ? status.signal : exitCode === undefined ? undefined : getSignal(exitCode);
  return {
    containment: process.containment,
    shownLines,
    totalLines,
    outputLength,
    ...(text.includes(leftoverNotice, outputLength) && { endedProcesses: true }),
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    ...(kept && "file" in kept && { outputFile: kept.file }),
  };
}

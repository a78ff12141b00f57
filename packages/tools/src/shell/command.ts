/** One command of the model's, from start to end, with its output. */
import { constants } from "node:os";
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { systemCode } from "../errors.ts";
import type { ExitStatus, Spawn } from "../platform/spawn.ts";
import { type Contained, type Containment, startContained } from "./contained.ts";
import { toArgv, findShell, type Shell, tooLong } from "./interpreter.ts";
import type { Limits } from "./limits.ts";
import type { Logs } from "./log-file.ts";
import { Output, type OutputOptions } from "./output.ts";
import { leftoverNotice, type PidNamespace } from "./pid-namespace.ts";
import type { ProcessTable } from "./process-tree.ts";
import type { Watchdog } from "./watchdog.ts";

/** What every command of one tool shares. */
export interface CommandPorts {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly spawn: Spawn;
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly watchdog: Watchdog;
  readonly logs: Logs;
  readonly namespace: () => Promise<PidNamespace | undefined>;
  readonly limits?: Partial<Limits>;
  /** Default: bash, else sh. */
  readonly shell?: Shell;
  /** Comes before every command, on a line of its own. */
  readonly commandPrefix?: string;
}

export interface CommandRequest {
  command: string;
  /** Names the file with its output. */
  name: string;
  /** Throws when nothing may be started any more. Asked last: looking around takes time. */
  admit: () => void;
  onText?: OutputOptions["onText"];
}

export interface RunningCommand {
  readonly process: Contained;
  readonly output: Output;
  /** Settles when the command is over, what it left behind is ended, and its output is read. Never rejects. */
  readonly done: Promise<ExitStatus>;
  /** Ends it with everything it started, and waits for that; not for ever, if the system cannot do it. */
  end(graceMs: number): Promise<void>;
}

/**
 * How long the output may stay silent after the exit before it is taken for held by somebody else, and at most. Nobody
 * outlives a namespace, so there it only waits for what is on its way.
 */
const idleMs = { "best effort": 100, "pid namespace": 2_000 };
const drainMs = 10_000;
const settleMs = 200;
const heldNotice = "[Something that outlives the command holds its output, which is cut here.]";

export async function startCommand(ports: CommandPorts, request: CommandRequest): Promise<RunningCommand> {
  const { logs, clock } = ports;
  const { name, onText } = request;
  const process = await startProcess(ports, request);
  const output = new Output({ logs, name, ...(onText && { onText }) });
  const reading = Promise.all([output.read(process.stdout, "stdout"), output.read(process.stderr, "stderr")]);
  const done = finish(process, output, reading, clock);
  return {
    process,
    output,
    done,
    async end(graceMs) {
      await process.end(graceMs);
      await untilTimeout(done, settleMs, clock);
    },
  };
}

async function startProcess(ports: CommandPorts, { command, admit }: CommandRequest): Promise<Contained> {
  const { cwd, env, spawn, commandPrefix } = ports;
  const whole = commandPrefix === undefined ? command : `${commandPrefix}\n${command}`;
  const argv = toArgv(ports.shell ?? (await findShell(spawn, env)), whole);
  const namespace = await ports.namespace();
  admit();
  try {
    return await startContained({ ...ports, namespace, request: { argv, cwd, env } });
  } catch (error) {
    if (systemCode(error) === "E2BIG") throw tooLong(command, "the system takes less");
    throw error;
  }
}

async function finish(process: Contained, output: Output, reading: Promise<unknown>, clock: Clock) {
  const status = await process.exit;
  const [hadLeftovers] = await Promise.all([process.sweep(), drain(process, output, reading, clock)]);
  if (process.excess !== undefined) await output.addNotice(process.excess);
  if (hadLeftovers) await output.addNotice(leftoverNotice + doubt(process.containment));
  await output.close();
  return status;
}

async function drain(process: Contained, output: Output, reading: Promise<unknown>, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + drainMs;
  for (let seen = -1; ;) {
    if ((await untilTimeout(reading, idleMs[process.containment], clock)).kind === "done") return;
    // Timers come before what has arrived: after a stall, that is not silence yet.
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
    const isSilent = output.arrivals === seen && !output.isBusy;
    if (isSilent || clock.monotonic() > deadline) break;
    seen = output.arrivals;
  }
  process.stdout.destroy();
  process.stderr.destroy();
  await reading;
  await output.addNotice(heldNotice);
}

/** What has to be said along with an end that was not a good one, where nothing holds the processes for certain. Pure. */
export const doubt = (containment: Containment): string =>
  containment === "best effort" ? " (best effort: something it started may still run)" : "";

/** How it ended, in words; undefined when all is well. Shells report a signal as 128 and its number. Pure. */
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
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

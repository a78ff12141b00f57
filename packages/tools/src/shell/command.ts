/** One command of the model's, from start to end, with its output. */
import { constants } from "node:os";
import { type Clock, type Ids, sleep } from "@tau/ai";
import type { ExitStatus, Spawn } from "../platform/spawn.ts";
import { type Contained, startContained } from "./contained.ts";
import type { Logs } from "./log-file.ts";
import { Output, type StreamName } from "./output.ts";
import { leftoverNotice, type PidNamespace } from "./pid-namespace.ts";
import type { ProcessTable } from "./process-tree.ts";

/** What every command of one tool shares. */
export interface CommandPorts {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly spawn: Spawn;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly table: ProcessTable;
  readonly logs: Logs;
  readonly namespace: () => Promise<PidNamespace | undefined>;
  /** Throws when nothing may be started any more. Asked last: looking around takes time. */
  readonly admit: () => void;
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

export async function startCommand(
  ports: CommandPorts,
  command: string,
  { name, onText }: { name: string; onText?: (stream: StreamName, text: string) => void },
): Promise<RunningCommand> {
  const { cwd, env, spawn, logs, clock } = ports;
  const shell = await findShell(spawn, env);
  const namespace = await ports.namespace();
  const request = { argv: [...shell, "-c", "--", command], cwd, env } as const;
  ports.admit();
  const process = await startContained({ ...ports, namespace, request });
  const output = new Output({ logs, name, ...(onText && { onText }) });
  const reading = Promise.all([output.read(process.stdout, "stdout"), output.read(process.stderr, "stderr")]);
  const done = finish(process, output, reading, clock);
  return {
    process,
    output,
    done,
    async end(graceMs) {
      await process.end(graceMs);
      await Promise.race([done, sleep(clock, settleMs)]);
    },
  };
}

async function finish(process: Contained, output: Output, reading: Promise<unknown>, clock: Clock) {
  const status = await process.exit;
  const [hadLeftovers] = await Promise.all([process.sweep(), drain(process, output, reading, clock)]);
  if (hadLeftovers) await output.addNotice(leftoverNotice);
  await output.close();
  return status;
}

async function drain(process: Contained, output: Output, reading: Promise<unknown>, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + drainMs;
  const isRead = reading.then(() => true);
  for (let seen = -1; ;) {
    const wait = new AbortController();
    const idle = sleep(clock, idleMs[process.containment], wait.signal).then(() => false);
    const isDone = await Promise.race([isRead, idle]);
    wait.abort();
    if (isDone) return;
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

const bash = ["bash", "--norc", "--noprofile"] as const;
const shells = new WeakMap<Spawn, Promise<readonly [string, ...string[]]>>();

/** bash where there is one, and sh where there is none. Tried once. */
function findShell(spawn: Spawn, env: Readonly<Record<string, string>>): Promise<readonly [string, ...string[]]> {
  let search = shells.get(spawn);
  if (!search) {
    shells.set(spawn, (search = tryBash(spawn, env)));
    // What failed once, for want of descriptors perhaps, is tried again.
    search.catch(() => shells.delete(spawn));
  }
  return search;
}

async function tryBash(spawn: Spawn, env: Readonly<Record<string, string>>): Promise<readonly [string, ...string[]]> {
  const child = await spawn({ argv: [...bash, "-c", "exit 0"], cwd: "/", env });
  child.stdout.resume();
  child.stderr.resume();
  const status = await child.exit;
  return status.kind === "exited" && status.code === 0 ? bash : ["sh"];
}

/** How it ended, in words; undefined when all is well. Shells report a signal as 128 and its number. Pure. */
export function verdictOf(status: ExitStatus, cwd: string): string | undefined {
  switch (status.kind) {
    case "exited": {
      if (status.code === 0) return undefined;
      const signal = signalOf(status.code);
      return `Command exited with code ${status.code}${signal ? ` (${signal})` : ""}`;
    }
    case "signalled":
      return `Command was ended by ${status.signal}`;
    case "failed":
      return `Command could not be started in ${cwd}: ${status.message}`;
  }
}

export function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

/** A process in a bubblewrap of its own, and whether bubblewrap got so far as to start it. */
import { type ChildProcess, spawn as nodeSpawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { systemClock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import {
  type ConfinedLimits,
  type ConfinedProcess,
  createFirstProcess,
  type ExitStatus,
  type SpawnRequest,
} from "@tau/tools";
import { notStarted } from "./helper.ts";
import { coverInherited } from "./inherited-descriptors.ts";
import { findRealPath, unlessUnseen } from "./look.ts";

interface BwrapRequest {
  /** The program that enters the network, if any, and bubblewrap. */
  readonly program: readonly string[];
  /** The arguments of bubblewrap. They go through a descriptor: those of a process can be read by every user. */
  readonly arguments: readonly string[];
  readonly filter: Buffer;
  readonly request: SpawnRequest;
  readonly limits: ConfinedLimits;
}

interface BwrapStart {
  readonly process: ConfinedProcess;
  /** The message that was printed instead of starting the command; undefined if it has started. */
  readonly complaint?: string;
}

/** The descriptors of bubblewrap. */
export const descriptors = { arguments: 3, filter: 4, started: 5 };

/** A start that takes longer is not waited for: the command can be ended meanwhile. */
const maxStartMs = 5_000;

/** Throws what the system refuses at once, such as arguments that are too long. */
export async function startBwrap(options: BwrapRequest): Promise<BwrapStart> {
  const { request, limits } = options;
  const [command = "", ...args] = [
    ...options.program,
    "--args",
    String(descriptors.arguments),
    "--",
    ...createFirstProcess(descriptors.started, limits),
    ...request.argv,
  ];
  const child = nodeSpawn(command, args, {
    cwd: request.cwd,
    env: request.env,
    detached: true,
    stdio: coverInherited([request.stdin === "pipe" ? "pipe" : "ignore", "pipe", "pipe", "pipe", "pipe", "pipe"]),
  });
  const exit = watchExit(child, request.cwd);
  // Where descriptors have run out, there are no pipes.
  if (child.pid === undefined) return { process: notStarted(await getFailure(exit)) };
  const stream = (index: number) => {
    const socket = child.stdio[index] as Socket;
    // A program that has ended does not read on; its exit says so.
    socket.on("error", () => undefined);
    return socket;
  };
  stream(descriptors.arguments).end(options.arguments.map((text) => `${text}\0`).join(""));
  stream(descriptors.filter).end(options.filter);
  if (request.stdin === "pipe") stream(0);
  const releaseOutput = holdOutput([child.stdout!, child.stderr!]);
  const started = await untilTimeout(hasSaid(stream(descriptors.started)), maxStartMs, systemClock);
  releaseOutput();
  const process = toConfined(child, exit);
  if (started.kind !== "done" || started.value) return { process };
  const complaint = await readText(child.stderr!);
  return { process: { ...process, stderr: Readable.from([Buffer.from(complaint)]) }, complaint };
}

/** Node throws away what nobody reads when a process ends, and a short command may end before we know that it has started. */
function holdOutput(streams: readonly Readable[]): () => void {
  const hold = () => undefined;
  for (const stream of streams) stream.on("readable", hold);
  return () => {
    for (const stream of streams) stream.off("readable", hold);
  };
}

/** Whether anything comes before the end. */
const hasSaid = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (isSaid: boolean) => () => {
      resolve(isSaid);
      socket.destroy();
    };
    socket.once("data", settle(true));
    socket.once("close", settle(false));
  });

function toConfined(child: ChildProcess, exit: Promise<ExitStatus>): ConfinedProcess {
  let first: number | undefined;
  const findFirst = () => (first ??= findChild(child.pid!));
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  // The command has a session of its own, with the first process, which ignores what ends the command.
  const signal = (name: NodeJS.Signals, isForAll: boolean) => {
    if (isOver()) return;
    const pid = findFirst();
    if (pid === undefined) child.kill("SIGKILL");
    else sendSignal(isForAll ? pid : -pid, name);
  };
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout!,
    stderr: child.stderr!,
    exit,
    signal: (name) => signal(name, false),
    killAll: () => signal("SIGKILL", true),
    findFirst: async () => (isOver() ? undefined : findFirst()),
    // The first process says so itself.
    hadLeftovers: () => false,
  };
}

function watchExit(child: ChildProcess, cwd: string): Promise<ExitStatus> {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      // The system reports a missing directory as if the program were missing.
      const message = findRealPath(cwd) === undefined ? "The directory does not exist." : error.message;
      resolve({ kind: "failed", message });
    });
    child.once("exit", (code, signal) =>
      resolve(signal ? { kind: "signalled", signal } : { kind: "exited", code: code ?? 0 }),
    );
  });
}

async function getFailure(exit: Promise<ExitStatus>): Promise<string> {
  const status = await exit;
  return status.kind === "failed" ? status.message : "bubblewrap could not be started.";
}

/** bubblewrap has one child: the first process of the namespace. */
function findChild(pid: number): number | undefined {
  const text = unlessUnseen(() => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")) ?? "";
  return text === "" ? undefined : Number.parseInt(text, 10);
}

/** Does nothing when nobody is there any more. */
const sendSignal = (pid: number, name: NodeJS.Signals) => unlessUnseen(() => process.kill(pid, name));

/** Starts processes. The port runs every request as it is; whether it may be run is decided before. */
import { spawn as nodeSpawn } from "node:child_process";
import { statSync } from "node:fs";
import { Socket } from "node:net";
import { Readable, type Writable } from "node:stream";
import { systemCode } from "../errors.ts";

/** A program with its arguments, and everything it gets to see. */
export interface SpawnRequest {
  /** The program and its arguments; never a command line for a shell to parse. */
  argv: readonly [string, ...string[]];
  cwd: string;
  /** The whole environment: nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** `pipe` opens a standard input that the caller closes; default: none. */
  stdin?: "pipe" | "none";
  /** The contents that the process reads from descriptors 3, 4 and so on. Default: none. */
  inputs?: readonly Buffer[];
  /** A session and process group of its own, so that the group can be signalled. Default false. */
  detached?: boolean;
  /** Our process may exit while it runs. Default false: our process stays alive as long as it does. */
  isAside?: boolean;
}

/**
 * Changes a request, so that it runs in a sandbox, a namespace, a container or on another host. It gets every program
 * that the tools start, with its arguments: ripgrep for `grep` and `find`; the command of `bash`, inside the program that
 * contains it; and a few more for `bash`, once for each `Spawn`: whether there is a bash, which namespace works, and the
 * watchdog (`isAside`). A request for which it throws is not started. A command then fails with that error; without the
 * other programs, commands are contained as well as possible.
 */
export type WrapCommand = (request: SpawnRequest) => SpawnRequest | Promise<SpawnRequest>;

export type ExitStatus =
  | { kind: "exited"; code: number }
  | { kind: "signalled"; signal: string }
  /** It could not be started at all. */
  | { kind: "failed"; message: string; code?: string };

export interface RunningProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the process itself is gone; its children may still hold the pipes. Never rejects. */
  readonly exit: Promise<ExitStatus>;
  /** Signals the process, or with `group` its whole group. Does nothing when there is none any more. */
  signal(name: NodeJS.Signals, target?: "process" | "group"): void;
}

export type Spawn = (request: SpawnRequest) => Promise<RunningProcess>;

/** Starts real processes, of what `wrapCommand` makes of each request. */
export function createSpawn(wrapCommand: WrapCommand = (request) => request): Spawn {
  return async (request) => start(await wrapCommand(request));
}

/** Starts a program that is not essential: a refusal is a result. One that came from the system may not last. */
export async function trySpawn(
  spawn: Spawn,
  request: SpawnRequest,
): Promise<{ child: RunningProcess } | { refusal: unknown; isPassing: boolean }> {
  try {
    return { child: await spawn(request) };
  } catch (refusal) {
    return { refusal, isPassing: systemCode(refusal) !== undefined };
  }
}

function start(request: SpawnRequest): RunningProcess {
  const [program, ...args] = request.argv;
  const { inputs = [] } = request;
  const child = nodeSpawn(program, args, {
    cwd: request.cwd,
    env: request.env,
    detached: request.detached ?? false,
    stdio: [request.stdin === "pipe" ? "pipe" : "ignore", "pipe", "pipe", ...inputs.map(() => "pipe" as const)],
    windowsHide: true,
  });
  // When our process has run out of descriptors, Node creates no pipes at all, and then emits an error.
  const pipes: readonly unknown[] = child.stdio ?? [];
  for (const [index, bytes] of inputs.entries()) writeInput(pipes[index + 3], bytes);
  const exit = new Promise<ExitStatus>((resolve) => {
    child.once("error", (error) => resolve(toFailure(error, request.cwd)));
    child.once("exit", (code, signal) =>
      resolve(signal ? { kind: "signalled", signal } : { kind: "exited", code: code ?? 0 }),
    );
  });
  // A program may close its input before everything was written.
  child.stdin?.on("error", () => undefined);
  if (request.isAside) {
    child.unref();
    for (const stream of pipes) if (stream instanceof Socket) stream.unref();
  }
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout ?? Readable.from([]),
    stderr: child.stderr ?? Readable.from([]),
    exit,
    signal(name, target = "process") {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (child.pid === undefined || (hasEnded && target === "process")) return;
      const ending = planSignal(child.pid, name, target, process.platform);
      if (ending.kind === "program") return runAside(ending.argv);
      try {
        process.kill(ending.pid, name);
      } catch (error) {
        // It has ended, or runs as another user by now.
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "ESRCH" && code !== "EPERM") throw error;
      }
    },
  };
}

type SignalPlan = { kind: "signal"; pid: number } | { kind: "program"; argv: readonly [string, ...string[]] };

const endingSignals: ReadonlySet<NodeJS.Signals> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);

/** Windows has no process groups, but a program that ends a process with all that it has started. Pure. */
export function planSignal(
  pid: number,
  name: NodeJS.Signals,
  target: "process" | "group",
  platform: NodeJS.Platform,
  systemRoot = process.env["SystemRoot"] ?? "C:\\Windows",
): SignalPlan {
  if (target === "process") return { kind: "signal", pid };
  if (platform !== "win32") return { kind: "signal", pid: -pid };
  if (!endingSignals.has(name)) return { kind: "signal", pid };
  // By its path: Windows would look for the name in the working directory first.
  return { kind: "program", argv: [`${systemRoot}\\System32\\taskkill.exe`, "/pid", String(pid), "/T", "/F"] };
}

/** It has nothing to say that matters: what has ended already is no failure. */
function runAside([program, ...args]: readonly [string, ...string[]]): void {
  nodeSpawn(program, args, { stdio: "ignore", windowsHide: true })
    .once("error", () => undefined)
    .unref();
}

/** A program that has failed does not read its input, and says itself why. */
function writeInput(stream: unknown, bytes: Buffer): void {
  if (!(stream instanceof Socket)) return;
  stream.on("error", () => undefined);
  stream.end(bytes);
}

/** The system reports a missing directory as if the program were missing. */
function toFailure(error: NodeJS.ErrnoException, cwd: string): ExitStatus & { kind: "failed" } {
  const code = error.code === undefined ? {} : { code: error.code };
  const isThere = error.code !== "ENOENT" || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true;
  return { kind: "failed", message: isThere ? error.message : "The directory does not exist.", ...code };
}

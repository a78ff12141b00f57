/** Starting processes. The port takes what will be run as it is; who may run what is decided elsewhere. */
import { spawn as nodeSpawn } from "node:child_process";
import { statSync } from "node:fs";
import { Socket } from "node:net";
import { Readable, type Writable } from "node:stream";
import { systemCode } from "../errors.ts";

/** One program with its arguments, and everything it gets to see. */
export interface SpawnRequest {
  /** The program and its arguments; never a line for a shell to take apart. */
  argv: readonly [string, ...string[]];
  cwd: string;
  /** The whole environment: nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** `pipe` opens a standard input that the caller closes; default: none. */
  stdin?: "pipe" | "none";
  /** A session and process group of its own, so that the group can be signalled. Default false. */
  detached?: boolean;
  /** We may end while it runs. Default false: we go on as long as it does. */
  isAside?: boolean;
}

/**
 * Changes what is run: into a sandbox, a namespace, a container, another host. It gets every program that the tools
 * start, each with its arguments: ripgrep for `grep` and `find`; what `bash` was asked to run, inside of what holds it;
 * and a few of our own for `bash`, once for each `Spawn`: whether there is a bash, which namespace works, and the
 * watchdog (`isAside`). One that it throws at is not started. A command then fails with that error; what is our own is
 * done without, and commands are held as well as is possible then.
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
  /** Signals the process, or with `group` its whole group. Does nothing when there is nobody left. */
  signal(name: NodeJS.Signals, target?: "process" | "group"): void;
}

export type Spawn = (request: SpawnRequest) => Promise<RunningProcess>;

/** The real thing, behind whatever `wrapCommand` makes of a request. */
export function createSpawn(wrapCommand: WrapCommand = (request) => request): Spawn {
  return async (request) => start(await wrapCommand(request));
}

/** Starts what the work could do without: that it was refused is an answer. One of the system's may be another later. */
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
  const child = nodeSpawn(program, args, {
    cwd: request.cwd,
    env: request.env,
    detached: request.detached ?? false,
    stdio: [request.stdin === "pipe" ? "pipe" : "ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const exit = new Promise<ExitStatus>((resolve) => {
    child.once("error", (error) => resolve(toFailure(error, request.cwd)));
    child.once("exit", (code, signal) =>
      resolve(signal ? { kind: "signalled", signal } : { kind: "exited", code: code ?? 0 }),
    );
  });
  // Writing to a program that has closed its input is no failure of ours.
  child.stdin?.on("error", () => undefined);
  if (request.isAside) {
    child.unref();
    for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
  }
  return {
    pid: child.pid,
    stdin: child.stdin,
    // Without descriptors left, Node makes no pipes at all.
    stdout: child.stdout ?? Readable.from([]),
    stderr: child.stderr ?? Readable.from([]),
    exit,
    signal(name, target = "process") {
      if (child.pid === undefined) return;
      try {
        process.kill(target === "group" ? -child.pid : child.pid, name);
      } catch (error) {
        // Nobody is left, or they have become somebody whom we may not end.
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "ESRCH" && code !== "EPERM") throw error;
      }
    },
  };
}

/** A directory that is gone is reported by the system as if the program were. */
function toFailure(error: NodeJS.ErrnoException, cwd: string): ExitStatus & { kind: "failed" } {
  const code = error.code === undefined ? {} : { code: error.code };
  const isThere = error.code !== "ENOENT" || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true;
  return { kind: "failed", message: isThere ? error.message : "The directory does not exist.", ...code };
}

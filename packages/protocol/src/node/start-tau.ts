/** The program as a child of this process. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClientOptions, TauClient } from "./client.ts";
import { TauClientError } from "./errors.ts";

export interface StartTauOptions extends ClientOptions {
  /** The program to run. Default `tau`. */
  command?: string;
  /** Arguments before `--mode rpc`, such as the file that `node` is to run. */
  commandArgs?: readonly string[];
  /** The program's flags. */
  args?: readonly string[];
  cwd?: string;
  /** The whole environment. Default: that of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** How long the program may take to end in order before it is killed. Default 5000. */
  closeTimeoutMs?: number;
}

export interface RunningTau extends TauClient {
  /** The last of what the program wrote to standard error. */
  readonly stderr: string;
  /** Ends the program in order, by closing its input; if that takes too long, kills it. Resolves with its exit code. */
  close(): Promise<number | null>;
}

const maxStderrLength = 16 * 1024;
const defaultCloseMs = 5_000;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Resolves when the program runs and can be called. */
export async function startTau(options: StartTauOptions = {}): Promise<RunningTau> {
  const { command = "tau", commandArgs = [], args = [], cwd, env = process.env } = options;
  const child: Child = spawn(command, [...commandArgs, "--mode", "rpc", ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...env },
    ...(cwd !== undefined && { cwd }),
  });
  try {
    await once(child, "spawn");
  } catch (error) {
    const message = `${command} could not be started: ${(error as Error).message}`;
    throw new TauClientError("not_started", message, { cause: error });
  }
  return new ChildClient(child, options);
}

class ChildClient extends TauClient implements RunningTau {
  readonly #child: Child;
  readonly #closeTimeoutMs: number;
  readonly #exited: Promise<number | null>;
  #stderr = "";

  constructor(child: Child, options: StartTauOptions) {
    // Not `exit`: by `close`, everything that it wrote has been read.
    const exited = once(child, "close").then(([code]) => code as number | null);
    const ended = exited.then((code) => {
      const said = this.#stderr.trim();
      return `The program has ended with code ${code}.${said && ` It said: ${said}`}`;
    });
    super({ toProgram: child.stdin, fromProgram: child.stdout, ended }, options);
    this.#child = child;
    this.#exited = exited;
    this.#closeTimeoutMs = options.closeTimeoutMs ?? defaultCloseMs;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-maxStderrLength);
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  async close(): Promise<number | null> {
    this.#child.stdin.end();
    const patience = new AbortController();
    const isLate = await Promise.race([
      this.#exited.then(() => false),
      sleep(this.#closeTimeoutMs, true, { signal: patience.signal }),
    ]).finally(() => patience.abort());
    if (isLate) {
      this.#child.kill("SIGKILL");
      // Processes that it has started may have them too, and stay.
      this.#child.stdout.destroy();
      this.#child.stderr.destroy();
    }
    return await this.#exited;
  }
}

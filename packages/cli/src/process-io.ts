/** The process as the program sees it: its streams, its signals, its end. */
import { isatty } from "node:tty";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** How long a program that was told to end may take to tidy up. */
const longestEndMs = 3_000;

export function processIo(self: NodeJS.Process): { io: Io; finish: (code: ExitCode) => void } {
  const interrupt = new AbortController();
  const end = (signal: NodeJS.Signals) => {
    // The second Ctrl-C does not wait for anything.
    if (interrupt.signal.aborted) return self.exit(exitCodes.interrupted);
    interrupt.abort(signal);
    setTimeout(() => self.exit(exitCodes.interrupted), longestEndMs).unref();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) self.on(signal, end);
  // Whoever reads our output may leave early, as `head` does; that is no failure of ours.
  let hasLeft = false;
  /** One promise for all who wait. */
  let draining: Promise<void> | undefined;
  const whenDrained = () =>
    new Promise<void>((resolve) => {
      const done = () => {
        draining = undefined;
        self.stdout.off("drain", done).off("error", done).off("close", done);
        resolve();
      };
      self.stdout.on("drain", done).on("error", done).on("close", done);
    });
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    hasLeft = true;
    if (!interrupt.signal.aborted) interrupt.abort("SIGPIPE");
  };
  self.stdout.on("error", onError);
  self.stderr.on("error", onError);
  const io: Io = {
    out: (text) => void self.stdout.write(text),
    drained: () => (self.stdout.writableNeedDrain && !hasLeft ? (draining ??= whenDrained()) : undefined),
    err: (text) => void self.stderr.write(text),
    input: () => self.stdin,
    terminal: { input: isatty(0), out: isatty(1), err: isatty(2) },
    columns: self.stdout.columns,
    colour: isatty(1) && !self.env["NO_COLOR"],
    signal: interrupt.signal,
    cwd: self.cwd(),
    env: self.env,
  };
  const finish = (code: ExitCode) => {
    // Not `exit`: what is written must arrive. What is still open after that would only hold the process.
    self.exitCode = code;
    self.stdin.unref?.();
    setTimeout(() => self.exit(code), longestEndMs).unref();
  };
  return { io, finish };
}

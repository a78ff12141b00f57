/** The process as the program sees it: its streams, its signals, its end. */
import { fstatSync, statSync } from "node:fs";
import { devNull } from "node:os";
import { isatty } from "node:tty";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { Output } from "./output.ts";

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
  const onBroken = () => {
    if (!interrupt.signal.aborted) interrupt.abort("SIGPIPE");
  };
  const out = new Output({ fd: 1, stream: () => self.stdout, onBroken });
  const err = new Output({ fd: 2, stream: () => self.stderr, onBroken });
  const io: Io = {
    out: (text) => out.write(text),
    drained: () => {
      out.flush();
      return out.drained();
    },
    err: (text) => {
      // In the order in which they were said, where both are the same terminal.
      out.flush();
      err.write(text);
      err.flush();
    },
    input: () => (isNullDevice(0) ? undefined : self.stdin),
    terminal: { input: isatty(0), out: isatty(1), err: isatty(2) },
    // Only who asks for it needs the stream.
    get columns() {
      return self.stdout.columns;
    },
    colour: isatty(1) && !self.env["NO_COLOR"],
    signal: interrupt.signal,
    cwd: workingDirectory(self),
    env: self.env,
  };
  const finish = (code: ExitCode) => {
    self.exitCode = code;
    // What is written must arrive, however slowly it is read. What else is open would only hold the process.
    void Promise.all([out.flushed(), err.flushed()]).then(() => {
      if (out.failure === undefined) return self.exit(code);
      io.err(`tau: the output cannot be written: ${out.failure}\n`);
      return self.exit(exitCodes.failed);
    });
  };
  return { io, finish };
}

/** Such as a job that a scheduler starts: a stream that says so would be much to load. */
function isNullDevice(fd: number): boolean {
  try {
    const given = fstatSync(fd);
    return given.isCharacterDevice() && given.rdev === statSync(devNull).rdev;
  } catch {
    // It is closed, or there is no such device: the stream knows what to say.
    return false;
  }
}

/** A directory may be removed by somebody else while one works in it. */
function workingDirectory(self: NodeJS.Process): string {
  try {
    return self.cwd();
  } catch {
    self.stderr.write("tau: the working directory is not there any more. Go to one that is.\n");
    return self.exit(exitCodes.failed);
  }
}

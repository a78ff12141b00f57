/** The process as the program sees it: its streams, its signals, its end. */
import { existsSync, fstatSync, statSync } from "node:fs";
import { constants, devNull } from "node:os";
import type { Writable } from "node:stream";
import { isatty } from "node:tty";
import { systemClock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import type { Io } from "../commands/command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { Output } from "./output.ts";
import { isDumb, toTerminalText } from "./terminal-text.ts";

/** How long a program that a signal ends may take to tidy up. */
const maxShutdownMs = 3_000;
/** How long it waits for a thread of its own when all else is done, and how often it looks. */
const maxHeldMs = 400;
const lookMs = 10;
const endSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type EndSignal = (typeof endSignals)[number];

export function processIo(self: NodeJS.Process): { io: Io; finish: (code: ExitCode) => void } {
  const interrupt = new AbortController();
  let onEndSignal: (() => void) | undefined;
  const end = (signal: NodeJS.Signals) => {
    if (onEndSignal) return onEndSignal();
    // The second Ctrl-C does not wait for anything.
    if (interrupt.signal.aborted) return void leaveInterrupted(self, getEndSignal(interrupt.signal));
    interrupt.abort(signal);
    setTimeout(() => endBySignal(self, getEndSignal(interrupt.signal)), maxShutdownMs).unref();
  };
  for (const signal of endSignals) self.on(signal, end);
  // A reader of our output may close it early, as `head` does. That is not an error.
  const onBroken = () => {
    if (!interrupt.signal.aborted) interrupt.abort("SIGPIPE");
  };
  // A getter on Node, a value on Bun.
  const { get, value } = Object.getOwnPropertyDescriptor(self, "stdout")!;
  const getStdout = (get ?? (() => value as unknown)) as () => NodeJS.WriteStream;
  const createOutput = (fd: number, stream: () => Writable) =>
    new Output({ fd, stream, hasReader: () => hasReader(fd), clock: systemClock, onBroken });
  const out = createOutput(1, getStdout);
  const err = createOutput(2, () => self.stderr);
  const terminal = { input: isatty(0), out: isatty(1), err: isatty(2) };
  const io: Io = {
    out: (content) => out.write(toShown(content, terminal.out)),
    drained: () => {
      out.flush();
      return out.drained() ?? err.drained();
    },
    err: (content) => {
      // In the order in which they were said, where both are the same terminal.
      out.flush();
      err.write(toShown(content, terminal.err));
      err.flush();
    },
    claimOutput: () =>
      void Object.defineProperty(self, "stdout", { configurable: true, enumerable: true, get: () => self.stderr }),
    input: () => (isNullDevice(0) ? undefined : self.stdin),
    terminal,
    // A getter, because creating the stream takes time and few commands need it.
    get columns() {
      return getStdout().columns;
    },
    colour: terminal.out && !self.env["NO_COLOR"] && !isDumb(self.env),
    signal: interrupt.signal,
    takeSignals: (onSignal) => {
      onEndSignal = onSignal;
      return () => (onEndSignal = undefined);
    },
    cwd: workingDirectory(self),
    env: self.env,
  };
  // Node's own listener would write them to the terminal as they are. There is none with --no-warnings.
  if (self.listenerCount("warning") > 0) {
    self.removeAllListeners("warning");
    self.on("warning", ({ message }) => io.err(`tau: ${message}\n`));
  }
  const finish = (code: ExitCode) => {
    const signal = code === exitCodes.interrupted ? getEndSignal(interrupt.signal) : undefined;
    self.exitCode = signal ? toExitCode(signal) : code;
    // What is written must arrive, however slowly it is read. What else is open would only hold the process.
    void Promise.all([out.flushed(), err.flushed()]).then(() => {
      const failure = out.failure ?? err.failure;
      if (failure === undefined) return signal ? leaveInterrupted(self, signal) : leave(self, code);
      io.err(`tau: the output cannot be written: ${failure}\n`);
      return self.exit(exitCodes.failed);
    });
  };
  return { io, finish };
}

const toShown = (content: string | Uint8Array, isTerminal: boolean) =>
  isTerminal && typeof content === "string" ? toTerminalText(content) : content;

/** Pipes, sockets and terminals have one; files and other devices take everything at once. */
function hasReader(fd: number): boolean {
  const stats = fstatSync(fd);
  return stats.isFIFO() || stats.isSocket() || isatty(fd);
}

/** Such as a job that a scheduler starts: a stream that says so would be much to load. */
function isNullDevice(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev === statSync(devNull).rdev;
  } catch {
    // It is closed, or there is no such device: the stream knows what to say.
    return false;
  }
}

/** The signal that ended the program; SIGINT if the user interrupted it by other means. */
const getEndSignal = ({ reason }: AbortSignal): EndSignal => endSignals.find((signal) => signal === reason) ?? "SIGINT";

/** The code that a shell reports for a program that a signal has ended. */
const toExitCode = (signal: EndSignal): number => 128 + constants.signals[signal];

/** Waits a moment for what is nearly done, so that the program ends with its exit code. */
async function leaveInterrupted(self: NodeJS.Process, signal: EndSignal): Promise<void> {
  // The call whose end brought us here counts as under way until its turn is over.
  await new Promise<void>((resolve) => setImmediate(resolve));
  const until = systemClock.monotonic() + maxHeldMs;
  while (isHeld(self) && systemClock.monotonic() < until) await sleep(systemClock, lookMs);
  endBySignal(self, signal);
}

function endBySignal(self: NodeJS.Process, signal: EndSignal): void {
  // `exit` waits for a thread that waits in the system. An interrupted program does not: the signal itself ends it.
  if (isHeld(self)) self.once("exit", () => self.kill(self.pid, signal));
  leave(self, toExitCode(signal));
}

/**
 * Even `exit` waits for a thread that waits in the system: for a name server that is silent, or a pipe that nobody
 * writes. A further signal ends the program at once; while nothing holds it, one would only take the place of the code.
 */
function leave(self: NodeJS.Process, code: number): void {
  const isLost = isTerminalLost();
  if (isLost || isHeld(self)) for (const signal of endSignals) self.removeAllListeners(signal);
  // Node would abort, because it cannot give the terminal its modes back.
  if (isLost) self.once("exit", () => self.kill(self.pid, "SIGHUP"));
  self.exit(code);
}

const isHeld = (self: NodeJS.Process): boolean =>
  self.getActiveResourcesInfo().some((name) => name.startsWith("FSReq") || name.startsWith("GetAddrInfo"));

/** A descriptor of a terminal that was closed is a terminal no longer. */
const terminals = [0, 1, 2].filter((fd) => isatty(fd));
const isTerminalLost = (): boolean => terminals.some((fd) => !isatty(fd));

/** Ends the program where there is none that can be used. */
function workingDirectory(self: NodeJS.Process): string {
  const path = findWorkingDirectory(self);
  if ("path" in path) return path.path;
  self.stderr.write(`tau: ${path.problem}\n`);
  return self.exit(exitCodes.failed);
}

function findWorkingDirectory(self: NodeJS.Process): { path: string } | { problem: string } {
  try {
    const path = self.cwd();
    // Node puts this sign in place of bytes that are not UTF-8, and then does not find the path.
    if (!path.includes("\uFFFD") || existsSync(path)) return { path };
    return { problem: `the name of the working directory ${path} is not UTF-8. Rename it, or go to another one.` };
  } catch (error) {
    // A directory may be removed by somebody else while one works in it.
    return (error as NodeJS.ErrnoException).code === "ENOENT"
      ? { problem: "the working directory is not there any more. Go to one that is." }
      : {
          problem: `the path of the working directory cannot be used: ${(error as Error).message}. Go to another one.`,
        };
  }
}

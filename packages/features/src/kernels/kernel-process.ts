/** The process of a kernel: messages as lines over two descriptors of its own, and everything that it prints. */
import type { Program } from "@tau/tools";
import { type FromKernel, maxMessageBytes, parseMessage } from "./messages.ts";

/** While so much waits to be read by a kernel, nothing more is read from it: answers must not pile up here. */
const maxWaitingBytes = 1024 * 1024;
/** A kernel that lets more wait is ended. */
const maxUnreadBytes = 256 * 1024 * 1024;
const maxComplaintLength = 2_000;
/** More than a pipe or a socket holds: what comes after so much was printed later. */
const maxPipeBytes = 4 * 1024 * 1024;

export interface KernelProcessEvents {
  onMessage(message: FromKernel): void;
  /** Standard output and standard error, in the order of arrival. */
  onOutput(chunk: Buffer): void;
}

export interface KernelProcess {
  /** Throws for a payload that is not JSON. */
  send(type: string, payload: Readonly<Record<string, unknown>>): void;
  /** Resolves when nothing of it is left, with the reason for people. Never rejects. */
  readonly exit: Promise<string>;
  /** Resolves when everything was read that it had printed by now. */
  drain(): Promise<void>;
  end(graceMs?: number): Promise<void>;
}

/**
 * A program has three descriptors. A shell moves the first two to 3 and 4 before the interpreter starts, which has nothing to
 * read and prints to what was standard error.
 */
export const toArgv = (argv: readonly string[]): string[] => [
  "sh",
  "-c",
  'exec "$@" 3<&0 4>&1 0</dev/null 1>&2',
  "sh",
  ...argv,
];

export function connectProcess(program: Program, events: KernelProcessEvents): KernelProcess {
  let problem: string | undefined;
  let complaint = "";
  let isReady = false;
  let outputBytes = 0;
  const refuse = (text: string) => {
    problem ??= text;
    void program.end(0);
  };
  program.stdout.on(
    "data",
    createLineReader((line) => {
      if (problem !== undefined) return;
      if (line === undefined) return refuse(`it sent a message of more than ${maxMessageBytes / 1024 / 1024} MB`);
      const message = parseMessage(line);
      if (!message) return refuse("it sent something that is not a message");
      if (message.type === "Ready") isReady = true;
      events.onMessage(message);
    }),
  );
  program.stderr.on("data", (chunk: Buffer) => {
    outputBytes += chunk.length;
    if (!isReady) complaint = (complaint + chunk.toString()).slice(-maxComplaintLength);
    events.onOutput(chunk);
  });
  for (const stream of [program.stdin, program.stdout, program.stderr]) stream.on("error", () => undefined);
  for (const event of ["drain", "close"]) program.stdin.on(event, () => program.stdout.resume());
  const exit = program.exit.then(async (status) => {
    await Promise.all([program.stdout, program.stderr].map(whenClosed));
    const excess = program.getExcess()?.replace(/^\[The command was ended: (.*?)\.?\]$/, "$1");
    if (problem !== undefined || excess !== undefined) return problem ?? excess!;
    const how =
      status.kind === "exited"
        ? `it exited with code ${status.code}`
        : status.kind === "signalled"
          ? `${status.signal} ended it`
          : status.message;
    return isReady || complaint === "" ? how : `${how}: ${complaint.trim()}`;
  });
  return {
    exit,
    send(type, payload) {
      const { stdin, stdout } = program;
      if (stdin.destroyed) return;
      stdin.write(`${JSON.stringify({ type, payload })}\n`);
      if (stdin.writableLength > maxUnreadBytes) return refuse("it does not read its messages");
      if (stdin.writableLength > maxWaitingBytes) stdout.pause();
    },
    async drain() {
      // What was written before a message that has arrived is in the pipe by now: a turn of the loop reads it.
      const endBytes = outputBytes + maxPipeBytes;
      for (let seen = -1, quiet = 0; quiet < 2 && outputBytes < endBytes;) {
        quiet = seen === outputBytes ? quiet + 1 : 0;
        seen = outputBytes;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    end: (graceMs) => program.end(graceMs),
  };
}

const whenClosed = async (stream: NodeJS.ReadableStream & { closed: boolean }): Promise<void> => {
  if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", () => resolve()));
};

/** Calls `onLine` with each line; with undefined for one that is too long. */
function createLineReader(onLine: (line: string | undefined) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  return (chunk) => {
    let start = 0;
    for (let end; (end = chunk.indexOf(10, start)) >= 0; start = end + 1) {
      pieces.push(chunk.subarray(start, end));
      const line = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
      onLine(line.toString("utf8"));
    }
    const rest = chunk.subarray(start);
    bytes += rest.length;
    if (bytes > maxMessageBytes) {
      pieces = [];
      bytes = 0;
      return onLine(undefined);
    }
    if (rest.length > 0) pieces.push(rest);
  };
}

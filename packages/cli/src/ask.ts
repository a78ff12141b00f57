/** Questions to a person at a terminal. They go to standard error, so that what is asked for alone is the output. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

export interface AskOptions {
  /** What is typed is not shown. */
  hidden?: boolean;
  /** Nobody needs the answer any more. */
  signal?: AbortSignal;
}

/** One line. Undefined when the person gave up, or the program is to end. */
export async function ask(io: Io, question: string, { hidden = false, signal }: AskOptions = {}) {
  io.err(question);
  const input = io.input();
  if (!input) return undefined;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!hidden) io.err(chunk.toString());
      done();
    },
  });
  // With `terminal`, what is typed comes to us one key at a time, and is echoed only by us.
  const lines = createInterface({ input, output, terminal: io.terminal.input });
  const stops = signal ? AbortSignal.any([signal, io.signal]) : io.signal;
  let answer: string | undefined;
  try {
    answer = await new Promise<string | undefined>((resolve) => {
      const giveUp = () => resolve(undefined);
      if (stops.aborted) giveUp();
      stops.addEventListener("abort", giveUp, { once: true });
      lines.once("line", resolve);
      lines.once("close", giveUp);
      lines.once("SIGINT", giveUp);
    });
    return answer;
  } finally {
    lines.close();
    // What is said next begins a line: only an answer that is shown has ended its own.
    if (hidden || answer === undefined) io.err("\n");
  }
}

/** `nobody` could be asked; `gone` is who gave up. */
export type Consent = "yes" | "no" | "nobody" | "gone";

/** How a command ends that was not allowed to go on. */
export const getEnd = (answer: Consent): ExitCode => (answer === "gone" ? exitCodes.interrupted : exitCodes.failed);

/** Asks before something is lost. Without a person to ask only `isGiven` (--yes) is a yes. */
export async function consent(io: Io, question: string, isGiven: boolean): Promise<Consent> {
  if (isGiven) return "yes";
  if (!io.terminal.input || !io.terminal.err) return "nobody";
  const answer = await ask(io, `${question} [y/N] `);
  if (answer === undefined) return "gone";
  return /^y(es)?$/i.test(answer.trim()) ? "yes" : "no";
}

/** One of a list, by its number or its name; empty for what is not there. Undefined when the person gave up. */
export async function choose(
  io: Io,
  title: string,
  items: readonly { name: string; summary: string }[],
): Promise<string | undefined> {
  const width = Math.max(...items.map(({ name }) => name.length));
  io.err(`${title}\n`);
  for (const [at, { name, summary }] of items.entries()) {
    io.err(`  ${String(at + 1).padStart(String(items.length).length)}  ${name.padEnd(width)}  ${summary}`.trimEnd());
    io.err("\n");
  }
  const answer = (await ask(io, "Number or name: "))?.trim();
  if (answer === undefined) return undefined;
  return (items.find(({ name }) => name === answer) ?? items[Number(answer) - 1])?.name ?? "";
}

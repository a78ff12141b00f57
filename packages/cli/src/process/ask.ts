/** Questions on a terminal. They are written to standard error, so that standard output holds only the result. */
import { type Readable, Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import { HarnessError } from "@tau/protocol";
import type { Io } from "../commands/command.ts";
import { UsageError } from "./errors.ts";
import { formatRows } from "../start/help.ts";
import { markOwn, toTerminalText } from "./terminal-text.ts";

/** Whether a question can be asked and answered. */
export const isInteractive = ({ terminal }: Io): boolean => terminal.input && terminal.err;

interface AskOptions {
  /** Whether the typed text is not shown. Default false. */
  hidden?: boolean;
  /** Withdraws the question. */
  signal?: AbortSignal;
}

/** Reads one line. Undefined if the user closes the input or presses Ctrl-C, or if a signal is aborted. */
export async function ask(io: Io, question: string, { hidden = false, signal }: AskOptions = {}) {
  io.err(question);
  const input = io.input();
  if (!input) return undefined;
  const { createInterface } = await import("node:readline");
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!hidden) io.err(markOwn(chunk.toString()));
      done();
    },
  });
  // With `terminal`, keys arrive one at a time and only readline echoes them, to `output`.
  const lines = createInterface({
    input,
    output,
    terminal: io.terminal.input,
    // The beginning of the line, which readline writes again when a key removes something.
    prompt: toTerminalText(question.slice(question.lastIndexOf("\n") + 1)),
    signal: signal ? AbortSignal.any([signal, io.signal]) : io.signal,
  });
  const { value: answer } = (await lines[Symbol.asyncIterator]().next()) as { value: string | undefined };
  lines.close();
  // The next text must begin a line. Only an echoed answer ended with a line break.
  if (hidden || answer === undefined) io.err("\n");
  return answer;
}

/** Keys that answer a question at once. */
const keyAnswers: Readonly<Record<string, boolean>> = {
  y: true,
  Y: true,
  n: false,
  N: false,
  "\r": false,
  "\n": false,
};
/** Ctrl-C and Ctrl-D. */
const endKeys = ["\u0003", "\u0004"];
const escapeKey = "\u001b";

/** Reads one key, y or n; Enter and Escape mean no. Undefined as for `ask`. */
export async function askKey(io: Io, question: string): Promise<boolean | undefined> {
  io.err(question);
  const input = io.input();
  if (!input) return undefined;
  const answer = await readKey(input, io.signal);
  io.err(answer === undefined ? "\n" : `${answer ? "y" : "n"}\n`);
  return answer;
}

async function readKey(input: Readable, signal: AbortSignal): Promise<boolean | undefined> {
  let stop = () => {};
  try {
    return await new Promise<boolean | undefined>((resolve) => {
      const onEnd = () => resolve(undefined);
      const onData = (data: Buffer | string) => {
        const text = data.toString();
        // Escape alone: other keys send sequences that begin with it.
        if (text === escapeKey) return resolve(false);
        if (text.startsWith(escapeKey)) return;
        const key = [...text].find((key) => key in keyAnswers || endKeys.includes(key));
        if (key === undefined) return;
        const rest = text.slice(text.indexOf(key) + key.length);
        stop();
        if (rest !== "") input.unshift(Buffer.from(rest));
        resolve(keyAnswers[key]);
      };
      stop = () => {
        input.off("data", onData).off("end", onEnd).pause();
        signal.removeEventListener("abort", onEnd);
        setRawMode(input, false);
      };
      signal.addEventListener("abort", onEnd);
      setRawMode(input, true);
      input.on("data", onData).on("end", onEnd).resume();
      if (signal.aborted) onEnd();
    });
  } finally {
    stop();
  }
}

/**
 * Asks something that appears while the program starts. What was typed before it was seen is no answer: it goes back to the
 * input for whoever reads that next.
 */
export async function askAtStart<T>(io: Io, question: () => Promise<T>): Promise<T> {
  const input = io.input();
  if (!input || !("isTTY" in input)) return await question();
  const typed: Buffer[] = [];
  const take = (data: Buffer | string) => void typed.push(Buffer.from(data));
  setRawMode(input, true);
  input.on("data", take).resume();
  // The first may come before the event loop looks at the terminal, the second not.
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  input.off("data", take).pause();
  setRawMode(input, false);
  try {
    return await question();
  } finally {
    if (typed.length > 0) input.unshift(Buffer.concat(typed));
  }
}

/** Only a terminal has modes. */
function setRawMode(input: Readable, isRaw: boolean): void {
  if ("setRawMode" in input) (input as ReadStream).setRawMode(isRaw);
}

interface ConfirmOptions {
  /** Whether the command line has `--yes`. */
  yes: boolean;
  /** A sentence that says what was not done, for any other answer than yes. */
  declined: string;
}

/** Asks before data is lost. Throws unless the answer is yes. Without a terminal, only `--yes` is one. */
export async function confirm(io: Io, question: string, { yes, declined }: ConfirmOptions): Promise<void> {
  if (yes) return;
  if (!isInteractive(io)) throw new UsageError("arguments", `${question} Without a terminal, this needs --yes.`);
  const answer = await ask(io, `${question} [y/N] `);
  if (answer === undefined) throw new HarnessError("aborted", declined);
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError("declined", declined);
}

export interface ChoiceItem {
  name: string;
  summary: string;
}

/** Asks for an item by its number or name. Undefined if there is no such item; throws `aborted` without an answer. */
export async function choose<Item extends ChoiceItem>(
  io: Io,
  title: string,
  items: readonly Item[],
): Promise<Item | undefined> {
  const names = formatRows(items.map(({ name, summary }) => [name, summary]));
  const width = String(items.length).length;
  const rows = names.map((row, index) => `  ${String(index + 1).padStart(width)}${row}\n`);
  io.err(`${title}\n${rows.join("")}`);
  const answer = (await ask(io, "Number or name: "))?.trim();
  if (answer === undefined) throw new HarnessError("aborted", "Nothing was chosen.");
  return items.find(({ name }) => name === answer) ?? items[Number(answer) - 1];
}

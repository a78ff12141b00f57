/** Questions on a terminal. They are written to standard error, so that standard output holds only the result. */
import { Writable } from "node:stream";
import { HarnessError } from "@tau/harness";
import type { Io } from "./command.ts";
import { UsageError } from "./errors.ts";
import { formatRows } from "./help.ts";
import { markOwn, toTerminalText } from "./terminal-text.ts";

/** Whether a question can be asked and answered. */
export const isInteractive = ({ terminal }: Io): boolean => terminal.input && terminal.err;

export interface AskOptions {
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

export interface ConfirmOptions {
  /** Whether the command line has `--yes`. */
  yes: boolean;
  /** A sentence that says what was not done, for any other answer than yes. */
  declined: string;
}

/** Asks before data is lost. Throws unless the answer is yes. Without a terminal, only `--yes` is one. */
export async function confirm(io: Io, question: string, { yes, declined }: ConfirmOptions): Promise<void> {
  if (yes) return;
  if (!isInteractive(io)) throw new UsageError(`${question} Without a terminal, this needs --yes.`);
  const answer = await ask(io, `${question} [y/N] `);
  if (answer === undefined) throw new HarnessError("aborted", declined);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error(declined);
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

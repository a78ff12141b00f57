/** Talks to the program that opens a terminal; see `terminal.h` of the sandbox's helper. */
import { Readable, type Writable } from "node:stream";
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { ToolsError } from "../../errors.ts";
import type { ForegroundProcess } from "./foreground.ts";
import type { TerminalSize } from "./screen.ts";

/** The state of a terminal, as the system knows it. */
export interface TerminalState {
  /** Whether what is typed is shown by the terminal itself. */
  readonly echoes: boolean;
  /** Whether the program gets whole lines. */
  readonly isCanonical: boolean;
  /** Whether the bytes of the message were written. */
  readonly wasWritten: boolean;
  readonly size: TerminalSize;
  readonly foreground: readonly ForegroundProcess[];
}

type MessageType = "Q" | "W" | "K" | "R" | "Z";

/** A program that has stopped reading leaves a message unanswered. */
const maxAnswerMs = 3_000;

function encodeMessage(type: MessageType, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeUInt32LE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Undefined for a line that is no answer. Pure. */
function parseState(line: string): TerminalState | undefined {
  const match = /^S ([01]) ([01]) ([01]) (\d+) (\d+)((?: \d+:\d+:\S*)*)$/.exec(line);
  if (!match) return undefined;
  const [, echo, canonical, written, columns, rows, processes = ""] = match;
  const foreground = processes.split(" ").filter(Boolean);
  return {
    echoes: echo === "1",
    isCanonical: canonical === "1",
    wasWritten: written === "1",
    size: { columns: Number(columns), rows: Number(rows) },
    foreground: foreground.map((process) => {
      const [pid = "", parent = "", program = ""] = process.split(":");
      return { pid: Number(pid), parent: Number(parent), program };
    }),
  };
}

export class TerminalRelay {
  /** Everything that was printed beside the answers, such as that the program could not be started. */
  readonly rest: Readable;
  readonly #input: Writable;
  readonly #clock: Clock;
  readonly #waiting: ((state: TerminalState | undefined) => void)[] = [];

  constructor({ stdin, stderr, clock }: { stdin: Writable; stderr: Readable; clock: Clock }) {
    this.#input = stdin;
    this.#clock = clock;
    this.rest = Readable.from(this.#readAnswers(stderr));
  }

  query(): Promise<TerminalState> {
    return this.#ask("Q");
  }

  /** Left out if the program hides what is typed. */
  write(text: string): Promise<TerminalState> {
    return this.#ask("W", Buffer.from(text));
  }

  /** Written also if the program hides what is typed. */
  press(keys: string): Promise<TerminalState> {
    return this.#ask("K", Buffer.from(keys));
  }

  resize({ columns, rows }: TerminalSize): Promise<TerminalState> {
    const body = Buffer.alloc(8);
    body.writeUInt32LE(columns, 0);
    body.writeUInt32LE(rows, 4);
    return this.#ask("Z", body);
  }

  /** Sends what a terminal says by itself. Left out while other messages wait: a program may ask without end. */
  reply(text: string): void {
    if (this.#input.writableLength === 0) this.#input.write(encodeMessage("R", Buffer.from(text)));
  }

  async #ask(type: MessageType, body?: Buffer): Promise<TerminalState> {
    const answer = new Promise<TerminalState | undefined>((resolve) => this.#waiting.push(resolve));
    this.#input.write(encodeMessage(type, body));
    const result = await untilTimeout(answer, maxAnswerMs, this.#clock);
    if (result.kind === "done" && result.value) return result.value;
    const why = result.kind === "done" ? "has ended" : "does not answer, since its program does not read";
    throw new ToolsError("unavailable", `The terminal ${why}. Look at it with action read, or kill the job.`);
  }

  async *#readAnswers(stream: Readable): AsyncGenerator<Buffer> {
    let rest = "";
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        const lines = (rest + chunk.toString("latin1")).split("\n");
        rest = lines.pop()!;
        const others = lines.filter((line) => !this.#take(line));
        if (others.length > 0) yield Buffer.from(others.map((line) => `${line}\n`).join(""), "latin1");
      }
      if (rest !== "") yield Buffer.from(rest, "latin1");
    } finally {
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    }
  }

  #take(line: string): boolean {
    const state = parseState(line);
    if (!state) return false;
    this.#waiting.shift()?.(state);
    return true;
  }
}

/** Messages of MCP over the pipes of a program: one line of JSON each. */
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Readable } from "node:stream";
import { getErrorMessage } from "@tau/ai/internal";
import type { McpProgram } from "./ports.ts";

/** No message may be longer. A server that sends more is ended. */
export const maxMessageBytes = 16 * 1024 * 1024;
/** A server that prints more lines in a row that are no messages is ended. */
const maxOtherLines = 1_000;
/** A server that leaves more messages unread, such as answers to its own requests, is ended. */
const maxUnread = 1_000;
/** Keeps this much of the end of standard error. */
const maxStderrLength = 8 * 1024;

export class StdioTransport implements Transport {
  readonly #program: McpProgram;
  /** The beginning of a line whose end has not come yet, in a buffer that may be longer. */
  #line = Buffer.alloc(0);
  #lineBytes = 0;
  #unread = 0;
  #isClosed = false;
  #otherLines = 0;
  #stderr = "";
  #problem: string | undefined;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(program: McpProgram) {
    this.#program = program;
    // From the beginning, so that what it prints before the connection begins is kept too.
    program.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-maxStderrLength);
    });
    program.stderr.on("error", () => {});
  }

  /** The end of what the server printed for people. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Why the connection was closed from this side; undefined if it was not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get hasEnded(): boolean {
    return this.#isClosed;
  }

  async start(): Promise<void> {
    const { stdin, stdout, exit } = this.#program;
    stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    stdout.on("error", (error: Error) => this.onerror?.(error));
    // What is written to a server that has ended is lost; `exit` reports that it has.
    stdin.on("error", (error: Error) => this.onerror?.(error));
    void exit.then(() => this.#whenRead()).then(() => this.#end());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("The server has ended.");
    if (++this.#unread > maxUnread) this.#refuse("It does not read what is sent to it.");
    try {
      await new Promise<void>((resolve, reject) => {
        this.#program.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
      });
    } finally {
      this.#unread--;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#line = Buffer.alloc(0);
    // Most servers end with their input.
    this.#program.stdin.end();
    await this.#program.end();
    await this.#whenRead();
    this.#end();
  }

  /** After its end: resolves when everything that it printed was read. */
  async #whenRead(): Promise<void> {
    const { stdout, stderr } = this.#program;
    await Promise.all([stdout.resume(), stderr].map(whenClosed));
  }

  #end(): void {
    this.#isClosed = true;
    const { onclose } = this;
    delete this.onclose;
    onclose?.();
  }

  #read(chunk: Buffer): void {
    let start = 0;
    while (!this.#isClosed) {
      const end = chunk.indexOf(10, start);
      const part = chunk.subarray(start, end < 0 ? undefined : end);
      this.#lineBytes += part.length;
      if (this.#lineBytes > maxMessageBytes)
        return this.#refuse(`It sent a message of more than ${maxMessageBytes / 1024 / 1024} MB.`);
      const isWhole = end >= 0 && this.#lineBytes === part.length;
      if (!isWhole) this.#append(part);
      if (end < 0) return;
      const line = isWhole ? part : this.#line.subarray(0, this.#lineBytes);
      start = end + 1;
      this.#lineBytes = 0;
      this.#receive(line.toString("utf8").trim());
    }
  }

  /** Copies it: a list of the parts would be many times as large as a line that comes byte by byte. */
  #append(part: Buffer): void {
    if (this.#lineBytes > this.#line.length) {
      const longer = Buffer.allocUnsafe(Math.max(this.#lineBytes, 2 * this.#line.length));
      this.#line.copy(longer);
      this.#line = longer;
    }
    part.copy(this.#line, this.#lineBytes - part.length);
  }

  #refuse(problem: string): void {
    this.#problem = problem;
    this.onerror?.(new Error(problem));
    void this.close().catch((error: unknown) => this.onerror?.(error as Error));
  }

  #receive(line: string): void {
    if (line === "") return;
    const message = parseMessage(line);
    if (message instanceof Error) {
      // Some servers print greetings there.
      if (++this.#otherLines > maxOtherLines) return this.#refuse("It prints what is no message of MCP.");
      return this.onerror?.(message);
    }
    this.#otherLines = 0;
    this.onmessage?.(message);
  }
}

const whenClosed = async (stream: Readable): Promise<void> => {
  if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", resolve));
};

function parseMessage(line: string): JSONRPCMessage | Error {
  try {
    return deserializeMessage(line);
  } catch (error) {
    return new Error(`A line is no message of MCP: ${getErrorMessage(error)}`);
  }
}

/** JSON-RPC over the pipes of a language server. A server can do no more with it than fail its own answers. */
import type { Clock } from "@tau/ai";
import { followSignal, isRecord } from "@tau/ai/internal";
import { errorCodes } from "@tau/protocol/json-rpc";
import { toVisibleLine } from "../kit/visible-text.ts";
import { ContentLengthReader, toFrame } from "../kit/content-length.ts";
import { LspError } from "./failure.ts";
import type { LspProgram } from "./program.ts";

/** A message may be this large: a server may report very many problems at once. */
const maxMessageBytes = 64 * 1024 * 1024;
/** A server that sends more without answering anything is ended. */
const maxUnaskedBytes = 256 * 1024 * 1024;
/** A server that does not read is ended when this much waits for it. */
const maxWaitingBytes = 64 * 1024 * 1024;
/** A server that sends more messages in a row that cannot be read is ended. */
const maxUnreadable = 100;
/** Keeps this much of the end of standard error. */
const maxStderrLength = 8 * 1024;

interface ConnectionParts {
  /** For messages. */
  name: string;
  clock: Clock;
  /** Called for each notification of the server. `bytes` is the size of its message. */
  onNotification(method: string, params: unknown, bytes: number): void;
  /** Returns the result of a request of the server. Throws `RefusedRequest` for one that it does not answer. */
  onRequest(method: string, params: unknown): unknown;
  /** Called once, when nothing can be asked any more. */
  onEnd(reason: string): void;
}

export interface RequestOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Thrown by `onRequest` for a request that it does not answer. */
export class RefusedRequest extends Error {
  readonly code: number = errorCodes.invalid_params;
}

/** Thrown by `onRequest` for a method that it does not know. */
export class UnknownMethod extends RefusedRequest {
  override readonly code = errorCodes.unknown_method;

  constructor() {
    super("This client does not know the method.");
  }
}

/** The answer to a request. */
export interface Answer {
  readonly result: unknown;
  /** The size of its message. */
  readonly bytes: number;
}

interface Pending {
  readonly method: string;
  resolve(answer: Answer): void;
  reject(error: LspError): void;
}

export class Connection {
  readonly #program: LspProgram;
  readonly #parts: ConnectionParts;
  readonly #reader = new ContentLengthReader({ maxBytes: maxMessageBytes });
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #unaskedBytes = 0;
  #unreadable = 0;
  #stderr = "";
  #endReason: string | undefined;

  constructor(program: LspProgram, parts: ConnectionParts) {
    this.#program = program;
    this.#parts = parts;
    program.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    program.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-maxStderrLength);
    });
    // `exit` reports that a program has ended; what its pipes say then is of no use.
    for (const stream of [program.stdin, program.stdout, program.stderr]) stream.on("error", () => {});
    void program.exit.then((status) => this.#end(describeExit(status)));
  }

  /** Why the connection has ended; undefined while it has not. */
  get endReason(): string | undefined {
    return this.#endReason;
  }

  /** The number of requests that wait for an answer. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** The last line that the server printed for people; empty if there is none. */
  get lastWords(): string {
    return toVisibleLine(this.#stderr.trim().split("\n").at(-1) ?? "", 300);
  }

  notify(method: string, params: unknown): void {
    this.#write({ jsonrpc: "2.0", method, params });
  }

  /** Rejects with an `LspError`. Notifies the server when an answer is not needed any more. */
  request(method: string, params: unknown, { timeoutMs, signal }: RequestOptions): Promise<Answer> {
    if (signal?.aborted) return Promise.reject(new LspError("aborted", "The call was stopped."));
    if (this.#endReason !== undefined) return Promise.reject(this.#toEnded());
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#pending.delete(id);
        stopFollowing();
        cancelTimer();
      };
      const giveUp = (error: LspError) => {
        settle();
        this.notify("$/cancelRequest", { id });
        reject(error);
      };
      const stopFollowing = followSignal(signal, () => giveUp(new LspError("aborted", "The call was stopped.")));
      const cancelTimer = this.#parts.clock.setTimer(timeoutMs, () =>
        giveUp(
          new LspError(
            "timeout",
            `${this.#parts.name} did not answer to ${method} within ${timeoutMs} ms. It may still be loading: ask again, with a larger timeoutMs.`,
          ),
        ),
      );
      this.#pending.set(id, {
        method,
        resolve: (answer) => (settle(), resolve(answer)),
        reject: (error) => (settle(), reject(error)),
      });
      this.#write({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Ends the program with everything that it started. */
  async close(reason: string): Promise<void> {
    this.#end(reason);
    await this.#program.end();
  }

  #toEnded(): LspError {
    const words = this.lastWords;
    return new LspError(
      "ended",
      `${this.#parts.name} has ended: ${this.#endReason}${words === "" ? "" : ` It printed: ${words}`}`,
    );
  }

  #end(reason: string): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    for (const { reject } of this.#pending.values()) reject(this.#toEnded());
    this.#parts.onEnd(reason);
  }

  /** Ends a server that breaks the rules. */
  #refuse(problem: string): void {
    void this.close(problem);
  }

  #write(message: object): void {
    const { stdin } = this.#program;
    if (this.#endReason !== undefined || stdin.destroyed || stdin.writableEnded) return;
    stdin.write(toFrame(message));
    if (stdin.writableLength > maxWaitingBytes) this.#refuse("It did not read what it was sent.");
  }

  #read(chunk: Buffer): void {
    if (this.#endReason !== undefined) return;
    this.#unaskedBytes += chunk.length;
    if (this.#unaskedBytes > maxUnaskedBytes)
      return this.#refuse(`It sent ${maxUnaskedBytes / 1024 / 1024} MB without answering anything.`);
    for (const frame of this.#reader.read(chunk)) {
      if (this.#endReason !== undefined) return;
      if (frame.kind === "message") {
        this.#unreadable = 0;
        this.#take(frame.message, frame.bytes);
      } else if (frame.kind === "broken") this.#refuse(`It sent something that is no message: ${frame.problem}`);
      else if (++this.#unreadable > maxUnreadable) this.#refuse(frame.problem);
    }
  }

  #take(message: unknown, bytes: number): void {
    // Servers are lenient with `jsonrpc`, and so are we.
    if (!isRecord(message)) return;
    const { id, method, params } = message;
    if (typeof method === "string") {
      if (typeof id === "number" || typeof id === "string") this.#answer(id, method, params);
      else if (id === undefined) this.#parts.onNotification(method, params, bytes);
      return;
    }
    // An answer to a request that is not open, or a second one, is ignored.
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (!pending) return;
    this.#unaskedBytes = 0;
    if (isRecord(message["error"])) pending.reject(this.#toRefused(pending.method, message["error"]));
    else pending.resolve({ result: message["result"], bytes });
  }

  #toRefused(method: string, error: Readonly<Record<string, unknown>>): LspError {
    const text = typeof error["message"] === "string" ? toVisibleLine(error["message"], 1_000) : "an error";
    const kind = error["code"] === errorCodes.unknown_method ? "unsupported" : "refused";
    return new LspError(kind, `${this.#parts.name} answered to ${method}: ${text}`, { cause: { code: error["code"] } });
  }

  #answer(id: number | string, method: string, params: unknown): void {
    try {
      this.#write({ jsonrpc: "2.0", id, result: this.#parts.onRequest(method, params) ?? null });
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      const { code, message } = error;
      this.#write({ jsonrpc: "2.0", id, error: { code, message } });
    }
  }
}

function describeExit(status: unknown): string {
  const { kind, code, signal, message } = isRecord(status) ? status : {};
  if (kind === "failed") return `It could not be started: ${String(message)}`;
  return kind === "signalled" ? `It was ended by ${String(signal)}.` : `It exited with the code ${String(code)}.`;
}

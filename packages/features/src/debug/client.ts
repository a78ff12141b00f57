/** Requests, answers and events of a debug adapter. */
import { type Clock, systemClock } from "@tau/ai";
import { asRecord, getErrorMessage } from "@tau/ai/internal";
import { ContentLengthReader, toFrame } from "../kit/content-length.ts";
import { toVisibleLine } from "../kit/visible-text.ts";
import { AdapterProcess, type DapConnection, type DapSpawnOptions } from "./adapter-process.ts";
import { DebugFailure } from "./failure.ts";
import { type DapMessage, parseMessage } from "./protocol.ts";

export type { DapSpawnOptions } from "./adapter-process.ts";

export interface RequestOptions {
  /** Default 10 seconds. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/** Answers a request of the adapter. Its error is the answer where it throws. */
type ReverseRequestHandler = (command: string, args: unknown) => Promise<unknown>;

interface Pending {
  resolve(body: unknown): void;
  reject(error: DebugFailure): void;
}

const defaultTimeoutMs = 10_000;
const maxMessageLength = 500;
/** How long the end of a process is waited for whose output has ended. */
const maxEndMs = 2_000;
/** An adapter that sends more messages in a row that are none is ended. */
const maxUnreadable = 100;
/** An adapter that does not read is ended when this much waits for it. */
const maxWaitingBytes = 16 * 1024 * 1024;
/** More requests of the adapter than this are refused while they are being answered. */
const maxReverseRequests = 32;

export class DapClient {
  readonly process: AdapterProcess;
  readonly #connection: DapConnection;
  readonly #clock: Clock;
  readonly #reader = new ContentLengthReader();
  readonly #pending = new Map<number, Pending>();
  readonly #onEvent = new Set<(event: string, body: unknown) => void>();
  readonly #onEnd = new Set<(failure: DebugFailure) => void>();
  /** Whether the process ends with this connection. */
  readonly #ownsProcess: boolean;
  #answer: ReverseRequestHandler | undefined;
  #seq = 0;
  #unreadable = 0;
  #reverseRequests = 0;
  #failure: DebugFailure | undefined;

  private constructor(process: AdapterProcess, connection: DapConnection, owns: { clock: Clock; process: boolean }) {
    this.process = process;
    this.#connection = connection;
    this.#clock = owns.clock;
    this.#ownsProcess = owns.process;
    connection.output.on("data", (chunk: Buffer) => this.#read(chunk));
    connection.output.on("error", () => {});
    connection.output.once("close", () => this.#endWithOutput());
    connection.input.on("error", () => {});
    void process.exit.then(() => this.#fail(new DebugFailure("ended", this.#describeEnd())));
  }

  /** Starts an adapter and connects to it. */
  static async spawn(options: DapSpawnOptions): Promise<DapClient> {
    const { clock = systemClock } = options;
    const process = await AdapterProcess.start(options);
    try {
      return new DapClient(process, await process.connect(), { clock, process: true });
    } catch (error) {
      await process.close();
      await process.exit;
      const said = toVisibleLine(process.printed, maxMessageLength);
      if (error instanceof DebugFailure && said !== "")
        throw new DebugFailure(error.kind, `${error.message} It printed: ${said}`);
      throw error;
    }
  }

  /** Opens another connection to the same adapter, for a session that belongs to the one of this client. */
  async connectAgain(): Promise<DapClient> {
    return new DapClient(this.process, await this.process.connect(), { clock: this.#clock, process: false });
  }

  /** Why it can no longer be used; undefined while it can. */
  get failure(): DebugFailure | undefined {
    return this.#failure;
  }

  onEvent(listener: (event: string, body: unknown) => void): void {
    this.#onEvent.add(listener);
  }

  /** Calls back once, when the connection has ended for whatever reason. */
  onEnd(listener: (failure: DebugFailure) => void): void {
    if (this.#failure) listener(this.#failure);
    else this.#onEnd.add(listener);
  }

  /** Sets who answers requests of the adapter. Until then they are refused. */
  answerWith(handler: ReverseRequestHandler): void {
    this.#answer = handler;
  }

  /** Resolves with the body of the answer. Rejects with a `DebugFailure`. */
  async request(command: string, args: unknown, options: RequestOptions = {}): Promise<unknown> {
    const { timeoutMs = defaultTimeoutMs, signal } = options;
    if (this.#failure) throw this.#failure;
    const seq = ++this.#seq;
    return await new Promise<unknown>((resolve, reject) => {
      const settle = () => {
        this.#pending.delete(seq);
        cancelTimer();
        signal?.removeEventListener("abort", abort);
      };
      const abort = () => {
        settle();
        reject(new DebugFailure("aborted", "The call was stopped."));
      };
      const cancelTimer = this.#clock.setTimer(timeoutMs, () => {
        settle();
        reject(
          new DebugFailure("timeout", `The adapter did not answer ${command} within ${timeoutMs / 1_000} seconds.`),
        );
      });
      this.#pending.set(seq, {
        resolve(body) {
          settle();
          resolve(body);
        },
        reject(error) {
          settle();
          reject(error);
        },
      });
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) return abort();
      this.#send({ seq, type: "request", command, arguments: args });
    });
  }

  /** Ends the connection, and the adapter with everything that it started if this is its first one. */
  async close(): Promise<void> {
    this.#fail(new DebugFailure("ended", "The debugger was ended."));
    if (this.#ownsProcess) await this.process.close();
  }

  #send(message: object): void {
    const { input } = this.#connection;
    input.write(toFrame(message));
    if (input.writableLength > maxWaitingBytes) this.#endBecause("The adapter did not read what it was sent.");
  }

  #read(chunk: Buffer): void {
    for (const frame of this.#reader.read(chunk)) {
      if (this.#failure) return;
      if (frame.kind === "broken") return this.#endBecause(`The adapter sent what is no message. ${frame.problem}`);
      const message = frame.kind === "message" ? parseMessage(frame.message) : undefined;
      if (message) {
        this.#unreadable = 0;
        this.#receive(message);
      } else if (++this.#unreadable > maxUnreadable) {
        return this.#endBecause("The adapter sends what are no messages of the protocol.");
      }
    }
  }

  #receive(message: DapMessage): void {
    switch (message.type) {
      case "event":
        for (const listener of this.#onEvent) listener(message.event, message.body);
        return;
      case "request":
        void this.#answerRequest(message);
        return;
      case "response": {
        const pending = this.#pending.get(message.requestSeq);
        if (message.isSuccess) return pending?.resolve(message.body);
        const said = toVisibleLine(message.message ?? "It did not say why.", maxMessageLength);
        return pending?.reject(new DebugFailure("refused", said));
      }
    }
  }

  async #answerRequest({ seq, command, arguments: args }: Extract<DapMessage, { type: "request" }>): Promise<void> {
    const reply = (result: object) => {
      if (!this.#failure) this.#send({ seq: ++this.#seq, type: "response", request_seq: seq, command, ...result });
    };
    if (!this.#answer || this.#reverseRequests >= maxReverseRequests)
      return reply({ success: false, message: "This is not supported." });
    this.#reverseRequests++;
    try {
      reply({ success: true, body: asRecord(await this.#answer(command, args)) });
    } catch (error) {
      reply({ success: false, message: getErrorMessage(error) });
    } finally {
      this.#reverseRequests--;
    }
  }

  /** An adapter that has ended is given the time to say why. */
  #endWithOutput(): void {
    const end = () => this.#fail(new DebugFailure("ended", this.#describeEnd()));
    if (this.process.hasManyConnections) end();
    else this.#clock.setTimer(maxEndMs, end);
  }

  #describeEnd(): string {
    const said = toVisibleLine(this.process.printed, maxMessageLength);
    return said === "" ? "The adapter has ended." : `The adapter has ended. It printed: ${said}`;
  }

  #endBecause(problem: string): void {
    this.#fail(new DebugFailure("ended", problem));
    if (this.#ownsProcess) void this.process.close();
  }

  #fail(failure: DebugFailure): void {
    if (this.#failure) return;
    this.#failure = failure;
    for (const pending of this.#pending.values()) pending.reject(failure);
    this.#connection.close();
    for (const listener of this.#onEnd) listener(failure);
    this.#onEnd.clear();
  }
}

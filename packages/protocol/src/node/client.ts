/** A client of a program in RPC mode. It speaks JSON-RPC, so events come as `SessionEvent`s. */
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Approval, ApprovalAnswer } from "../approval.ts";
import type { CommandData, CommandName, CommandParams } from "../command.ts";
import type { AnswerData } from "../command-data.ts";
import type { SessionEvent } from "../event.ts";
import type { UiAnswer, UiDialog, UiNote } from "../ui-request.ts";
import { TauClientError } from "./errors.ts";

export interface ClientStreams {
  /** The program's input. */
  toProgram: Writable;
  /** The program's output. */
  fromProgram: Readable;
  /** Resolves when the program has ended, with how. Default: when `fromProgram` is closed. */
  ended?: Promise<string>;
}

export interface ClientOptions {
  /**
   * Answers questions. Default: nobody is there, and everything that is asked for is denied. The signal is aborted when the
   * question is over without this answer.
   */
  onApproval?: (question: Approval, signal: AbortSignal) => ApprovalAnswer | Promise<ApprovalAnswer>;
  /** Answers dialogs of extensions. Default: nobody is there, and all are cancelled. The signal is as for questions. */
  onDialog?: (dialog: UiDialog, signal: AbortSignal) => UiAnswer | Promise<UiAnswer>;
  /** Called with what extensions show. */
  onNote?: (note: UiNote) => void;
  /** A run is over, and the session takes prompts again. */
  onSettled?: (end: { aborted: boolean }) => void;
  /** Gets what `bash` prints, piece by piece. */
  onBashOutput?: (delta: string) => void;
  /** Called with lines that are not of the protocol. */
  onProblem?: (message: string) => void;
}

interface Waiting {
  command: string;
  resolve: (data: never) => void;
  reject: (error: TauClientError) => void;
}

interface Reply {
  answer: (signal: AbortSignal) => unknown;
  /** The answer that is sent if `answer` fails. */
  no: ApprovalAnswer | UiAnswer;
  problem: string;
}

type Listener = (event: SessionEvent) => void;

/** A command may be called without fields when it needs none. */
type Args<Name extends CommandName> =
  Record<never, never> extends CommandParams<Name> ? [params?: CommandParams<Name>] : [params: CommandParams<Name>];

/** Lines out of bytes. No line reader of Node's: those end lines at characters that may stand in JSON. */
class Lines {
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #pieces: string[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    const [first = "", ...others] = this.#decoder.write(chunk).split("\n");
    this.#pieces.push(first);
    for (const next of others) {
      const line = this.#pieces.join("");
      this.#pieces = [next];
      this.#onLine(line);
    }
  }
}

export class TauClient {
  readonly #streams: ClientStreams;
  readonly #options: ClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onEnd = new Set<() => void>();
  /** Questions of the program without an answer, by the id of the request. */
  readonly #asked = new Map<unknown, AbortController>();
  #listeners: readonly Listener[] = [];
  #lastId = 0;
  #ended: TauClientError | undefined;

  constructor(streams: ClientStreams, options: ClientOptions = {}) {
    this.#streams = streams;
    this.#options = options;
    const { fromProgram, toProgram, ended } = streams;
    const lines = new Lines((line) => this.#take(line));
    fromProgram.on("data", (chunk: Buffer) => lines.push(chunk));
    // What is written to a program that is gone fails. Callers that wait get the end as their error, not that.
    toProgram.on("error", () => undefined);
    fromProgram.on("error", () => undefined);
    const gone = ended ?? new Promise((resolve) => fromProgram.once("close", () => resolve("The program has ended.")));
    void gone.then((message) => this.#end(new TauClientError("ended", message)));
    const onProblem = (error: unknown) => this.#ended || options.onProblem?.(String(error));
    const abilities = { approvals: options.onApproval !== undefined, ui: options.onDialog !== undefined };
    if (abilities.approvals || abilities.ui) this.call("initialize", abilities).catch(onProblem);
  }

  /** Sends a command, and resolves with its data. Rejects with `refused` and the program's own words when it fails. */
  call<Name extends CommandName>(command: Name, ...[params]: Args<Name>): Promise<CommandData<Name>> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { command, resolve, reject });
      this.#send({ id, method: command, params: params ?? {} });
    });
  }

  /** Sends a prompt; resolves when it is accepted. Events report what comes of it. */
  prompt(message: string, others: Omit<CommandParams<"prompt">, "message"> = {}): Promise<CommandData<"prompt">> {
    return this.call("prompt", { message, ...others });
  }

  /** Says something, and resolves with the answer and all events up to it. */
  async promptAndWait(prompt: string): Promise<AnswerData & { events: SessionEvent[] }> {
    const events: SessionEvent[] = [];
    const stop = this.onEvent((event) => void events.push(event));
    try {
      return { ...(await this.call("execute", { prompt })), events };
    } finally {
      stop();
    }
  }

  abort(): Promise<CommandData<"abort">> {
    return this.call("abort");
  }

  onEvent(listener: Listener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => void (this.#listeners = this.#listeners.filter((other) => other !== listener));
  }

  /** Events from the first `next` on, until the program ends or the reader leaves. Nothing is left out. */
  async *events(): AsyncGenerator<SessionEvent, void> {
    const queue: SessionEvent[] = [];
    let wake = () => {};
    const stop = this.onEvent((event) => {
      queue.push(event);
      wake();
    });
    const onEnd = () => wake();
    this.#onEnd.add(onEnd);
    try {
      for (;;) {
        while (queue.length > 0) yield queue.shift()!;
        if (this.#ended) return;
        await new Promise<void>((resolve) => void (wake = resolve));
      }
    } finally {
      stop();
      this.#onEnd.delete(onEnd);
    }
  }

  /** Ends the connection: everything that waits fails. */
  #end(reason: TauClientError): void {
    if (this.#ended) return;
    this.#ended = reason;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
    for (const id of this.#asked.keys()) this.#takeBack(id);
    for (const wake of this.#onEnd) wake();
  }

  #send(record: object): void {
    this.#streams.toProgram.write(`${JSON.stringify({ jsonrpc: "2.0", ...record })}\n`);
  }

  #take(line: string): void {
    if (line.trim() === "") return;
    let record: Record<string, unknown>;
    try {
      record = JSON.parse(line) as Record<string, unknown>;
    } catch (error) {
      this.#options.onProblem?.(`The program wrote a line that is no JSON: ${(error as Error).message}`);
      return;
    }
    try {
      if (typeof record["method"] === "string") this.#hear(record["method"], record["params"], record["id"]);
      else this.#settle(record);
    } catch (error) {
      // An exception here would end the process that has started the program.
      this.#options.onProblem?.(`A line of the program could not be taken: ${String(error)}`);
    }
  }

  #hear(method: string, params: unknown, id: unknown): void {
    if (method === "event") {
      const event = params as SessionEvent;
      if (event.type === "approval_resolved") this.#takeBack(`approve:${event.approvalId}`);
      for (const listener of this.#listeners) this.#tell(listener, event);
    }
    if (method === "ui_resolved") this.#takeBack(`ui:${(params as { id: string }).id}`);
    if (method === "settled") this.#options.onSettled?.(params as { aborted: boolean });
    if (method === "bash_execution_update") this.#options.onBashOutput?.((params as { delta: string }).delta);
    if (method === "approve") void this.#decide(params as Approval, id);
    if (method === "ui_request" && id === undefined) this.#options.onNote?.(params as UiNote);
    else if (method === "ui_request") void this.#ask(params as UiDialog, id);
  }

  /** Calls a listener. One that throws does not keep the others from being called. */
  #tell(listener: Listener, event: SessionEvent): void {
    try {
      listener(event);
    } catch (error) {
      this.#options.onProblem?.(`A listener failed at ${event.type}: ${String(error)}`);
    }
  }

  async #decide(question: Approval, id: unknown): Promise<void> {
    const no: ApprovalAnswer = { decision: "deny" };
    const { onApproval = () => no } = this.#options;
    const problem = `The question ${question.id} could not be answered, and so was denied`;
    await this.#reply(id, { answer: (signal) => onApproval(question, signal), no, problem });
  }

  async #ask(dialog: UiDialog, id: unknown): Promise<void> {
    const no: UiAnswer = { cancelled: true };
    const { onDialog = () => no } = this.#options;
    const problem = `The dialog ${JSON.stringify(dialog.title)} failed, and so was cancelled`;
    await this.#reply(id, { answer: (signal) => onDialog(dialog, signal), no, problem });
  }

  async #reply(id: unknown, { answer, no, problem }: Reply): Promise<void> {
    const asked = new AbortController();
    this.#asked.set(id, asked);
    let result: unknown;
    try {
      result = await answer(asked.signal);
    } catch (error) {
      if (!asked.signal.aborted) this.#options.onProblem?.(`${problem}: ${String(error)}`);
    }
    if (asked.signal.aborted) return;
    this.#asked.delete(id);
    // Without types a handler may return nothing, and a reply without a result would answer nothing.
    this.#send({ id, result: result ?? no });
  }

  /** The question is over, whoever has answered it. */
  #takeBack(id: unknown): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    asked?.abort();
  }

  #settle({ id, result, error }: Record<string, unknown>): void {
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (!waiting) {
      this.#options.onProblem?.(`The program answered something that nobody asked: ${JSON.stringify(error ?? id)}`);
      return;
    }
    this.#waiting.delete(id as number);
    if (error === undefined) return waiting.resolve(result as never);
    const { message, data } = error as { message: string; data?: { code?: string } };
    waiting.reject(new TauClientError("refused", `${waiting.command}: ${message}`, { reason: data?.code }));
  }
}

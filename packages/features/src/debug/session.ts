/** A program that is being debugged: its state, as the events of its adapter report it. */
import type { Clock } from "@tau/ai";
import { asRecord } from "@tau/ai/internal";
import type { DapResolvedAdapter } from "./adapters.ts";
import type { Breakpoints } from "./breakpoints.ts";
import type { DapClient, RequestOptions } from "./client.ts";
import { DebugFailure } from "./failure.ts";
import { OutputBuffer } from "./output-buffer.ts";
import { type DapStackFrame, type DapThread, parseFrames, parseThreads, toId, toText } from "./protocol.ts";
import { type DapBreakpointRecord, SessionBreakpoints } from "./session-breakpoints.ts";
import { StateWaits } from "./state-waits.ts";

export type DapSessionStatus = "launching" | "configuring" | "stopped" | "running" | "terminated";

/** Where and why the program has stopped. Empty while it runs. */
export interface DapStopLocation {
  reason?: string;
  description?: string;
  text?: string;
  threadId?: number;
  /** The innermost frame. */
  frame?: DapStackFrame;
}

export interface DapSessionParts {
  id: string;
  adapter: DapResolvedAdapter;
  cwd: string;
  client: DapClient;
  clock: Clock;
  /** The breakpoints that are wanted. Sessions of one program share them. */
  wanted: Breakpoints;
  /** Takes what is written. Sessions of one program share it. Default: one of its own. */
  output?: OutputBuffer;
  /** Calls back whenever the status changes. */
  onChange?: (session: DapSession) => void;
}

/** The state in which a wait for a program has ended. */
export type WaitOutcome = "stopped" | "terminated" | "running";

export interface StartRequest {
  command: "launch" | "attach";
  arguments: Readonly<Record<string, unknown>>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

const maxFrames = 1_000;
const maxThreads = 1_000;
/** How long a program that has ended is waited for: its last output comes after its end. */
const afterExitMs = 1_000;

export class DapSession {
  readonly id: string;
  readonly adapter: DapResolvedAdapter;
  readonly cwd: string;
  readonly client: DapClient;
  /** The breakpoints that are wanted, as this adapter has set them. */
  readonly sessionBreakpoints: SessionBreakpoints;
  readonly #parts: DapSessionParts;
  readonly #output: OutputBuffer;
  readonly #waits: StateWaits;
  #status: DapSessionStatus = "launching";
  readonly #capabilities: Record<string, unknown> = {};
  #hasInitialized = false;
  /** Whether the adapter may still report that the program continues because it was asked to. */
  #expectsContinued = false;
  threads: DapThread[] = [];
  lastStackFrames: DapStackFrame[] = [];
  stop: DapStopLocation = {};
  exitCode: number | undefined;

  constructor(parts: DapSessionParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.adapter = parts.adapter;
    this.cwd = parts.cwd;
    this.client = parts.client;
    const { client, wanted, output = new OutputBuffer() } = parts;
    this.#output = output;
    this.#waits = new StateWaits(parts.clock);
    this.sessionBreakpoints = new SessionBreakpoints({ client, wanted, can: (capability) => this.can(capability) });
    this.client.onEvent((event, body) => this.#receive(event, body));
    this.client.onEnd(() => this.#change("terminated"));
  }

  get status(): DapSessionStatus {
    return this.#status;
  }

  /** The breakpoints in files that are wanted, by their paths, as this adapter has set them. */
  get breakpoints(): Map<string, DapBreakpointRecord[]> {
    return this.sessionBreakpoints.files;
  }

  /** The end of what the program has written: at most 128 KiB. */
  get output(): string {
    return this.#output.text;
  }

  takeNewOutput(): { text: string; omitted: number } {
    return this.#output.takeNew();
  }

  /** Can be passed on: it is always the same function, so that a listener is added once. */
  readonly addOutput = (text: string): void => this.#output.add(text);

  can(capability: string): boolean {
    return this.#capabilities[capability] === true;
  }

  /**
   * Starts the program: `initialize`, then `launch` or `attach` without waiting for its answer, which many adapters give last,
   * then the breakpoints once the adapter is `initialized`, then `configurationDone`.
   */
  async start({ command, arguments: args, timeoutMs, signal }: StartRequest): Promise<void> {
    const deadline = this.#parts.clock.monotonic() + timeoutMs;
    const getOptions = (): RequestOptions => ({
      timeoutMs: Math.max(1, deadline - this.#parts.clock.monotonic()),
      signal,
    });
    const capabilities = await this.client.request("initialize", initializeArguments(this.adapter.name), getOptions());
    this.#addCapabilities(capabilities);
    const answered = this.client.request(command, args, getOptions());
    const failed = new Promise<never>((_, reject) => answered.catch(reject));
    failed.catch(() => undefined);
    await Promise.race([this.#untilInitialized(getOptions()), failed]);
    if (this.#status === "launching") this.#change("configuring");
    await Promise.race([this.#configure(getOptions), failed]);
    await answered;
    if (this.#status === "configuring") this.#change("running");
  }

  /** Lets the program continue, or step. Rejects if the adapter refuses; then the program is still stopped. */
  async resume(command: string, args: Readonly<Record<string, unknown>>, options: RequestOptions = {}): Promise<void> {
    const { stop, lastStackFrames } = this;
    this.#expectsContinued = true;
    // Its answer may arrive after the event of the next stop.
    this.#change("running");
    try {
      await this.client.request(command, args, options);
    } catch (error) {
      if (this.#status === "running" && (error as DebugFailure).kind === "refused") {
        this.#change("stopped", stop);
        this.lastStackFrames = lastStackFrames;
      }
      throw error;
    }
  }

  /** Waits until the program has stopped or ended, at most `timeoutMs`. Never rejects. */
  async wait(timeoutMs: number, signal?: AbortSignal): Promise<WaitOutcome> {
    const getOutcome = (): WaitOutcome | undefined =>
      this.#status === "stopped" || this.#status === "terminated" ? this.#status : undefined;
    await this.#waits.until(() => getOutcome() !== undefined, timeoutMs, signal);
    return getOutcome() ?? "running";
  }

  async readThreads(options: RequestOptions = {}): Promise<DapThread[]> {
    this.threads = parseThreads(await this.client.request("threads", undefined, options));
    return this.threads;
  }

  async readFrames(threadId: number, levels: number, options: RequestOptions = {}): Promise<DapStackFrame[]> {
    const args = { threadId, startFrame: 0, levels: Math.min(maxFrames, levels) };
    const frames = parseFrames(await this.client.request("stackTrace", args, options)).slice(0, args.levels);
    if (this.#status === "stopped" && threadId === this.stop.threadId) {
      this.lastStackFrames = frames;
      if (frames[0]) this.stop = { ...this.stop, frame: frames[0] };
    }
    return frames;
  }

  /** The thread that stopped last; without one, the first. */
  async findThreadId(options: RequestOptions = {}): Promise<number | undefined> {
    return this.stop.threadId ?? this.threads[0]?.id ?? (await this.readThreads(options))[0]?.id;
  }

  /** Finds the thread as `findThreadId` does. Rejects if there is none. */
  async getThreadId(options: RequestOptions = {}): Promise<number> {
    const id = await this.findThreadId(options);
    if (id === undefined) throw new DebugFailure("invalid", "The adapter knows no thread of the program.");
    return id;
  }

  /** Ends the program and its adapter. An adapter that does not answer is ended all the same. */
  async terminate({ graceMs = 2_000, keepsProgram = false } = {}): Promise<void> {
    if (!this.client.failure) {
      const args = { terminateDebuggee: !keepsProgram };
      await this.client.request("disconnect", args, { timeoutMs: graceMs }).catch(() => undefined);
    }
    await this.client.close();
    this.#change("terminated");
  }

  async #untilInitialized({ timeoutMs = 0, signal }: RequestOptions): Promise<void> {
    await this.#waits.until(() => this.#hasInitialized || this.#status === "terminated", timeoutMs, signal);
    if (this.#hasInitialized) return;
    if (signal?.aborted) throw new DebugFailure("aborted", "The call was stopped.");
    throw (
      this.client.failure ??
      (this.#status === "terminated"
        ? new DebugFailure("ended", "The program ended before it could be debugged.")
        : new DebugFailure("timeout", "The adapter did not become ready for breakpoints in time."))
    );
  }

  async #configure(getOptions: () => RequestOptions): Promise<void> {
    const { files, functions } = this.#parts.wanted;
    for (const path of files.keys()) await this.#tolerate(this.sessionBreakpoints.send(path, getOptions()));
    if (functions.length > 0) await this.#tolerate(this.sessionBreakpoints.sendFunctions(getOptions()));
    const filters = listDefaultFilters(this.#capabilities["exceptionBreakpointFilters"]);
    if (filters.length > 0)
      await this.#tolerate(this.client.request("setExceptionBreakpoints", { filters }, getOptions()));
    if (this.can("supportsConfigurationDoneRequest")) await this.client.request("configurationDone", {}, getOptions());
  }

  /** A breakpoint that is refused does not keep the program from starting: its record says so. */
  async #tolerate(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      if ((error as DebugFailure).kind !== "refused") throw error;
    });
  }

  #receive(event: string, body: unknown): void {
    // Events of a program that has ended would make it seem to live.
    if (this.#status === "terminated" && event !== "output" && event !== "exited") return;
    const fields = asRecord(body);
    switch (event) {
      case "initialized":
        this.#hasInitialized = true;
        return this.#waits.check();
      case "capabilities":
        return this.#addCapabilities(fields["capabilities"]);
      case "output":
        if (fields["category"] !== "telemetry") this.#output.add(toText(fields["output"]) ?? "");
        return;
      case "stopped":
        return this.#receiveStop(fields);
      case "continued":
        if (this.#expectsContinued) this.#expectsContinued = false;
        else if (this.#status === "stopped") this.#change("running");
        return;
      case "thread":
        return this.#receiveThread(fields);
      case "breakpoint":
        return this.sessionBreakpoints.receive(fields);
      case "exited":
        this.exitCode = toId(fields["exitCode"]);
        // Some adapters do not say that this ends the session.
        this.#parts.clock.setTimer(afterExitMs, () => this.#change("terminated"));
        return;
      case "terminated":
        return this.#change("terminated");
      default:
        return;
    }
  }

  #receiveStop(fields: Record<string, unknown>): void {
    const threadId = toId(fields["threadId"]) ?? this.stop.threadId ?? this.threads[0]?.id;
    const [description, text] = [toText(fields["description"]), toText(fields["text"])];
    this.#change("stopped", {
      reason: toText(fields["reason"]) ?? "unknown",
      ...(threadId !== undefined && { threadId }),
      ...(description !== undefined && { description }),
      ...(text !== undefined && { text }),
    });
  }

  #receiveThread(fields: Record<string, unknown>): void {
    const id = toId(fields["threadId"]);
    if (id === undefined) return;
    const index = this.threads.findIndex((thread) => thread.id === id);
    if (fields["reason"] === "exited") {
      if (index >= 0) this.threads.splice(index, 1);
    } else if (index < 0) {
      this.threads.push({ id, name: "" });
      if (this.threads.length > maxThreads) this.threads.shift();
    }
  }

  #addCapabilities(value: unknown): void {
    const fields = asRecord(value);
    for (const name of usedCapabilities) if (fields[name] !== undefined) this.#capabilities[name] = fields[name];
  }

  #change(status: DapSessionStatus, stop: DapStopLocation = {}): void {
    if (this.#status === "terminated") return;
    this.#status = status;
    this.stop = stop;
    this.lastStackFrames = [];
    if (status === "terminated") this.threads = [];
    this.#waits.check();
    this.#parts.onChange?.(this);
  }
}

/** The only capabilities that are kept: an adapter may report others without end. */
const usedCapabilities = [
  "exceptionBreakpointFilters",
  "supportsConditionalBreakpoints",
  "supportsConfigurationDoneRequest",
  "supportsFunctionBreakpoints",
  "supportsHitConditionalBreakpoints",
  "supportsVariablePaging",
] as const;

const initializeArguments = (adapterID: string) => ({
  clientID: "tau",
  clientName: "tau",
  adapterID,
  locale: "en",
  linesStartAt1: true,
  columnsStartAt1: true,
  pathFormat: "path",
  supportsVariableType: true,
  supportsRunInTerminalRequest: true,
  supportsStartDebuggingRequest: true,
});

/** Filters of exceptions at which the adapter would stop if nobody chose. */
const listDefaultFilters = (filters: unknown): string[] =>
  (Array.isArray(filters) ? filters : []).flatMap((item) => {
    const { filter, default: isDefault } = asRecord(item);
    return typeof filter === "string" && isDefault === true ? [filter] : [];
  });

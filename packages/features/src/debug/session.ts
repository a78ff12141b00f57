/** A program that is being debugged: its state, as the events of its adapter report it. */
import type { Clock } from "@tau/ai";
import { asRecord } from "@tau/ai/internal";
import type { DapResolvedAdapter } from "./adapters.ts";
import { type Breakpoints, type DapBreakpointRecord, type DapFunctionBreakpointRecord } from "./breakpoints.ts";
import type { DapClient, RequestOptions } from "./client.ts";
import { DebugFailure } from "./failure.ts";
import { OutputBuffer } from "./output-buffer.ts";
import {
  type DapSetBreakpoint,
  type DapStackFrame,
  type DapThread,
  parseFrames,
  parseSetBreakpoint,
  parseSetBreakpoints,
  parseThreads,
  toId,
  toText,
} from "./protocol.ts";

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
  readonly #parts: DapSessionParts;
  readonly #output = new OutputBuffer();
  readonly #waiting = new Set<() => void>();
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
    this.client.onEvent((event, body) => this.#receive(event, body));
    this.client.onEnd(() => this.#change("terminated"));
  }

  get status(): DapSessionStatus {
    return this.#status;
  }

  /** The breakpoints in files that are wanted, by their paths. */
  get breakpoints(): Map<string, DapBreakpointRecord[]> {
    return this.#parts.wanted.files;
  }

  get functionBreakpoints(): readonly DapFunctionBreakpointRecord[] {
    return this.#parts.wanted.functions;
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

  /** Sends the breakpoints of a file as they are wanted now. */
  async sendBreakpoints(path: string, options: RequestOptions = {}): Promise<void> {
    const records = this.breakpoints.get(path) ?? [];
    const breakpoints = records.map((record) => ({ line: record.line, ...this.#toConditions(record) }));
    const body = await this.client.request("setBreakpoints", { source: { path }, breakpoints }, options);
    note(records, parseSetBreakpoints(body));
    this.#noteIgnored(records);
  }

  async sendFunctionBreakpoints(options: RequestOptions = {}): Promise<void> {
    const records = this.functionBreakpoints;
    if (!this.can("supportsFunctionBreakpoints")) {
      for (const record of records) Object.assign(record, { isVerified: false, message: cannotFunction });
      return;
    }
    const breakpoints = records.map((record) => ({ name: record.name, ...this.#toConditions(record) }));
    note(records, parseSetBreakpoints(await this.client.request("setFunctionBreakpoints", { breakpoints }, options)));
    this.#noteIgnored(records);
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
    await this.#waitUntil(() => getOutcome() !== undefined, timeoutMs, signal);
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
  async getThreadId(options: RequestOptions = {}): Promise<number> {
    const id = this.stop.threadId ?? this.threads[0]?.id ?? (await this.readThreads(options))[0]?.id;
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

  /** Resolves when something is done, the time is over, or `signal` is aborted. */
  async #waitUntil(isDone: () => boolean, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (isDone() || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        this.#waiting.delete(check);
        cancelTimer();
        signal?.removeEventListener("abort", settle);
        resolve();
      };
      const check = () => void (isDone() && settle());
      const cancelTimer = this.#parts.clock.setTimer(timeoutMs, settle);
      this.#waiting.add(check);
      signal?.addEventListener("abort", settle, { once: true });
    });
  }

  async #untilInitialized({ timeoutMs = 0, signal }: RequestOptions): Promise<void> {
    await this.#waitUntil(() => this.#hasInitialized || this.#status === "terminated", timeoutMs, signal);
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
    for (const path of this.breakpoints.keys()) await this.#tolerate(this.sendBreakpoints(path, getOptions()));
    if (this.functionBreakpoints.length > 0) await this.#tolerate(this.sendFunctionBreakpoints(getOptions()));
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

  /** Without its condition a breakpoint stops the program each time, which a model would not expect. */
  #noteIgnored(records: readonly (DapBreakpointRecord | DapFunctionBreakpointRecord)[]): void {
    const conditions = this.can("supportsConditionalBreakpoints") ? [] : (["condition"] as const);
    const hits = this.can("supportsHitConditionalBreakpoints") ? [] : (["hitCondition"] as const);
    for (const record of records) {
      const ignored = [...conditions, ...hits].filter((name) => record[name] !== undefined);
      if (ignored.length > 0) record.message = `This adapter ignores ${ignored.join(" and ")}.`;
    }
  }

  #toConditions({ condition, hitCondition }: { condition?: string; hitCondition?: string }) {
    return {
      ...(condition !== undefined && { condition }),
      ...(hitCondition !== undefined && { hitCondition }),
    };
  }

  #receive(event: string, body: unknown): void {
    // Events of a program that has ended would make it seem to live.
    if (this.#status === "terminated" && event !== "output" && event !== "exited") return;
    const fields = asRecord(body);
    switch (event) {
      case "initialized":
        this.#hasInitialized = true;
        return this.#notify();
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
        return this.#receiveBreakpoint(fields);
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

  #receiveBreakpoint(fields: Record<string, unknown>): void {
    const set = parseSetBreakpoint(fields["breakpoint"]);
    const records = [...[...this.breakpoints.values()].flat(), ...this.functionBreakpoints];
    const record = set.id === undefined ? undefined : records.find(({ id }) => id === set.id);
    if (record) note([record], [set]);
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
    this.#notify();
    this.#parts.onChange?.(this);
  }

  #notify(): void {
    for (const check of this.#waiting) check();
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

const cannotFunction = "This adapter has no breakpoints at functions.";

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

/** Writes into records what an adapter answered about them, in the same order. */
function note(
  records: readonly (DapBreakpointRecord | DapFunctionBreakpointRecord)[],
  sets: readonly DapSetBreakpoint[],
): void {
  for (const [index, record] of records.entries()) {
    const { id, isVerified, line, message } = sets[index] ?? { isVerified: false };
    delete record.message;
    Object.assign(record, {
      isVerified,
      ...(id !== undefined && { id }),
      ...(line !== undefined && "line" in record && { actualLine: line }),
      ...(message !== undefined && { message }),
    });
  }
}

/** Filters of exceptions at which the adapter would stop if nobody chose. */
const listDefaultFilters = (filters: unknown): string[] =>
  (Array.isArray(filters) ? filters : []).flatMap((item) => {
    const { filter, default: isDefault } = asRecord(item);
    return typeof filter === "string" && isDefault === true ? [filter] : [];
  });

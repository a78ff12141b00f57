/** A kernel: one process that runs cells and keeps their variables. */
import type { Clock } from "@tau/ai";
import { followSignal, getErrorMessage } from "@tau/ai/internal";
import type { KernelId, KernelResult } from "./ipc.ts";
import { createDeferred } from "./deferred.ts";
import { KernelError } from "./kernel-error.ts";
import type { KernelProcess, KernelProcessEvents } from "./kernel-process.ts";
import type { DoneMessage, Display, FromKernel } from "./messages.ts";
import { type AnswerRequest, KernelRequests } from "./requests.ts";

/** How long a cell may take to end after an interrupt, before the kernel is ended. */
const interruptMs = 5_000;
const minWatchMs = 50;
const maxDisplays = 100;
/** Limits what is kept of all of them, as long as their lines are. */
const maxDisplaySize = 32 * 1024 * 1024;
/** The end of what is printed while no cell runs is shown with the next one. */
const maxLateBytes = 16 * 1024;

export interface CellOptions {
  code: string;
  timeoutMs: number | undefined;
  signal: AbortSignal | undefined;
  onOutput(chunk: Buffer): void;
  answer: AnswerRequest;
}

export type CellOutcome =
  | { kind: "done"; done: DoneMessage; displays: readonly Display[] }
  /** The kernel has ended; `reason` says why. */
  | { kind: "ended"; reason: string; displays: readonly Display[]; wasStarted: boolean }
  | { kind: "interrupted"; by: "abort" | "timeout"; displays: readonly Display[]; hasEnded: boolean };

export interface KernelOptions {
  id: KernelId;
  clock: Clock;
  /** Ends itself after this time without a cell. */
  idleMs: number;
  start(events: KernelProcessEvents): Promise<KernelProcess>;
  /** Says why a tool is not registered, for the output of the cell. */
  onRegister(tool: Extract<FromKernel, { type: "Register" }>): string | undefined;
  /** For how long a person has been waited for, all in all, which time limits of cells leave out. */
  getPersonWaitMs(): number;
  /** Called once, when nothing of it is left. */
  onEnd(reason: string): void;
}

/** Calls tools that the code of a kernel has registered. */
export interface KernelBridge {
  /** Rejects with a `KernelError`. */
  invokeTool(toolName: string, params: unknown): Promise<unknown>;
}

interface RunningCell {
  id: string;
  displays: Display[];
  displaySize: number;
  /** Whether values that it displays are left out, which its output says. */
  isFull: boolean;
  onOutput(chunk: Buffer): void;
  settle(done: DoneMessage | undefined): void;
}

export class Kernel {
  readonly #options: KernelOptions;
  readonly #requests: KernelRequests;
  readonly #invokes = new Map<string, (result: KernelResult) => void>();
  /** Settles when the process runs, which may be long before it is ready, if it ever is. */
  #process: Promise<KernelProcess> | undefined;
  #ready: Promise<KernelProcess> | undefined;
  #isReady = false;
  #cell: RunningCell | undefined;
  #late: Buffer[] = [];
  #counts = { cells: 0, runs: 0 };
  #cancelIdle: (() => void) | undefined;
  #endReason: string | undefined;

  constructor(options: KernelOptions) {
    this.#options = options;
    this.#requests = new KernelRequests({
      id: options.id,
      send: async (type, payload) => (await this.#process)?.send(type, payload),
    });
  }

  get hasEnded(): boolean {
    return this.#endReason !== undefined;
  }

  /** Cells that it has run. */
  get runs(): number {
    return this.#counts.runs;
  }

  get isBusy(): boolean {
    return this.#cell !== undefined;
  }

  /** Starts the process before its first cell. */
  async open(): Promise<void> {
    await this.#open();
    if (this.#endReason !== undefined) throw new KernelError("ended", this.#endReason);
    this.#waitIdle();
  }

  /** Runs a cell, after the one before has ended. Never rejects for what the code does. */
  async run({ code, timeoutMs, signal, onOutput, answer }: CellOptions): Promise<CellOutcome> {
    const id = `c${++this.#counts.cells}`;
    const displays: Display[] = [];
    const stopped = createDeferred<{ by: "abort" | "timeout" }>();
    this.#cancelIdle?.();
    const stopFollowing = followSignal(signal, () => stopped.resolve({ by: "abort" }));
    const cancelTimeout =
      timeoutMs === undefined ? undefined : this.#limit(timeoutMs, () => stopped.resolve({ by: "timeout" }));
    try {
      const opened = await Promise.race([this.#open(), stopped.promise]);
      // It may have ended while it started.
      if (this.#endReason !== undefined) return { kind: "ended", reason: this.#endReason, displays, wasStarted: false };
      if ("by" in opened) {
        // A process that had started before has not received the cell.
        if (!this.#isReady) await this.end("It was interrupted while it started.");
        return { kind: "interrupted", by: opened.by, displays, hasEnded: this.hasEnded };
      }
      const done = createDeferred<DoneMessage | undefined>();
      this.#cell = { id, displays, displaySize: 0, isFull: false, onOutput, settle: done.resolve };
      this.#requests.enter(id, answer);
      for (const chunk of this.#late.splice(0)) onOutput(chunk);
      this.#counts.runs++;
      opened.send("Cell", { id, code });
      const first = await Promise.race([done.promise, stopped.promise]);
      const isStopped = first !== undefined && "by" in first;
      if (isStopped) await this.#interrupt(opened, id, done.promise);
      const end = await (this.hasEnded ? undefined : done.promise);
      await opened.drain();
      if (isStopped) return { kind: "interrupted", by: first.by, displays, hasEnded: this.hasEnded };
      return end
        ? { kind: "done", done: end, displays }
        : { kind: "ended", reason: this.#endReason!, displays, wasStarted: true };
    } finally {
      stopFollowing();
      cancelTimeout?.();
      this.#cell = undefined;
      this.#requests.leave(id);
      this.#waitIdle();
    }
  }

  /** Calls `onOver` after `limitMs` in which no person was waited for. Returns how to cancel that. */
  #limit(limitMs: number, onOver: () => void): () => void {
    const { clock, getPersonWaitMs } = this.#options;
    const getWorkedMs = () => clock.monotonic() - getPersonWaitMs();
    const endMs = getWorkedMs() + limitMs;
    let cancel = () => {};
    const watch = (leftMs: number) => {
      cancel = clock.setTimer(leftMs, () => {
        const moreMs = endMs - getWorkedMs();
        // As long as a person is waited for, this does not change.
        if (moreMs > 0) watch(Math.max(moreMs, minWatchMs));
        else onOver();
      });
    };
    watch(limitMs);
    return () => cancel();
  }

  /** Ends the kernel if the cell does not end in time. */
  async #interrupt(process: KernelProcess, id: string, done: Promise<unknown>): Promise<void> {
    const { clock } = this.#options;
    process.send("Interrupt", { id });
    const late = createDeferred<"late">();
    const cancel = clock.setTimer(interruptMs, () => late.resolve("late"));
    const first = await Promise.race([done, late.promise]);
    cancel();
    if (first === "late") await this.end("It did not react to an interrupt.");
  }

  async #open(): Promise<KernelProcess> {
    this.#ready ??= this.#start();
    return await this.#ready;
  }

  async #start(): Promise<KernelProcess> {
    const ready = createDeferred<void>();
    const events: KernelProcessEvents = {
      onMessage: (message) => (message.type === "Ready" ? ready.resolve() : this.#receive(message)),
      onOutput: (chunk) => this.#print(chunk),
    };
    this.#process = this.#options.start(events);
    const process = await this.#process.catch((error: unknown) => {
      // The next cell tries again with another kernel.
      this.#finish(getErrorMessage(error));
      throw error;
    });
    void process.exit.then((reason) => this.#finish(reason));
    await Promise.race([ready.promise, process.exit]);
    this.#isReady = true;
    return process;
  }

  #print(chunk: Buffer): void {
    if (this.#cell) return this.#cell.onOutput(chunk);
    this.#late.push(chunk);
    const size = this.#late.reduce((sum, { length }) => sum + length, 0);
    if (size > maxLateBytes) this.#late = [Buffer.concat(this.#late).subarray(-maxLateBytes)];
  }

  #receive(message: Exclude<FromKernel, { type: "Ready" }>): void {
    switch (message.type) {
      case "Done":
        if (message.done.id === this.#cell?.id) this.#cell.settle(message.done);
        return;
      case "Display":
        return this.#display(message);
      case "Register": {
        const problem = this.#options.onRegister(message);
        if (problem !== undefined) this.#print(Buffer.from(`[${problem}]\n`));
        return;
      }
      case "Invoked": {
        const settle = this.#invokes.get(message.id);
        this.#invokes.delete(message.id);
        return settle?.(message.result);
      }
      case "Request":
        return this.#requests.accept(message);
    }
  }

  #display({ display, size }: Extract<FromKernel, { type: "Display" }>): void {
    const cell = this.#cell;
    if (!cell) return;
    if (cell.displays.length >= maxDisplays || cell.displaySize + size > maxDisplaySize) {
      if (!cell.isFull)
        cell.onOutput(Buffer.from("[More values were displayed than a cell can show. Some are left out.]\n"));
      cell.isFull = true;
      return;
    }
    cell.displaySize += size;
    cell.displays.push(display);
  }

  /** Gives the bridge for one call: requests of the tool have the rights of that call. */
  bridge(answer: AnswerRequest, signal?: AbortSignal): KernelBridge {
    return {
      invokeTool: async (toolName, params) => {
        if (this.hasEnded || !this.#process) throw new KernelError("ended", "The kernel of this tool has ended.");
        const process = await this.#process;
        // A call whose interrupt comes first would run to its end.
        if (signal?.aborted) throw new KernelError("aborted", "The call was aborted.");
        const id = `i${++this.#counts.cells}`;
        const result = createDeferred<KernelResult>();
        const stopFollowing = followSignal(signal, () => {
          process.send("Interrupt", { id });
          result.resolve({ error: { message: "The call was aborted.", kind: "aborted" } });
        });
        this.#cancelIdle?.();
        this.#invokes.set(id, result.resolve);
        this.#requests.enter(id, answer);
        try {
          process.send("Invoke", { id, name: toolName, params });
          const settled = await result.promise;
          if ("value" in settled) return settled.value;
          const { kind, message } = settled.error;
          throw new KernelError(kind === "aborted" || kind === "ended" ? kind : "failed", message);
        } finally {
          stopFollowing();
          this.#invokes.delete(id);
          this.#requests.leave(id);
          this.#waitIdle();
        }
      },
    };
  }

  #waitIdle(): void {
    this.#cancelIdle?.();
    if (this.hasEnded || !this.#process || this.#cell || this.#invokes.size > 0) return;
    const { clock, idleMs } = this.#options;
    this.#cancelIdle = clock.setTimer(idleMs, () => void this.end("It was idle for too long."));
  }

  /** Resolves when nothing of it is left. */
  async end(reason: string): Promise<void> {
    this.#finish(reason);
    const process = await this.#process?.catch(() => undefined);
    await process?.end(0);
  }

  #finish(reason: string): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    this.#cancelIdle?.();
    this.#cell?.settle(undefined);
    for (const settle of this.#invokes.values())
      settle({ error: { message: `The kernel has ended: ${reason}`, kind: "ended" } });
    this.#requests.close();
    this.#options.onEnd(reason);
  }
}

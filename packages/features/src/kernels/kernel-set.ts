/** The kernels of one session, by language. */
import type { Clock } from "@tau/ai";
import type { ExtensionAPI } from "@tau/extensions";
import { CellQueue, waitsForItself } from "./cell-queue.ts";
import type { Language } from "./feature.ts";
import { languages } from "./feature.ts";
import { KernelId } from "./ipc.ts";
import { type CellOptions, type CellOutcome, Kernel } from "./kernel.ts";
import { KernelError } from "./kernel-error.ts";
import { connectProcess, toArgv } from "./kernel-process.ts";
import { RegisteredTools } from "./registered-tools.ts";
import { javascriptRunner, nodeOptions } from "./runners/javascript.ts";
import { pythonRunner } from "./runners/python.ts";

interface KernelSetParts {
  tau: ExtensionAPI;
  clock: Clock;
  getSettings(): { idleMinutes: number; maxMemoryMb?: number | undefined };
  findPython(): string | undefined;
}

interface SetCell extends CellOptions {
  language: Language;
  /** Identifies the call. A call that it makes has an id that begins with it. */
  callId: string;
  /** Whether it has a new kernel. */
  reset?: boolean | undefined;
}

const titles: Readonly<Record<Language, string>> = { python: "Python", javascript: "JavaScript" };
const ids: Readonly<Record<Language, KernelId>> = { python: KernelId.Python, javascript: KernelId.Bun };

export class KernelSet {
  readonly #parts: KernelSetParts;
  readonly #kernels = new Map<Language, Kernel>();
  readonly #queues: Readonly<Record<Language, CellQueue>> = { python: new CellQueue(), javascript: new CellQueue() };
  /** Why the last kernel of a language ended, until that was reported. */
  readonly #lost = new Map<Language, string>();
  readonly #registered: RegisteredTools;

  constructor(parts: KernelSetParts) {
    this.#parts = parts;
    this.#registered = new RegisteredTools(parts.tau);
  }

  /**
   * Runs a cell after those before it, in a kernel that the first one starts. `lost` says why the variables of an earlier kernel are
   * gone. Rejects with a `KernelError` for one that would wait for itself.
   */
  async run(cell: SetCell): Promise<{ outcome: CellOutcome; lost: string | undefined }> {
    const { language, callId, signal } = cell;
    const queue = this.#queues[language];
    if (waitsForItself(callId, queue, Object.values(this.#queues)))
      throw new KernelError("busy", "This kernel is busy with the cell that the code was started from.");
    const result = await queue.run(callId, signal, () => this.#runNow(cell));
    if (result !== "aborted") return result;
    return { outcome: { kind: "interrupted", by: "abort", displays: [], hasEnded: false }, lost: undefined };
  }

  async #runNow({ language, reset, ...cell }: SetCell): Promise<{ outcome: CellOutcome; lost: string | undefined }> {
    if (reset) await this.end(language, "It was reset.");
    const kernel = this.#take(language);
    const lost = this.#lost.get(language);
    this.#lost.delete(language);
    try {
      return { outcome: await kernel.run(cell), lost };
    } finally {
      // The next cell reports it where this one has not had a kernel.
      if (lost !== undefined && kernel.runs === 0) this.#lost.set(language, lost);
    }
  }

  #take(language: Language): Kernel {
    const running = this.#kernels.get(language);
    if (running && !running.hasEnded) return running;
    const kernel = this.#create(language);
    this.#kernels.set(language, kernel);
    return kernel;
  }

  #create(language: Language): Kernel {
    const { tau, clock, getSettings } = this.#parts;
    const { idleMinutes, maxMemoryMb } = getSettings();
    const argv = toArgv(this.#getProgram(language));
    const kernel = new Kernel({
      id: ids[language],
      clock,
      idleMs: idleMinutes * 60_000,
      start: async (events) => {
        const [command = "", ...args] = argv;
        const env = { MPLBACKEND: "Agg", PYTHONUNBUFFERED: "", NODE_OPTIONS: "", NODE_REPL_EXTERNAL_MODULE: "" };
        const limits = maxMemoryMb === undefined ? {} : { maxMemoryMb };
        return connectProcess(await tau.spawn(command, args, { env, ...limits }), events);
      },
      onRegister: (tool) => this.#registered.register(owner, tool),
      getPersonWaitMs: () => tau.getPersonWaitMs(),
      onEnd: (reason) => {
        if (kernel.runs > 0) this.#lost.set(language, reason);
        this.#registered.removeOf(kernel);
      },
    });
    const owner = { kernel, queue: this.#queues[language], title: titles[language] };
    return kernel;
  }

  #getProgram(language: Language): readonly string[] {
    if (language === "javascript") return [process.execPath, ...nodeOptions, "-e", javascriptRunner];
    const python = this.#parts.findPython();
    if (python !== undefined) return [python, "-c", pythonRunner];
    throw new KernelError(
      "ended",
      "There is no Python here. Use javascript; the user can install python3 or set kernels.python.",
    );
  }

  /** Starts a kernel without a cell. */
  async start(language: Language): Promise<void> {
    await this.#take(language).open();
  }

  /** Resolves with whether there was one. */
  async end(language: Language, reason: string): Promise<boolean> {
    const kernel = this.#kernels.get(language);
    if (!kernel || kernel.hasEnded) return false;
    await kernel.end(reason);
    return true;
  }

  async endAll(reason: string): Promise<void> {
    await Promise.all(languages.map((language) => this.end(language, reason)));
  }

  describeOne(language: Language): string {
    const kernel = this.#kernels.get(language);
    const state =
      !kernel || kernel.hasEnded
        ? "not running"
        : `${kernel.isBusy ? "busy" : "idle"}, ${kernel.runs} ${kernel.runs === 1 ? "cell" : "cells"} so far`;
    return `${titles[language]}: ${state}`;
  }

  describe(): string[] {
    return languages.map((language) => this.describeOne(language));
  }
}

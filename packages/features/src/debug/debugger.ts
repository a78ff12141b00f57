/** The debugger of a tau session: it starts one program at a time, looks after it while nobody uses it, and ends it. */
import type { Clock } from "@tau/ai";
import type { Spawner } from "../kit/run-git.ts";
import { Breakpoints } from "./breakpoints.ts";
import { DapClient } from "./client.ts";
import { DebuggedProgram, type DebugTarget } from "./debugged-program.ts";
import { DebugFailure } from "./failure.ts";
import type { DapSession } from "./session.ts";

interface DebuggerParts {
  spawn: Spawner["spawn"];
  clock: Clock;
  log: (message: string) => void;
}

/** A program that nobody has used for this long is ended. */
export const idleMs = 10 * 60_000;
const maxEnded = 5;

interface StartOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

interface Starting {
  readonly label: string;
  isCancelled: boolean;
  /** Rejects if it fails. */
  program?: Promise<DebuggedProgram>;
}

export class Debugger {
  readonly breakpoints = new Breakpoints();
  readonly #parts: DebuggerParts;
  #program: DebuggedProgram | undefined;
  #ended: readonly DebuggedProgram[] = [];
  #lastId = 0;
  /** The start that is under way. It looks here whether it has been cancelled meanwhile. */
  #starting: Starting | undefined;
  /** Settles when the programs that were ended so far are gone. */
  #ending: Promise<unknown> = Promise.resolve();
  #cancelIdle: (() => void) | undefined;

  constructor(parts: DebuggerParts) {
    this.#parts = parts;
  }

  /** The program that was started last, also if it has ended. */
  get program(): DebuggedProgram | undefined {
    return this.#program;
  }

  /** The sessions of the program, its own first. None once it was ended. */
  get sessions(): readonly DapSession[] {
    return this.#program && !this.#ended.includes(this.#program) ? this.#program.sessions : [];
  }

  /** Programs that were ended, the last one last. */
  get ended(): readonly DebuggedProgram[] {
    return this.#ended;
  }

  get isActive(): boolean {
    return this.#program?.isActive ?? false;
  }

  /** The session that calls are about, also if its program has ended. */
  get current(): DapSession | undefined {
    return this.#program?.current;
  }

  /** Starts a program. A start that fails leaves nothing behind. */
  async start(target: DebugTarget, options: StartOptions): Promise<DebuggedProgram> {
    const active = this.#starting ?? (this.isActive ? this.#program!.target : undefined);
    if (active) throw new DebugFailure("invalid", `${active.label} is being debugged. Terminate it first.`);
    const starting: Starting = { label: target.label, isCancelled: false };
    this.#starting = starting;
    starting.program = this.#start(target, starting, options);
    try {
      return await starting.program;
    } finally {
      this.#starting = undefined;
    }
  }

  async #start(target: DebugTarget, starting: Starting, options: StartOptions): Promise<DebuggedProgram> {
    await this.#endProgram();
    const { spawn, clock, log } = this.#parts;
    const { adapter, cwd, isOutside = false } = target;
    const client = await DapClient.spawn({ adapter, cwd, spawn, clock, isOutside });
    if (starting.isCancelled) {
      await client.close();
      throw new DebugFailure("ended", `${target.label} was terminated while it was started.`);
    }
    const createId = () => String(++this.#lastId);
    const program = new DebuggedProgram(target, client, { spawn, clock, log, createId, wanted: this.breakpoints });
    this.#program = program;
    try {
      await program.start(options);
      return program;
    } catch (error) {
      await this.#endProgram();
      throw error;
    }
  }

  /** Notes that the debugger is used: while `work` is done, and from its end on for the time of an idle program. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#cancelIdle?.();
    try {
      return await work();
    } finally {
      if (this.isActive) this.#watchIdle();
    }
  }

  /**
   * Ends the program, its children and the adapters, also one that is being started. Resolves when nothing is left, with the label of
   * what was ended; undefined if there was nothing.
   */
  async end(): Promise<string | undefined> {
    const starting = this.#starting;
    const active = starting ?? (this.isActive ? this.#program!.target : undefined);
    if (starting) starting.isCancelled = true;
    await this.#endProgram();
    // The caller that started it gets its failure.
    await starting?.program?.catch(() => undefined);
    return active?.label;
  }

  async #endProgram(): Promise<void> {
    this.#cancelIdle?.();
    const program = this.#program;
    const isEnded = !program || this.#ended.includes(program);
    if (!isEnded) this.#ended = [...this.#ended, program].slice(-maxEnded);
    const terminated = isEnded ? Promise.resolve() : program.end();
    const ending = Promise.allSettled([this.#ending, terminated]);
    this.#ending = ending;
    await ending;
    await terminated;
  }

  #watchIdle(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = this.#parts.clock.setTimer(idleMs, () => {
      this.#parts.log("A debugged program was ended because nobody has used it for 10 minutes.");
      void this.end();
    });
  }
}

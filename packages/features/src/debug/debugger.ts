/** The debugged program of a tau session: started, looked after while nobody uses it, and ended. */
import type { Clock } from "@tau/ai";
import { asRecord, getErrorMessage } from "@tau/ai/internal";
import type { Spawner } from "../kit/run-git.ts";
import type { DapResolvedAdapter } from "./adapters.ts";
import { Breakpoints } from "./breakpoints.ts";
import { DapClient } from "./client.ts";
import { DebugFailure } from "./failure.ts";
import { DapSession, type StartRequest } from "./session.ts";

/** Everything that starts a program, so that it can be started again. */
export interface DebugTarget {
  adapter: DapResolvedAdapter;
  cwd: string;
  command: StartRequest["command"];
  arguments: Readonly<Record<string, unknown>>;
  /** For people: `app.py --fast`, `process 12`. */
  label: string;
  /** See `DapSpawnOptions.isOutside`. */
  isOutside?: boolean;
}

export interface DebuggerParts {
  spawn: Spawner["spawn"];
  clock: Clock;
  log: (message: string) => void;
}

/** A program that nobody has used for this long is ended. */
export const idleMs = 10 * 60_000;
const maxChildren = 8;
const maxEnded = 5;

interface Starting {
  readonly label: string;
  isCancelled: boolean;
  /** Rejects if it fails. */
  session?: Promise<DapSession>;
}

export class Debugger {
  readonly breakpoints = new Breakpoints();
  readonly #parts: DebuggerParts;
  #target: DebugTarget | undefined;
  /** Sessions of the program, its own first; those of children after it. */
  #sessions: DapSession[] = [];
  /** The session that stopped last, or was started last. */
  #current: DapSession | undefined;
  #ended: { label: string; session: DapSession }[] = [];
  #started = 0;
  /** The start that is under way. It looks here whether it has been cancelled meanwhile. */
  #starting: Starting | undefined;
  /** Settles when the programs that were ended so far are gone. */
  #ending: Promise<unknown> = Promise.resolve();
  #cancelIdle: (() => void) | undefined;

  constructor(parts: DebuggerParts) {
    this.#parts = parts;
  }

  get target(): DebugTarget | undefined {
    return this.#target;
  }

  get sessions(): readonly DapSession[] {
    return this.#sessions;
  }

  /** Programs that have ended, the last one last. */
  get ended(): readonly { label: string; session: DapSession }[] {
    return this.#ended;
  }

  get isActive(): boolean {
    return this.#sessions.some(({ status }) => status !== "terminated");
  }

  /** The session that calls are about, also if its program has ended. */
  get current(): DapSession | undefined {
    return this.#current;
  }

  /** Starts a program. A start that fails leaves nothing behind. */
  async start(
    target: DebugTarget,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<DapSession> {
    const active = this.#starting ?? (this.isActive ? this.#target! : undefined);
    if (active) throw new DebugFailure("invalid", `${active.label} is being debugged. Terminate it first.`);
    const starting: Starting = { label: target.label, isCancelled: false };
    this.#starting = starting;
    starting.session = this.#start(target, starting, options);
    try {
      return await starting.session;
    } finally {
      this.#starting = undefined;
    }
  }

  async #start(
    target: DebugTarget,
    starting: Starting,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<DapSession> {
    await this.#endSessions();
    const { spawn, clock } = this.#parts;
    const { adapter, cwd, isOutside = false } = target;
    const client = await DapClient.spawn({ adapter, cwd, spawn, clock, isOutside });
    if (starting.isCancelled) {
      await client.close();
      throw new DebugFailure("ended", `${target.label} was terminated while it was started.`);
    }
    const session = this.#open(client, adapter, cwd);
    this.#target = target;
    this.#current = session;
    try {
      await session.start({ command: target.command, arguments: target.arguments, ...options });
      return session;
    } catch (error) {
      await this.#endSessions();
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
    const active = starting ?? (this.isActive ? this.#target! : undefined);
    if (starting) starting.isCancelled = true;
    await this.#endSessions();
    // The caller that started it gets its failure.
    await starting?.session?.catch(() => undefined);
    return active?.label;
  }

  async #endSessions(): Promise<void> {
    this.#cancelIdle?.();
    const sessions = this.#sessions;
    this.#sessions = [];
    const keepsProgram = this.#target?.command === "attach";
    const [own] = sessions;
    if (own) this.#ended = [...this.#ended, { label: this.#target?.label ?? "", session: own }].slice(-maxEnded);
    const terminated = Promise.all(sessions.toReversed().map((session) => session.terminate({ keepsProgram })));
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

  #open(client: DapClient, adapter: DapResolvedAdapter, cwd: string): DapSession {
    const { clock } = this.#parts;
    const id = String(++this.#started);
    const onChange = (session: DapSession) => {
      if (session.status === "stopped") this.#current = session;
    };
    const session = new DapSession({ id, adapter, cwd, client, clock, wanted: this.breakpoints, onChange });
    client.answerWith((command, args) => this.#answer(session, command, args));
    this.#sessions.push(session);
    return session;
  }

  async #answer(session: DapSession, command: string, args: unknown): Promise<unknown> {
    switch (command) {
      case "startDebugging":
        return await this.#startChild(session, args);
      case "runInTerminal":
        return await this.#runInTerminal(session, args);
      default:
        throw new Error(`${command} is not supported.`);
    }
  }

  async #startChild(parent: DapSession, args: unknown): Promise<object> {
    const { configuration, request } = asRecord(args);
    if (request !== "launch" && request !== "attach") throw new Error("The request is neither launch nor attach.");
    if (this.#sessions.length > maxChildren) throw new Error(`There are ${maxChildren} child sessions already.`);
    if (!this.#sessions.includes(parent)) throw new Error("The session has ended.");
    const { spawn, clock, log } = this.#parts;
    const { adapter, cwd } = parent;
    // Counted before it is connected, so that many requests at once are not more.
    const client = parent.client.process.hasManyConnections
      ? await parent.client.connectAgain()
      : await DapClient.spawn({ adapter, cwd, spawn, clock });
    if (!this.#sessions.includes(parent) || this.#sessions.length > maxChildren) {
      await client.close();
      throw new Error("There can be no more child sessions.");
    }
    const child = this.#open(client, adapter, cwd);
    // The adapter may wait for this answer before it answers the child.
    void child
      .start({ command: request, arguments: asRecord(configuration), timeoutMs: childTimeoutMs })
      .catch(async (error: unknown) => {
        log(`A child session could not be started: ${getErrorMessage(error)}`);
        parent.addOutput(`A child session could not be started: ${getErrorMessage(error)}\n`);
        this.#sessions = this.#sessions.filter((session) => session !== child);
        await child.terminate();
      });
    return {};
  }

  async #runInTerminal(session: DapSession, value: unknown): Promise<object> {
    const { args, cwd, env } = asRecord(value);
    const isCommand = Array.isArray(args) && args.length > 0 && args.every((arg) => typeof arg === "string");
    if (!isCommand) throw new Error("The command is no list of texts.");
    const variables = Object.entries(asRecord(env)).filter(
      (entry): entry is [string, string | null] =>
        /^[A-Za-z_]\w*$/.test(entry[0]) && (typeof entry[1] === "string" || entry[1] === null),
    );
    const directory = typeof cwd === "string" && cwd !== "" ? cwd : session.cwd;
    const { process } = session.client;
    process.onPrinted(session.addOutput);
    await process.runBeside({ args: args as string[], cwd: directory, env: Object.fromEntries(variables) });
    return {};
  }
}

const childTimeoutMs = 30_000;

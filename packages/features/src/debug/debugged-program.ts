/** A program that is being debugged: its session, and those of the children that its adapter asks for. */
import type { Clock } from "@tau/ai";
import { asRecord, getErrorMessage } from "@tau/ai/internal";
import type { Spawner } from "../kit/run-git.ts";
import type { DapResolvedAdapter } from "./adapters.ts";
import type { Breakpoints, WantedBreakpoint, WantedFunctionBreakpoint } from "./breakpoints.ts";
import { DapClient, type RequestOptions } from "./client.ts";
import { DebugFailure } from "./failure.ts";
import { OutputBuffer } from "./output-buffer.ts";
import { DapSession, type StartRequest, type WaitOutcome } from "./session.ts";
import { type BreakpointState, combineStates } from "./session-breakpoints.ts";
import { StateWaits } from "./state-waits.ts";

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

interface ProgramParts {
  spawn: Spawner["spawn"];
  clock: Clock;
  log: (message: string) => void;
  wanted: Breakpoints;
  createId: () => string;
}

/** Children that have ended do not count. */
const maxChildren = 8;
const childTimeoutMs = 30_000;

export class DebuggedProgram {
  readonly target: DebugTarget;
  /** Its own session. Those of children come and go beside it. */
  readonly session: DapSession;
  readonly #parts: ProgramParts;
  /** Everything that it and its children write, in the order in which they do. */
  readonly #output = new OutputBuffer();
  readonly #waits: StateWaits;
  #children: readonly DapSession[] = [];
  /** The child that ended last. */
  #endedChild: DapSession | undefined;
  #current: DapSession;
  /** Sessions that have stopped, and whose stop was not asked for yet: the first one first. */
  readonly #unseen = new Set<DapSession>();
  #isEnded = false;

  /** Takes a client that nothing was asked yet. */
  constructor(target: DebugTarget, client: DapClient, parts: ProgramParts) {
    this.target = target;
    this.#parts = parts;
    this.#waits = new StateWaits(parts.clock);
    this.session = this.#open(client);
    this.#current = this.session;
  }

  /** Its own session first. */
  get sessions(): readonly DapSession[] {
    return [this.session, ...this.#children];
  }

  /** The session that calls are about. It changes only while one waits, so that none is about another session than its caller knows. */
  get current(): DapSession {
    return this.#current;
  }

  get isActive(): boolean {
    return !this.#isEnded && this.sessions.some(({ status }) => status !== "terminated");
  }

  /** With some adapters only a child has a program, whose end is the end of all. */
  get exitCode(): number | undefined {
    return this.session.exitCode ?? this.#endedChild?.exitCode;
  }

  async start(options: Pick<StartRequest, "timeoutMs" | "signal">): Promise<void> {
    const { command, arguments: args } = this.target;
    await this.session.start({ command, arguments: args, ...options });
  }

  /** The current session if it is stopped, whose stop is known to the caller from now on. */
  getStopped(): DapSession | undefined {
    if (this.#current.status !== "stopped") return undefined;
    this.#unseen.delete(this.#current);
    return this.#current;
  }

  /** Lets the current session continue, or step, unless it has stopped since its caller last looked. See `DapSession.resume`. */
  async resume(command: string, options: RequestOptions): Promise<void> {
    const session = this.#current;
    if (session.status !== "stopped" || this.#unseen.has(session)) return;
    const threadId = await session.getThreadId(options);
    try {
      await session.resume(command, { threadId }, options);
    } catch (error) {
      // It is where it was, which its caller knows.
      if (error instanceof DebugFailure && error.kind === "refused") this.#unseen.delete(session);
      throw error;
    }
  }

  /**
   * Waits until a session stops, or all of them have ended. If none does in time, one that has been stopped for longer is the current
   * one. Never rejects.
   */
  async wait(timeoutMs: number, signal?: AbortSignal): Promise<WaitOutcome> {
    await this.#waits.until(() => this.#unseen.size > 0 || !this.isActive, timeoutMs, signal);
    if (!this.isActive) return "terminated";
    // The answer to a call that was stopped is not read, so the stop stays for the next one.
    if (signal?.aborted) return "running";
    const [stopped = this.sessions.find(({ status }) => status === "stopped")] = this.#unseen;
    if (!stopped) return "running";
    this.#current = stopped;
    this.#unseen.delete(stopped);
    return "stopped";
  }

  /** Pauses a session that runs, the current one if it can be. */
  async pause(options: RequestOptions): Promise<void> {
    const running = [this.#current, ...this.sessions].filter(({ status }) => status === "running");
    for (const session of new Set(running)) {
      const threadId = await session.findThreadId(options);
      if (threadId === undefined) continue;
      await session.client.request("pause", { threadId }, options);
      return;
    }
    throw new DebugFailure("invalid", "The adapter knows no thread of the program.");
  }

  /** Combines what the sessions report about a breakpoint. */
  getState(wanted: WantedBreakpoint | WantedFunctionBreakpoint): BreakpointState {
    return combineStates(this.sessions.map(({ sessionBreakpoints }) => sessionBreakpoints.getState(wanted)));
  }

  /** Ends it with its children and the adapters. One that was attached to keeps running. */
  async end(): Promise<void> {
    this.#isEnded = true;
    const keepsProgram = this.target.command === "attach";
    await Promise.all(this.sessions.toReversed().map((session) => session.terminate({ keepsProgram })));
  }

  #open(client: DapClient): DapSession {
    const { clock, wanted, createId } = this.#parts;
    const { adapter, cwd } = this.target;
    const onChange = (session: DapSession) => this.#follow(session);
    const output = this.#output;
    const session = new DapSession({ id: createId(), adapter, cwd, client, clock, wanted, output, onChange });
    client.answerWith((command, args) => this.#answer(session, command, args));
    return session;
  }

  #follow(session: DapSession): void {
    if (session.status === "stopped") this.#unseen.add(session);
    else this.#unseen.delete(session);
    if (session.status === "terminated" && this.#children.includes(session)) void this.#drop(session);
    this.#waits.check();
  }

  /** A child that has ended leaves its adapter, and nothing to look at. */
  async #drop(child: DapSession): Promise<void> {
    if (this.#isEnded) return;
    this.#children = this.#children.filter((session) => session !== child);
    this.#endedChild = child;
    if (this.#current === child) this.#current = this.session;
    await child.terminate();
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
    if (this.#children.length >= maxChildren) throw new Error(`There are ${maxChildren} child sessions already.`);
    if (!this.#has(parent)) throw new Error("The session has ended.");
    const { spawn, clock, log } = this.#parts;
    const { adapter, cwd } = this.target;
    const client = parent.client.process.hasManyConnections
      ? await parent.client.connectAgain()
      : await DapClient.spawn({ adapter, cwd, spawn, clock });
    // Many requests may have waited for their connections at once.
    if (!this.#has(parent) || this.#children.length >= maxChildren) {
      await client.close();
      throw new Error("There can be no more child sessions.");
    }
    const child = this.#open(client);
    this.#children = [...this.#children, child];
    // The adapter may wait for this answer before it answers the child.
    void child
      .start({ command: request, arguments: asRecord(configuration), timeoutMs: childTimeoutMs })
      .catch(async (error: unknown) => {
        log(`A child session could not be started: ${getErrorMessage(error)}`);
        parent.addOutput(`A child session could not be started: ${getErrorMessage(error)}\n`);
        await child.terminate();
      });
    return {};
  }

  #has(session: DapSession): boolean {
    return !this.#isEnded && this.sessions.includes(session);
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

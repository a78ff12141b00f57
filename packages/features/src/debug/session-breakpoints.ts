/**
 * The breakpoints as the adapter of one session has set them. Sessions of one program share those that are wanted, and each adapter gives
 * them numbers of its own, so what an adapter reports belongs to its session alone.
 */
import type { Breakpoints, WantedBreakpoint, WantedFunctionBreakpoint } from "./breakpoints.ts";
import type { DapClient, RequestOptions } from "./client.ts";
import { DebugFailure } from "./failure.ts";
import { type DapSetBreakpoint, parseSetBreakpoint, parseSetBreakpoints } from "./protocol.ts";

/** The state of a breakpoint, as an adapter has reported it. */
export interface BreakpointState {
  id?: number;
  /** Undefined until the adapter has answered. */
  isVerified?: boolean;
  /** The line at which the adapter has set it. */
  actualLine?: number;
  message?: string;
}

/** A breakpoint as it is wanted, and as the adapter of a session has set it. */
export interface DapBreakpointRecord extends WantedBreakpoint, BreakpointState {}

export interface DapFunctionBreakpointRecord extends WantedFunctionBreakpoint, BreakpointState {}

type Wanted = WantedBreakpoint | WantedFunctionBreakpoint;

interface SessionBreakpointsParts {
  client: Pick<DapClient, "request">;
  wanted: Breakpoints;
  /** Whether the adapter has a capability. */
  can: (capability: string) => boolean;
}

export class SessionBreakpoints {
  readonly #parts: SessionBreakpointsParts;
  /** Answers by what was asked for. One that is no longer wanted is forgotten with its key. */
  readonly #answers = new WeakMap<Wanted, DapSetBreakpoint>();

  constructor(parts: SessionBreakpointsParts) {
    this.#parts = parts;
  }

  /** Lists the breakpoints in files, by their paths. */
  get files(): Map<string, DapBreakpointRecord[]> {
    const entries = [...this.#parts.wanted.files];
    return new Map(entries.map(([path, list]) => [path, list.map((wanted) => this.#toRecord(wanted))]));
  }

  get functions(): DapFunctionBreakpointRecord[] {
    return this.#parts.wanted.functions.map((wanted) => this.#toRecord(wanted));
  }

  getState(wanted: Wanted): BreakpointState {
    const answer = this.#answers.get(wanted);
    if (!answer) return {};
    const { line, message, ...state } = answer;
    const ignored = this.#describeIgnored(wanted);
    const shown = state.isVerified ? (ignored ?? message) : (message ?? ignored);
    return {
      ...state,
      ...(line !== undefined && { actualLine: line }),
      ...(shown !== undefined && { message: shown }),
    };
  }

  /** Sends those of a file as they are wanted now. */
  async send(path: string, options: RequestOptions = {}): Promise<void> {
    const { client, wanted } = this.#parts;
    const breakpoints = wanted.files.get(path) ?? [];
    const args = { source: { path }, breakpoints };
    await this.#keep(breakpoints, client.request("setBreakpoints", args, options));
  }

  async sendFunctions(options: RequestOptions = {}): Promise<void> {
    const { client, wanted, can } = this.#parts;
    const breakpoints = wanted.functions;
    if (!can("supportsFunctionBreakpoints"))
      return this.#refuse(breakpoints, "This adapter has no breakpoints at functions.");
    await this.#keep(breakpoints, client.request("setFunctionBreakpoints", { breakpoints }, options));
  }

  /** Takes what an event reports about one of them. */
  receive(event: Readonly<Record<string, unknown>>): void {
    const change = parseSetBreakpoint(event["breakpoint"]);
    if (change.id === undefined) return;
    const { files, functions } = this.#parts.wanted;
    const all: Wanted[] = [...[...files.values()].flat(), ...functions];
    const wanted = all.find((each) => this.#answers.get(each)?.id === change.id);
    if (!wanted) return;
    const { line } = this.#answers.get(wanted)!;
    const isVerified = change.isVerified && event["reason"] !== "removed";
    this.#answers.set(wanted, { ...(line !== undefined && { line }), ...change, isVerified });
  }

  #toRecord<T extends Wanted>(wanted: T): T & BreakpointState {
    return { ...wanted, ...this.getState(wanted) };
  }

  /** The parts of an answer have the order of what was sent. */
  async #keep(sent: readonly Wanted[], answered: Promise<unknown>): Promise<void> {
    try {
      const answers = parseSetBreakpoints(await answered);
      for (const [index, wanted] of sent.entries()) this.#answers.set(wanted, answers[index] ?? { isVerified: false });
    } catch (error) {
      if (error instanceof DebugFailure && error.kind === "refused") this.#refuse(sent, error.message);
      throw error;
    }
  }

  #refuse(sent: readonly Wanted[], message: string): void {
    for (const wanted of sent) this.#answers.set(wanted, { isVerified: false, message });
  }

  /** Without its condition a breakpoint stops the program each time, which a model would not expect. */
  #describeIgnored(wanted: Wanted): string | undefined {
    const { can } = this.#parts;
    const conditions = can("supportsConditionalBreakpoints") ? [] : (["condition"] as const);
    const hits = can("supportsHitConditionalBreakpoints") ? [] : (["hitCondition"] as const);
    const ignored = [...conditions, ...hits].filter((name) => wanted[name] !== undefined);
    return ignored.length === 0 ? undefined : `This adapter ignores ${ignored.join(" and ")}.`;
  }
}

/**
 * Combines what several sessions report about a breakpoint: it is set if one of them has set it. With some adapters the first session
 * has no program of its own, and sets none. Pure.
 */
export function combineStates(states: readonly BreakpointState[]): BreakpointState {
  const answered = states.filter(({ isVerified }) => isVerified !== undefined);
  return answered.find(({ isVerified }) => isVerified) ?? answered[0] ?? {};
}

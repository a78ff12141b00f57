/**
 * What goes on in a session: runs, and everything else that must not happen at the same time as one. All of it goes through
 * one lane. From the moment something is asked for until the lane is free again the session is busy, and what a person
 * says meanwhile waits in the inbox.
 */
import {
  type Clock,
  emptyUsage,
  type ImageContent,
  getErrorMessage,
  type TextContent,
  type Usage,
  type UserMessage,
} from "@tau/ai";
import { addUsage } from "../compaction/ask.ts";
import { HarnessError } from "../errors.ts";
import type { Budget } from "../budget/budget.ts";
import { createBudget } from "../budget/budget.ts";
import type { Choices } from "./choices.ts";
import type { Inbox, WaitingKind } from "./inbox.ts";
import { Lane } from "./lane.ts";
import type { LiveSession } from "./live-sessions.ts";
import { Run, type RunOutcome } from "../run/run.ts";
import { writeFailed } from "../run/next-step.ts";
import { abortedBy, RunAborted } from "../run/run-aborted.ts";
import type { RunHost } from "../run/run-host.ts";

export type Content = (TextContent | ImageContent)[];

/** What became of a prompt: the run that it began, or the place in the queue where it waits. */
export type PromptOutcome = ({ kind: "ran" } & RunOutcome) | { kind: "queued"; id: string };

export interface WorkParts {
  host: RunHost;
  choices: Choices;
  inbox: Inbox;
  /** Of the session: aborts when it ends. */
  lifetime: AbortSignal;
  abortSignal: AbortSignal | undefined;
  parent: LiveSession | undefined;
  budget: Budget;
  clock: Clock;
  /** Throws when the session cannot run. */
  mustBeUsable: () => void;
  /** Called when a run is over, before anything else happens. */
  afterRun: () => Promise<void>;
  notice: (code: string, message: string) => void;
}

/** How long something that is no run may take. */
const maxExclusiveWorkMs = 10 * 60 * 1_000;

export class Work {
  readonly #parts: WorkParts;
  readonly #lane = new Lane();
  #run: Run | undefined;
  /** Ends what is no run. */
  #other: AbortController | undefined;
  /** Prompts that were taken and whose runs are not over. */
  #busy = 0;
  /** Whether what waits after the last run is to be said in a new one. */
  #goesOn = true;
  /** An abort that came before the run was there. */
  #early: RunAborted | undefined;

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  get run(): Run | undefined {
    return this.#run;
  }

  /** A run goes on, or is about to begin. */
  get isBusy(): boolean {
    return this.#busy > 0;
  }

  whenIdle(): Promise<void> {
    return this.#lane.whenIdle();
  }

  /** Ends what goes on, also what is only about to. */
  abort(reason: RunAborted): void {
    this.#other?.abort(reason);
    if (this.#run) this.#run.abort(reason);
    else if (this.isBusy) this.#early ??= reason;
  }

  /** Begins a run with what was said, or lets it wait for its turn in the one that goes on. */
  async say(content: () => Promise<Content>, waits: WaitingKind): Promise<PromptOutcome> {
    if (this.isBusy) return await this.#queue(await content(), waits);
    return await this.#whileBusy(async () => {
      const message: UserMessage = { role: "user", content: await content(), timestamp: this.#parts.clock.now() };
      return { kind: "ran", ...(await this.#runUntilQuiet([message])) };
    });
  }

  /** Does something that is no run. `signal` aborts when somebody ends it, and when it takes too long. */
  async alone<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.isBusy) {
      // Whoever asks from within a run would wait for ever.
      throw new HarnessError("busy", `A run goes on, so ${what} has to wait. Abort it, or try again when it is over.`);
    }
    return await this.#lane.enqueue(async () => {
      const controller = (this.#other = new AbortController());
      const tooLong = new RunAborted("abort_signal", `It took too long: ${what} was given up.`);
      const cancelTimer = this.#parts.clock.setTimer(maxExclusiveWorkMs, () => controller.abort(tooLong));
      const stopFollowing = follow([this.#parts.lifetime], (reason) => controller.abort(reason));
      try {
        return await work(controller.signal);
      } finally {
        cancelTimer();
        stopFollowing();
        this.#other = undefined;
      }
    });
  }

  /** Does something when nothing else goes on, without being asked to be quick. */
  later(work: () => Promise<void>): Promise<void> {
    return this.#lane.enqueue(work);
  }

  async #queue(content: Content, waits: WaitingKind): Promise<PromptOutcome> {
    const id = await this.#parts.inbox.accept(waits, content);
    // The run may have ended while it was written down; then somebody has to begin one with it.
    if (!this.isBusy) this.#startWaiting();
    return { kind: "queued", id };
  }

  async #runWaiting(): Promise<void> {
    const waiting = this.#nextWaiting();
    if (waiting.length > 0) await this.#runUntilQuiet(waiting);
  }

  #whileBusy<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++;
    return this.#lane.enqueue(async () => {
      try {
        return await work();
      } finally {
        this.#busy--;
        this.#early = undefined;
        // Something may have been accepted since the last look, and nobody else would begin a run with it.
        if (!this.isBusy && this.#goesOn && !this.#parts.inbox.isEmpty) this.#startWaiting();
      }
    });
  }

  #startWaiting(): void {
    if (this.#parts.lifetime.aborted) return;
    this.#whileBusy(() => this.#runWaiting()).catch((error: unknown) =>
      this.#parts.notice("run_failed", getErrorMessage(error)),
    );
  }

  #nextWaiting(): UserMessage[] {
    const { inbox, lifetime } = this.#parts;
    // Who closes the session refuses what waits.
    if (lifetime.aborted) return [];
    const steering = inbox.take("steer");
    return steering.length > 0 ? steering : inbox.take("followUp");
  }

  /** A run, and another one for as long as something waits that nobody stopped. */
  async #runUntilQuiet(first: readonly UserMessage[]): Promise<RunOutcome> {
    let outcome = await this.#runOnce(first);
    for (;;) {
      this.#goesOn = goesOnAfter(outcome);
      const waiting = this.#goesOn ? this.#nextWaiting() : [];
      if (waiting.length === 0) return outcome;
      outcome = await this.#runOnce(waiting);
    }
  }

  async #tellParent(outcome: RunOutcome): Promise<void> {
    const { parent, choices, notice } = this.#parts;
    if (!parent) return;
    const { provider, id: model } = choices.mustHaveModel();
    const usage = spentIn(outcome);
    await parent.noteChild({ provider, model, usage }).catch((error: unknown) => {
      notice(
        "not_remembered",
        `The session that started this one does not remember what it cost: ${getErrorMessage(error)}`,
      );
    });
  }

  async #runOnce(prompts: readonly UserMessage[]): Promise<RunOutcome> {
    const { host, choices, inbox, parent, clock, lifetime, abortSignal, mustBeUsable, afterRun } = this.#parts;
    mustBeUsable();
    await choices.remember();
    choices.refitForToday();
    const usual = createBudget(given(choices.settings().budgets), { parent: this.#parts.budget, clock });
    const run = new Run(host, createBudget(choices.overrides.budgets ?? {}, { parent: usual, clock }));
    const signals = [lifetime, abortSignal, parent?.signal].filter((signal) => signal !== undefined);
    const stopFollowing = follow(signals, (reason) => run.abort(abortedBy(reason)));
    this.#run = run;
    if (this.#early) run.abort(this.#early);
    this.#early = undefined;
    try {
      const outcome = await run.start(prompts);
      await this.#tellParent(outcome);
      return outcome;
    } finally {
      this.#run = undefined;
      stopFollowing();
      inbox.takeBack();
      await afterRun();
    }
  }
}

/** What the answers of a run cost. */
const spentIn = ({ messages }: RunOutcome): Usage =>
  messages.reduce((sum, message) => (message.role === "assistant" ? addUsage(sum, message.usage) : sum), emptyUsage());

/** Whether what waits is said in a new run: not when somebody stopped this one, a limit did, or the log refuses it. */
function goesOnAfter({ terminationReason: reason, detail }: RunOutcome): boolean {
  if (reason === "abort_signal") return detail === "steered";
  if (reason === "error") return detail !== writeFailed;
  return reason === "idle_timeout_120s" || (reason === "no_tool_calls" && !isSpent(detail));
}

const isSpent = (detail: string | undefined) => detail?.startsWith("budget_") ?? false;

/** Without what is undefined. */
function given(budgets: Record<"tokens" | "cost" | "turns" | "timeMs", number | undefined>) {
  return Object.fromEntries(Object.entries(budgets).filter(([, limit]) => limit !== undefined));
}

/** Calls `onAbort` when the first of the signals aborts, or at once. Returns how to stop following. */
export function follow(signals: readonly AbortSignal[], onAbort: (reason: unknown) => void): () => void {
  const stops = signals.map((signal) => {
    const listener = () => onAbort(signal.reason);
    if (signal.aborted) listener();
    else signal.addEventListener("abort", listener, { once: true });
    return () => signal.removeEventListener("abort", listener);
  });
  return () => stops.forEach((stop) => stop());
}

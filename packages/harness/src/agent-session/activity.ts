/**
 * The activity of a session. Runs, and everything else that must not happen during one, go through one lane. From the moment
 * a prompt is taken until its run is over the session is busy, and further prompts are queued.
 *
 * Eight queues lie between a message and the model, and together they promise this order:
 * 1. `HostedSession` passes the messages of all clients on in the order of their calls.
 * 2. The lane of this class does one thing at a time, in the order in which it was asked for.
 * 3. The log (`Session`, `AppendQueue`) has entries in the order of the appends. A message is acknowledged when it is there.
 * 4. Steering messages of people (`Inbox`) are sent before the next request, oldest first, and before those of extensions.
 * 5. Follow-ups of people (`Inbox`) are sent when the model would stop and no steering message waits, oldest first.
 * 6. Extensions' steering messages and follow-ups (`MessageQueue`) are sent at the same times, after those of people.
 * 7. Extensions' messages for the next turn (`MessageQueue`) follow the prompts that begin the next run.
 * 8. Reports of background jobs (`JobReports`) come last at the beginning of a run, else before the next request.
 */
import type { AgentMessage } from "@tau/agent";
import type { Clock, ImageContent, TextContent, UserMessage } from "@tau/ai";
import { followSignal, getErrorMessage, type OutputCheck, SerialQueue, withoutUndefined } from "@tau/ai/internal";
import { type RunEnd, HarnessError } from "@tau/protocol";
import { createBudget, type Budget, type BudgetLimits } from "../budget/budget.ts";
import { modelName } from "../request/prefix.ts";
import { continuesAfter } from "../run/next-step.ts";
import { RunAborted, toRunAborted } from "../run/run-aborted.ts";
import type { RunHost } from "../run/run-host.ts";
import { Run, type RunOutcome } from "../run/run.ts";
import { sumUsage } from "../run/sum-usage.ts";
import type { AnswerForm } from "./answer-form.ts";
import type { CurrentRun } from "./current-run.ts";
import type { Inbox, QueueKind } from "../run/inbox.ts";
import type { LiveSession } from "./live-sessions.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { RequestChoices, RunChoices } from "./run-choices.ts";
import type { RunPlace } from "./run-place.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { ShownTools } from "./shown-tools.ts";

export type Content = (TextContent | ImageContent)[];

type GetContent = (signal: AbortSignal) => Promise<Content>;

/** How the run of a prompt ended, with the value in its answer if a form was asked for. */
export type PromptRun = RunOutcome & { output?: OutputCheck };

/** Outcome of a prompt: the run that it began, or its id in the queue. */
export type PromptOutcome = ({ kind: "ran" } & PromptRun) | { kind: "queued"; id: string } | { kind: "handled" };

/** A prompt that was taken: a run began with it, or it is queued. `isWritten` is false when the log refused the prompt. */
export type Submission = (
  | { disposition: "started"; isWritten: boolean; outcome: Promise<PromptRun> }
  | { disposition: "queued"; id: string }
  /** An extension dealt with it. */
  | { disposition: "handled" }
) & {
  /** Notices for the sender, such as a mentioned file that was not read. */
  notices?: readonly string[];
};

/** A prompt that begins a run. */
export interface StartedPrompt {
  /** The signal aborts when nobody needs the content any more. */
  getContent: (signal: AbortSignal) => Promise<Content>;
  /** The id of its message in the log. */
  messageId: string | undefined;
  choices: RequestChoices;
  form: AnswerForm | undefined;
}

/** At most one of these at a time. Work that is no run may be under way while a prompt waits for it (`starting`). */
type State =
  | { kind: "idle" }
  | { kind: "exclusive"; controller: AbortController }
  | { kind: "starting"; aborted: RunAborted | undefined; waitsFor: AbortController | undefined }
  /** `aborted`: after the run was over, while extensions were still notified. */
  | { kind: "running"; run: Run; aborted: RunAborted | undefined };

interface QuietOptions {
  onWritten?: () => void;
  form?: AnswerForm | undefined;
  /** See `Activity.resume`. */
  resumes?: boolean;
}

export interface ActivityParts {
  host: RunHost;
  model: ModelChoice;
  tools: ShownTools;
  settings: SessionSettings;
  currentRun: CurrentRun;
  inbox: Inbox;
  /** Aborts when the session ends. */
  lifetime: AbortSignal;
  abortSignal: AbortSignal | undefined;
  parent: LiveSession | undefined;
  budget: Budget;
  runChoices: Pick<RunChoices, "take">;
  /** The requests that a run of the session's agent may make. */
  getMaxTurns: () => number | undefined;
  clock: Clock;
  /** Throws when the session cannot run. */
  mustBeUsable: () => void;
  /** See `AdmitRun`. Undefined: runs begin at once. */
  admitRun: ((signal: AbortSignal) => Promise<RunPlace>) | undefined;
  /** Called before a run with what it begins with; returns what it begins with instead. */
  beforeRun: (prompts: readonly AgentMessage[]) => Promise<readonly AgentMessage[]>;
  /**
   * Called between runs, and after the last one: what extensions sent since, if it is to be answered. The rest is written
   * without a run.
   */
  takeSent: (mayContinue: boolean) => Promise<readonly AgentMessage[]>;
  /** Called when nothing follows a run any more. */
  onSettled: (end: RunEnd) => Promise<void>;
  /** Called when a run is over, before anything else happens. */
  afterRun: () => Promise<void>;
  notice: (code: string, message: string) => void;
}

/** How long work that is no run may take. */
const maxExclusiveWorkMs = 10 * 60 * 1_000;

export class Activity {
  readonly #parts: ActivityParts;
  readonly #lane = new SerialQueue();
  #state: State = { kind: "idle" };
  #isSettling = false;
  #place: RunPlace | undefined;
  /** How many wait for others in the run. */
  #waiting = 0;
  /** The last model that was said to have no prices. */
  #unpriced: string | undefined;

  constructor(parts: ActivityParts) {
    this.#parts = parts;
  }

  /** The amounts that the current run, else the next one, may still spend. */
  get budgetLeft(): BudgetLimits {
    return (this.#parts.currentRun.run?.budget ?? this.#createRunBudget()).left;
  }

  /** A run is in progress, or about to begin. */
  get isBusy(): boolean {
    return this.#state.kind === "starting" || this.#state.kind === "running";
  }

  /** Work that is no run is in progress, and no prompt waits for it. */
  get isExclusive(): boolean {
    return this.#state.kind === "exclusive";
  }

  /** Extensions are notified that the run is over. What they send now waits until all of them know. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** Busy, but with a run that is over or has not begun. */
  get isEnding(): boolean {
    const state = this.#state;
    return state.kind === "starting" || (state.kind === "running" && state.run.isOver);
  }

  whenIdle(): Promise<void> {
    return this.#lane.whenIdle();
  }

  /** Ends what is in progress, also a run that has not begun yet. */
  abort(reason: RunAborted): void {
    const state = this.#state;
    switch (state.kind) {
      case "idle":
        return;
      case "exclusive":
        return state.controller.abort(reason);
      case "starting":
        state.waitsFor?.abort(reason);
        this.#state = { ...state, aborted: state.aborted ?? reason };
        return;
      case "running":
        if (state.run.isOver) this.#state = { ...state, aborted: state.aborted ?? reason };
        else state.run.abort(reason);
        return;
    }
  }

  /**
   * Begins a run with a prompt. Resolves when the prompt is in the log. Not while a run is in progress.
   */
  async start({ getContent, messageId, choices, form }: StartedPrompt): Promise<Submission> {
    let onWritten = () => {};
    const written = new Promise<true>((resolve) => (onWritten = () => resolve(true)));
    const ended = this.#whileBusy(async () => {
      const content = await this.#waitFor(getContent);
      // A prompt that begins no run must not leave them to the next one.
      this.#parts.runChoices.take(choices);
      const message = this.#toMessage(content);
      if (messageId !== undefined) this.#parts.inbox.nameMessage(message, messageId);
      return await this.#runUntilQuiet([message], { onWritten, form });
    }, true);
    const outcome = ended.then((last) => form?.getOutcome() ?? last);
    const isWritten = await Promise.race([written, outcome.then(() => false)]);
    return { disposition: "started", isWritten, outcome };
  }

  /** Queues a prompt during a run. Resolves with its id when it is in the log. */
  async queue(getContent: GetContent, queue: QueueKind, messageId: string | undefined): Promise<string> {
    const { inbox, lifetime } = this.#parts;
    const id = await inbox.accept(queue, await getContent(lifetime), messageId);
    // The run may have ended while the message was being written; then nothing else would begin one with it.
    this.runQueued();
    return id;
  }

  /** Begins a run with messages that are no prompts of the user. Not while one is in progress. */
  async begin(messages: readonly AgentMessage[]): Promise<void> {
    await this.#whileBusy(() => this.#runUntilQuiet(messages), true);
  }

  /** Begins a run with the calls that wait for an answer. Not while one is in progress. */
  async resume(): Promise<PromptRun> {
    return await this.#whileBusy(() => this.#runUntilQuiet([], { resumes: true }), true);
  }

  /** Does work that is no run. `signal` aborts when the work is to end, and when it takes too long. */
  async exclusive<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // A tool that asked from within a run would wait for itself.
    if (this.isBusy)
      throw new HarnessError("busy", `${what} has to wait: a run is in progress. Abort the run, or try again later.`);
    const controller = new AbortController();
    // An abort applies from now on, also before the work has begun.
    if (this.#state.kind === "idle") this.#beginExclusive(controller);
    return await this.#lane.add(async () => {
      this.#beginExclusive(controller);
      const tooLong = new RunAborted({ kind: "aborted", by: "signal" }, `${what} took too long and was given up.`);
      const cancelTimer = this.#parts.clock.setTimer(maxExclusiveWorkMs, () => controller.abort(tooLong));
      const stopFollowing = followSignal(this.#parts.lifetime, (reason) => controller.abort(reason));
      try {
        return await work(controller.signal);
      } finally {
        cancelTimer();
        stopFollowing();
        this.#endExclusive();
      }
    });
  }

  /** Does something when nothing else is in progress. */
  later(work: () => Promise<void>): Promise<void> {
    return this.#lane.add(work);
  }

  #beginExclusive(controller: AbortController): void {
    const state = this.#state;
    this.#state = state.kind === "starting" ? { ...state, waitsFor: controller } : { kind: "exclusive", controller };
    // A prompt that is starting came after this work, and so did the abort of it.
    if (state.kind === "starting" && state.aborted) controller.abort(state.aborted);
  }

  #endExclusive(): void {
    const state = this.#state;
    this.#state = state.kind === "starting" ? { ...state, waitsFor: undefined } : { kind: "idle" };
  }

  /** Begins a run with what is queued, unless one is in progress or nothing is queued. */
  runQueued(): void {
    if (!this.isBusy && !this.#parts.inbox.isEmpty) this.#runQueued();
  }

  /** The session is busy from now on, until `work` is done in its turn. Then what was queued meanwhile is sent. */
  #whileBusy<T extends RunOutcome | undefined>(work: () => Promise<T>, continuesOnError: boolean): Promise<T> {
    const state = this.#state;
    const waitsFor = state.kind === "exclusive" ? state.controller : undefined;
    this.#state = { kind: "starting", aborted: undefined, waitsFor };
    return this.#lane.add(async () => {
      let continues = continuesOnError;
      let place: RunPlace | undefined;
      try {
        if (this.#parts.admitRun) place = await this.#waitFor(this.#parts.admitRun);
        this.#place = place;
        const outcome = await work();
        continues = outcome === undefined || continuesAfter(outcome.end, outcome.isSteered);
        return outcome;
      } finally {
        continues &&= !this.#isAborted;
        this.#state = { kind: "idle" };
        // A run that could not begin has not said what it took from the queue.
        this.#parts.inbox.takeBack();
        if (continues && !this.#parts.inbox.isEmpty) this.#runQueued();
        // Not that of a run that began just now: it waits for its turn in the lane.
        this.#place = undefined;
        place?.release();
      }
    });
  }

  /**
   * Does work during which the run only waits for others: it does not take a place from them meanwhile, and has one again when
   * this resolves.
   */
  async whileWaiting<T>(work: () => Promise<T>): Promise<T> {
    const place = this.#place;
    const { run } = this.#parts.currentRun;
    if (!place || !run) return await work();
    if (this.#waiting++ === 0) place.pause();
    try {
      return await work();
    } finally {
      if (--this.#waiting === 0) await place.resume(run.signal);
    }
  }

  /** Waits for something before a run begins. An abort ends the waiting, and then the run. */
  async #waitFor<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#beginExclusive(controller);
    const stopFollowing = followSignal(this.#parts.lifetime, (reason) => controller.abort(reason));
    try {
      return await wait(controller.signal);
    } finally {
      stopFollowing();
      this.#endExclusive();
    }
  }

  /** Begins a run with what is queued. */
  #runQueued(): void {
    if (this.#parts.lifetime.aborted) return;
    const work = async () => {
      const messages = this.#takeQueued();
      return messages.length > 0 ? await this.#runUntilQuiet(messages) : undefined;
    };
    this.#whileBusy(work, false).catch((error: unknown) => this.#parts.notice("run_failed", getErrorMessage(error)));
  }

  #takeQueued(): UserMessage[] {
    const { inbox, lifetime } = this.#parts;
    if (lifetime.aborted) return [];
    const steering = inbox.take("steer");
    return steering.length > 0 ? steering : inbox.take("followUp");
  }

  #toMessage(content: Content): UserMessage {
    return { role: "user", content, timestamp: this.#parts.clock.now() };
  }

  /**
   * Runs until the answer fits its form or is not corrected any more. Follow-ups wait until then: the value has to be that of the
   * prompt. A steering message that interrupts is part of what was asked.
   */
  async #runUntilFits(first: readonly AgentMessage[], form: AnswerForm, onWritten: () => void): Promise<RunOutcome> {
    const { inbox, runChoices } = this.#parts;
    const release = inbox.holdFollowUps();
    try {
      let outcome = await this.#runOnce(first, { onWritten });
      for (;;) {
        const ended = outcome;
        const correction = await this.#waitFor((signal) => form.read(ended, signal));
        if (this.#isAborted) return outcome;
        const steering = outcome.isSteered ? inbox.take("steer") : [];
        const next = correction === undefined ? steering : [this.#toMessage([{ type: "text", text: correction }])];
        if (next.length === 0) return outcome;
        // The choice of tools was for the first request.
        runChoices.take({ output: form.format });
        outcome = await this.#runOnce(next);
      }
    } finally {
      release();
    }
  }

  /** A run, and another one as long as messages are queued and the last run was not stopped. */
  async #runUntilQuiet(
    first: readonly AgentMessage[],
    { onWritten = () => {}, form, resumes = false }: QuietOptions = {},
  ): Promise<RunOutcome> {
    const { host, tools } = this.#parts;
    host.sent.addChangedFiles(tools.takeResources());
    let outcome = await (form
      ? this.#runUntilFits(first, form, onWritten)
      : this.#runOnce(first, { onWritten, resumes }));
    let isSettled = false;
    for (;;) {
      const next = await this.#takeNext(outcome);
      if (next.length > 0) {
        outcome = await this.#runOnce(next);
        isSettled = false;
      } else if (isSettled) {
        return outcome;
      } else {
        // Handlers may send something, which is answered before the lane is free.
        this.#isSettling = true;
        await this.#parts.onSettled(outcome.end).finally(() => (this.#isSettling = false));
        isSettled = true;
      }
    }
  }

  /** Nothing more is to begin by itself. */
  get #isAborted(): boolean {
    return this.#state.kind === "starting" && this.#state.aborted !== undefined;
  }

  #createRunBudget(): Budget {
    const { settings, budget, getMaxTurns, clock } = this.#parts;
    const settingsBudget = createBudget(withoutUndefined(settings.get().budgets), { parent: budget, clock });
    const agentBudget = createBudget(withoutUndefined({ turns: getMaxTurns() }), { parent: settingsBudget, clock });
    return createBudget(settings.overrides.budgets ?? {}, { parent: agentBudget, clock });
  }

  /** Takes what the next run begins with; empty if there is to be none. */
  async #takeNext({ end, isSteered }: RunOutcome): Promise<AgentMessage[]> {
    const continues = !this.#isAborted && continuesAfter(end, isSteered);
    const sent = await this.#parts.takeSent(continues);
    return continues ? [...this.#takeQueued(), ...sent] : [];
  }

  async #runOnce(
    prompts: readonly AgentMessage[],
    { onWritten = () => {}, resumes = false }: { onWritten?: () => void; resumes?: boolean } = {},
  ): Promise<RunOutcome> {
    const { host, model, tools, currentRun, inbox, parent, lifetime, abortSignal, mustBeUsable, afterRun } =
      this.#parts;
    mustBeUsable();
    if (!resumes) await host.questions.settle();
    await model.remember();
    tools.rebuildForToday();
    await tools.loadTools();
    const budget = this.#createRunBudget();
    this.#warnUnpriced(budget);
    const run = new Run(host, budget);
    const stops = [
      followSignal(lifetime, (reason) => run.abort(toRunAborted(reason, "person"))),
      followSignal(abortSignal, (reason) => run.abort(toRunAborted(reason, "signal"))),
      followSignal(parent?.signal, (reason) => run.abort(toRunAborted(reason, "parent"))),
    ];
    if (this.#state.kind === "starting" && this.#state.aborted) run.abort(this.#state.aborted);
    this.#state = { kind: "running", run, aborted: undefined };
    currentRun.begin(run);
    try {
      // What extensions add to a prompt must not come between a call and its result.
      const messages = resumes ? [] : await this.#parts.beforeRun(prompts);
      const outcome = await run.start(messages, { onWritten, resumes });
      await this.#reportToParent(outcome);
      return outcome;
    } finally {
      // Until the lane is free, further prompts are still queued.
      const { aborted } = this.#state;
      this.#state = { kind: "starting", aborted, waitsFor: undefined };
      currentRun.end();
      for (const stop of stops) stop();
      inbox.takeBack();
      await afterRun();
    }
  }

  /** A limit that cannot be reached must not look like one that applies. Once for each model. */
  #warnUnpriced({ left }: Budget): void {
    const { notice } = this.#parts;
    const model = this.#parts.model.mustHaveModel();
    const name = modelName(model);
    const { input, output } = model.cost;
    const { day, month } = this.#parts.settings.get().budgets;
    const isLimited = [left.cost, day.cost, month.cost].some((limit) => limit !== undefined);
    if (!isLimited || input > 0 || output > 0 || name === this.#unpriced) return;
    this.#unpriced = name;
    const advice = "Write its prices into models.json, or limit turns, tokens or time.";
    notice("budget", `The model ${name} has no prices, so the limit of the cost does not end a run. ${advice}`);
  }

  async #reportToParent({ messages }: RunOutcome): Promise<void> {
    const { parent, model, notice } = this.#parts;
    if (!parent) return;
    const { provider, id } = model.mustHaveModel();
    await parent.noteChild({ provider, model: id, usage: sumUsage(messages) }).catch((error: unknown) => {
      notice("not_remembered", `The parent session could not record what this one cost: ${getErrorMessage(error)}`);
    });
  }
}
